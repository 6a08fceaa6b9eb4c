/* SPDX-License-Identifier: MIT */
/*
 * The costly objects: Process Address Space (786), Image (740) and Full Image (1408). Each
 * requested process's proc/PID/maps is read once for all three. Processes that may not be read are
 * not instances, because 0 bytes would be a false value.
 */
#include <stdio.h>
#include <string.h>

#include "perfproc.h"
#include "space.h"

static const opl_source maps = {"proc/*/maps", .pieces = true};

#define WHERE "`proc/*/maps`"

/* clang-format off */
static const opl_counter space_counters[] = {
    {710, 711, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[NO_ACCESS]), .name = "Mapped Space No Access",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may not be touched.",
     .where = WHERE},
    {712, 713, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[READ_ONLY]), .name = "Mapped Space Read Only",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may only be read.",
     .where = WHERE},
    {714, 715, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[READ_WRITE]), .name = "Mapped Space Read/Write",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may be read and written.",
     .where = WHERE},
    {716, 717, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[WRITE_COPY]), .name = "Mapped Space Write Copy",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may be read; when the process writes to a page, it gets its own copy "
             "of the page.",
     .where = WHERE},
    {718, 719, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[EXECUTE]), .name = "Mapped Space Executable",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may be executed, but neither read nor written.",
     .where = WHERE},
    {720, 721, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[EXECUTE_READ]), .name = "Mapped Space Exec Read Only",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may be executed and read.",
     .where = WHERE},
    {722, 723, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, mapped[EXECUTE_READ_WRITE]),
     .name = "Mapped Space Exec Read/Write",
     .help = "Bytes of files and shared memory, other than programs and libraries, that may be executed, read and written.",
     .where = WHERE},
    {726, 727, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, reserved), .name = "Reserved Space No Access",
     .help = "Bytes of private memory that the process has reserved for later: it may not be touched yet.",
     .where = WHERE},
    {746, 747, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, unassigned[READ_ONLY]), .name = "Unassigned Space Read Only",
     .help = "Bytes of private memory without a file, such as heaps and stacks, that may only be read.",
     .where = WHERE},
    {748, 749, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, unassigned[READ_WRITE]), .name = "Unassigned Space Read/Write",
     .help = "Bytes of private memory without a file, such as heaps and stacks, that may be read and written.",
     .where = WHERE},
    {752, 753, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, unassigned[EXECUTE]), .name = "Unassigned Space Executable",
     .help = "Bytes of private memory without a file, such as heaps and stacks, that may be executed, but neither read nor written.",
     .where = WHERE},
    {754, 755, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, unassigned[EXECUTE_READ]),
     .name = "Unassigned Space Exec Read Only",
     .help = "Bytes of private memory without a file, such as heaps and stacks, that may be executed and read.",
     .where = WHERE},
    {756, 757, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, unassigned[EXECUTE_READ_WRITE]),
     .name = "Unassigned Space Exec Read/Write",
     .help = "Bytes of private memory without a file, such as heaps and stacks, that may be executed, read and written.",
     .where = WHERE},
    {760, 761, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[NO_ACCESS]), .name = "Image Space No Access",
     .help = "Bytes of programs and libraries that may not be touched.",
     .where = WHERE},
    {762, 763, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[READ_ONLY]), .name = "Image Space Read Only",
     .help = "Bytes of programs and libraries that may only be read.",
     .where = WHERE},
    {764, 765, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[READ_WRITE]), .name = "Image Space Read/Write",
     .help = "Bytes of programs and libraries that may be read and written.",
     .where = WHERE},
    {766, 767, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[WRITE_COPY]), .name = "Image Space Write Copy",
     .help = "Bytes of programs and libraries that may be read; when the process writes to a page, it gets its own copy of the page.",
     .where = WHERE},
    {768, 769, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[EXECUTE]), .name = "Image Space Executable",
     .help = "Bytes of programs and libraries that may be executed, but neither read nor written.",
     .where = WHERE},
    {770, 771, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[EXECUTE_READ]), .name = "Image Space Exec Read Only",
     .help = "Bytes of programs and libraries that may be executed and read.",
     .where = WHERE},
    {772, 773, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[EXECUTE_READ_WRITE]), .name = "Image Space Exec Read/Write",
     .help = "Bytes of programs and libraries that may be executed, read and written.",
     .where = WHERE},
    {774, 775, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, image[EXECUTE_WRITE_COPY]), .name = "Image Space Exec Write Copy",
     .help = "Bytes of programs and libraries that may be executed and read; when the process writes to a page, it gets its own copy of the page.",
     .where = WHERE},
    {780, 781, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_WIZARD, OPL_FIELD(struct space, reserved), .name = "Bytes Reserved",
     .help = "All private memory that the process has reserved for later, in bytes.",
     .where = WHERE},
    {784, 785, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfproc_stat, 1, OPL_ONE), .total = OPL_NONE,
     .name = "ID Process",
     .help = "The number that identifies the process as long as it exists. It may be given to another process "
             "later."},
};

