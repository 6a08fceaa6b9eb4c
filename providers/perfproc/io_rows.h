/* SPDX-License-Identifier: MIT */
/* The common rows of input and output of Process, Process IO and Job Object Details, in Windows'
 * order, with two more at the end. The including file has defined PROCESS(member). */
#define IO_COUNT PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED
#define OWN(keys)                                                                                  \
    "`proc/*/io`: " keys                                                                           \
    ", less what ended children did; the counter stands still in the interval in which such a "    \
    "child is waited for"
/* clang-format off */
    {1412, 1413, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_reads), .item = PROCESS(reads), .where = OWN("syscr"),
     .name = "IO Read Operations/sec",
     .help = "The rate at which the process issues read requests, to files, network and devices."},
    {1414, 1415, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_writes), .item = PROCESS(writes), .where = OWN("syscw"),
     .name = "IO Write Operations/sec",
     .help = "The rate at which the process issues write requests, to files, network and devices."},
    {1416, 1417, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_operations), .item = PROCESS(operations), .where = OWN("syscr + syscw"),
     .name = "IO Data Operations/sec",
     .help = "The rate at which the process issues read and write requests together, to files, network and devices."},
    {1420, 1421, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_read_bytes), .item = PROCESS(read_bytes), .where = OWN("rchar"),
     .name = "IO Read Bytes/sec",
     .help = "The rate at which the process reads bytes, from files, network and devices."},
    {1422, 1423, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_written_bytes), .item = PROCESS(written_bytes), .where = OWN("wchar"),
     .name = "IO Write Bytes/sec",
     .help = "The rate at which the process writes bytes, to files, network and devices."},
    {1424, 1425, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_moved_bytes), .item = PROCESS(moved_bytes), .where = OWN("rchar + wchar"),
     .name = "IO Data Bytes/sec",
     .help = "The rate at which the process reads and writes bytes together, to and from files, network and devices."},
    {101802, 101803, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_disk_read_bytes), .item = PROCESS(disk_read_bytes), .where = OWN("read_bytes"),
     .name = "IO Disk Read Bytes/sec",
     .help = "The rate at which bytes are fetched from disks for the process, also from those of other machines. What the process finds in memory does not "
             "count."},
    {101804, 101805, IO_COUNT, OPL_FN_OF(&perfproc_io, perfproc_disk_written_bytes), .item = PROCESS(disk_written_bytes), .where = OWN("write_bytes"),
     .name = "IO Disk Write Bytes/sec",
     .help = "The rate at which the process gives the kernel bytes to write to disks. Bytes count when a page in memory is changed, not when it is written to "
             "disk, and even if the file is deleted before that."},
/* clang-format on */
#undef OWN
#undef IO_COUNT
