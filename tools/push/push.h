/* SPDX-License-Identifier: MIT */
/*
 * Pushes the counters of this machine to a receiver by Prometheus' remote write 1.0.
 * docs/metrics.md describes what is sent and when samples are lost.
 *
 * queue.c   batches of samples that wait on disk
 *
 * client.c  HTTP by libcurl, and the compression by libsnappy; both are loaded when they are needed
 *
 * push.c    two threads: one writes samples into the queue, one sends them
 *
 * no-push.c  in place of these in builds without libcurl and libsnappy
 */
#ifndef OPL_TOOLS_PUSH_H
#define OPL_TOOLS_PUSH_H

#include "../metrics/metrics.h"
#include "../serve/option-rows.h"

#include <stdatomic.h>

enum { PUSH_WHY = 512 };

/* ---- queue.c ---- */

/* Samples of one moment, compressed as they are sent. */
struct batch {
    int64_t time_ms;
    unsigned part; /* a moment with many samples has several batches */
    size_t samples, size;
};
struct queue;
/* Opens a folder of at most `most` bytes; other programs of this kind cannot open it meanwhile.
 * NULL: `why` has the reason. */
struct queue *queue_open(const char *folder, uint64_t most, char why[static PUSH_WHY]);
void queue_close(struct queue *queue);
/* The time of the newest batch that was ever added; 0: none was. */
int64_t queue_newest(struct queue *queue);
/* Writes a batch as the last one. *ret_removed becomes the number of samples of older batches that
 * were removed to stay within the limit. Returns an errno; EFBIG: the limit leaves no space. */
int queue_add(struct queue *queue, const struct batch *batch, const void *bytes,
              size_t *ret_removed);
/* Finds the oldest batch, which is not removed until queue_settle. False: there is none. */
bool queue_first(struct queue *queue, struct batch *ret);
/* Reads the batch of queue_first, `size` bytes. Returns an errno; EBADMSG: its size is wrong. */
int queue_read(struct queue *queue, const struct batch *batch, void *bytes);
/* Removes the batch of queue_first, or keeps it. */
void queue_settle(struct queue *queue, bool remove);
void queue_size(struct queue *queue, uint64_t *ret_bytes, uint64_t *ret_samples);

/* ---- client.c ---- */

enum delivery { DELIVERY_DONE, DELIVERY_AGAIN, DELIVERY_REFUSED };
struct client;
/* Returns NULL, or what is wrong with the address. *ret_local: the receiver is on this machine. */
const char *client_check_url(const struct push_options *options, bool *ret_local);
/* `stop` becomes true when a delivery must end soon. NULL: `why` has the reason. */
struct client *client_new(const struct push_options *options, const atomic_bool *stop,
                          char why[static PUSH_WHY]);
void client_free(struct client *client);
/* Sends a batch once. Unless it was done, `why` has the reason; *ret_status is that of HTTP (0: no
 * answer), *ret_seconds the time that the receiver wants to be left alone. */
enum delivery client_send(struct client *client, const void *bytes, size_t size, long *ret_status,
                          double *ret_seconds, char why[static PUSH_WHY]);
/* Compresses to the block format of snappy. NULL: no memory; else the caller frees it. */
void *client_compress(const void *bytes, size_t size, size_t *ret_size);
bool client_is_compressed(const void *bytes, size_t size); /* completely and correctly */

/* ---- push.c ---- */

/* False: the command line is wrong, `why` says what. Nothing is wrong without --push. */
bool push_check(const struct push_options *options, char why[static PUSH_WHY]);
/* Begins to push what push_check accepts, in threads of its own. NULL: failed, after a message. */
struct push *push_new(const struct push_options *options, const struct metrics_settings *settings);
/* Ends within seconds; what waits is sent when the folder is opened again. */
void push_free(struct push *push);
/* Gives what the push reports of itself to the sink. */
void push_emit(struct push *push, struct metric_sink *sink);

#endif
