/* SPDX-License-Identifier: MIT */
/* Loads the provider, finds its procedures and calls them. Everything here may crash, hang or end
 * the process, so `stage` is set before each step. (docs/windows/articles.md#c39,
 * docs/windows/providers.md#d2) */
#include "base/base.h"
#include "host/module.h"
#include "host/perfhost.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct module module;
    uint16_t *export_names;
    char *path;
    bool opened;
} provider;

static bool is_loaded(void)
{
    return provider.module.handle != NULL;
}

/* A copy of the current stage outside of the channel, so that a provider that overwrites the
 * channel does not overwrite it. */
static enum isolate_stage running;

/* Ends the helper if the provider has overwritten the channel. Then only the exit code, which
 * contains the stage, can inform the client. */
static void check_marks(const struct channel *channel)
{
    if (!channel_is_marked(channel))
        _exit(CHANNEL_EXIT_OVERWRITTEN + (int)running);
}

static void enter_stage(struct channel *channel, enum isolate_stage stage)
{
    check_marks(channel);
    running = stage;
    atomic_store(&channel->stage.value, stage);
}

static const char *text_of(struct channel *channel, const struct channel_text *text)
{
    return text->bytes ? channel_texts(channel) + text->offset : NULL;
}

/* Makes a private copy for each call, because the provider may write to it. */
static void *copy_of(struct channel *channel, const struct channel_text *text)
{
    void *copy = text->bytes ? malloc(text->bytes) : NULL;
    return copy ? memcpy(copy, text_of(channel, text), text->bytes) : NULL;
}

static void reply(struct channel *channel, enum isolate_stage stage, LSTATUS status,
                  const char *text)
{
    check_marks(channel);
    channel->reply.stage = stage;
    channel->reply.status = (uint32_t)status;
    memccpy(channel->reply.text, text, 0, CHANNEL_TEXT - 1);
}

static void unload(void)
{
    module_unload(&provider.module);
    provider.opened = false;
}

static bool load(struct channel *channel)
{
    char text[MODULE_TEXT] = "no memory";
    enter_stage(channel, ISOLATE_LOAD);
    free(provider.path);
    provider.path = copy_of(channel, &channel->order.library);
    LSTATUS status = provider.path ? module_load(&provider.module, provider.path, text)
                                   : ERROR_NOT_ENOUGH_MEMORY;
    if (status)
        reply(channel, ISOLATE_LOAD, status, text);
    return !status;
}

static bool find(struct channel *channel)
{
    const char *names[MODULE_PROCEDURES];
    enum module_procedure missing;
    enter_stage(channel, ISOLATE_FIND);
    for (size_t i = 0; i < COUNT(names); i++)
        names[i] = text_of(channel, &channel->order.procedures[i]);
    LSTATUS status = module_find(&provider.module, names, &missing);
    if (status) {
        reply(channel, ISOLATE_FIND, status, names[missing] ? names[missing] : "");
        unload();
    }
    return !status;
}

static bool open_provider(struct channel *channel)
{
    enter_stage(channel, ISOLATE_OPEN);
    free(provider.export_names);
    provider.export_names = copy_of(channel, &channel->order.export_names);
    LSTATUS status = ERROR_SUCCESS;
    if (provider.module.open)
        status = (LSTATUS)provider.module.open((LPWSTR)provider.export_names);
    provider.opened = !status;
    if (status) {
        reply(channel, ISOLATE_OPEN, status, "");
        unload();
    }
    return provider.opened;
}

static bool make_ready(struct channel *channel)
{
    if (provider.opened)
        return true;
    bool ready = (is_loaded() || (load(channel) && find(channel))) && open_provider(channel);
    /* wakes the client to read `stage`, because Collect has another deadline than Open */
    enter_stage(channel, ready ? ISOLATE_COLLECT : channel->reply.stage);
    if (ready)
        channel_wake(&channel->answer.value);
    return ready;
}

void provider_has_no_capacity(struct channel *channel)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    reply(channel, ISOLATE_COLLECT, ERROR_NOT_ENOUGH_MEMORY,
          "no memory to call it; see ulimit -v of the program");
}

void provider_collect(struct channel *channel)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    if (!make_ready(channel))
        return;
    enter_stage(channel, ISOLATE_COLLECT);
    uint16_t *query = copy_of(channel, &channel->order.query);
    if (!query) {
        provider_has_no_capacity(channel);
        return;
    }
    void *start = channel_buffer(channel), *end = start;
    DWORD bytes = channel->order.capacity, objects = 0;
    int64_t begin = clock_ticks();
    DWORD status = provider.module.collect((LPWSTR)query, &end, &bytes, &objects);
    channel->reply.took_100ns = clock_ticks() - begin;
    free(query);
    channel->reply.bytes = bytes;
    channel->reply.objects = objects;
    channel->reply.end_offset = (int64_t)((intptr_t)end - (intptr_t)start);
    reply(channel, ISOLATE_COLLECT, (LSTATUS)status, "");
}

void provider_close(struct channel *channel, bool and_unload)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    enter_stage(channel, ISOLATE_CLOSE);
    LSTATUS status = ERROR_SUCCESS;
    if (provider.opened && provider.module.close)
        status = (LSTATUS)provider.module.close();
    provider.opened = false;
    if (and_unload)
        unload();
    reply(channel, ISOLATE_CLOSE, status, "");
}