static const opl_counter image_counters[] = {
    {788, 789, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[NO_ACCESS]), .name = "No Access",
     .help = "Bytes of the program or library in this process that may not be touched.",
     .where = WHERE},
    {790, 791, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[READ_ONLY]), .name = "Read Only",
     .help = "Bytes of the program or library in this process that may only be read.",
     .where = WHERE},
    {792, 793, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[READ_WRITE]), .name = "Read/Write",
     .help = "Bytes of the program or library in this process that may be read and written.",
     .where = WHERE},
    {794, 795, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[WRITE_COPY]), .name = "Write Copy",
     .help = "Bytes of the program or library in this process that may be read; when the process writes to a page, it gets its own copy of the page.",
     .where = WHERE},
    {796, 797, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[EXECUTE]), .name = "Executable",
     .help = "Bytes of the program or library in this process that may be executed, but neither read nor written.",
     .where = WHERE},
    {798, 799, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[EXECUTE_READ]), .name = "Exec Read Only",
     .help = "Bytes of the program or library in this process that may be executed and read.",
     .where = WHERE},
    {800, 801, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[EXECUTE_READ_WRITE]), .name = "Exec Read/Write",
     .help = "Bytes of the program or library in this process that may be executed, read and written.",
     .where = WHERE},
    {802, 803, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_EXPERT, OPL_FIELD(struct image, bytes[EXECUTE_WRITE_COPY]), .name = "Exec Write Copy",
     .help = "Bytes of the program or library in this process that may be executed and read; when the process writes to a page, it gets its own copy of the "
             "page.",
     .where = WHERE},
};
/* clang-format on */

/* ---- instances ---- */

enum { NAME_SIZE = 1024 };

static void add_image(opl_listing *images, const struct image *image, bool full, uint32_t process)
{
    char name[NAME_SIZE + 1];
    size_t bytes = image_path_bytes(image);
    const char *path = full ? image->path : image_name(image, &bytes);
    /* an instance name that begins with a slash cannot have a parent in a counter path */
    opl_sanitize_name(name, sizeof name, path, bytes, false);
    opl_listing_item(images, name, image);
    opl_listing_parent(images, &perfproc_address_space, process);
}

static void add_images(opl_listing *spaces, const struct space *space)
{
    uint32_t process = opl_listing_count(spaces) - 1;
    opl_listing *images = opl_listing_of(spaces, &perfproc_image);
    opl_listing *full = opl_listing_of(spaces, &perfproc_full_image);
    for (size_t i = 0; i < space->image_count; i++) {
        if (images)
            add_image(images, &space->images[i], false, process);
        if (full)
            add_image(full, &space->images[i], true, process);
    }
}

static struct space space; /* address space of the process that is being read */

static void list_spaces(opl_listing *spaces)
{
    const uint32_t *numbers;
    size_t count;
    char folder[16];
    if (!opl_listing_numbers(spaces, "proc", 0, &numbers, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(folder, sizeof folder, "%u", (unsigned)numbers[i]);
        const char *text = opl_reading_text(opl_listing_at(spaces, folder), &maps, NULL);
        if (!text)
            continue;
        space_count(&space, text);
        if (opl_listing_read_with(spaces, folder, "", 0, 0, &space))
            add_images(spaces, &space);
    }
}

const opl_object perfproc_address_space = {
    .index = 786,
    .help_index = 787,
    .name = "Process Address Space",
    .help =
        "The Process Address Space object shows what the addresses of each process are used for: "
        "programs and libraries, other files and shared memory, private memory, and addresses kept "
        "for later.",
    OPL_COUNTERS(space_counters),
    .default_counter = 780,
    .costly = true,
    .needs = "proc",
    .instances = true,
    .list = list_spaces,
};

const opl_object perfproc_image = {
    .index = 740,
    .help_index = 741,
    .name = "Image",
    .help = "The Image object shows how many bytes of a process's address space its program and "
            "each of its libraries take, by what the process may do with them. The parent of an "
            "image is its process.",
    OPL_COUNTERS(image_counters),
    .default_counter = 798,
    .costly = true,
    .needs = "proc",
    .related = &perfproc_address_space,
    .instances = true,
    .listed_with = &perfproc_address_space,
};

const opl_object perfproc_full_image = {
    .index = 1408,
    .help_index = 1409,
    .name = "Full Image",
    .help = "The Full Image object shows the same as Image; its instances have the whole path as "
            "their name, in which _ replaces /.",
    OPL_COUNTERS(image_counters),
    .default_counter = 798,
    .costly = true,
    .needs = "proc",
    .related = &perfproc_address_space,
    .instances = true,
    .listed_with = &perfproc_address_space,
};
