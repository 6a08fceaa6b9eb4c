#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of .blg captures, written from docs/format.md alone. Tests compare the library's reader
with this one.

usage: blg_reader.py FILE

Prints all counters of the capture as PDH-CSV. If some cannot be shown, it prints their count for each
reason to standard error, and the exit code is 3; it is 1 if FILE is no capture.
"""
import datetime
import struct
import sys

CAPTURE = bytes.fromhex("b33b3f933e940d499ced3cbb14c14479")
CATALOGUE, SAMPLE, NAMES = 0x20, 0x22, 0x24
NONE = 0xFFFFFFFF
# captures of Windows contain these references to texts of a DLL, in place of the zone's name
ZONES = {"@tzres.dll,-212": "Pacific Standard Time", "@tzres.dll,-211": "Pacific Daylight Time"}

# counter type -> formula; clock (t: ticks, h: 100 ns, o: the object's, base: the next counter's value);
# has the value 4 bytes? has the base 4 bytes?
TYPES = {
    0x10410400: ("rate", "t", True, False), 0x10410500: ("rate", "t", False, False),
    0x00410400: ("rate", "t", True, False),
    0x20410500: ("timer", "t", False, False), 0x21410500: ("inverse", "t", False, False),
    0x20510500: ("timer", "h", False, False), 0x21510500: ("inverse", "h", False, False),
    0x20610500: ("timer", "o", False, False),
    0x22410500: ("multi", "t", False, False), 0x23410500: ("multi inverse", "t", False, False),
    0x22510500: ("multi", "h", False, False), 0x23510500: ("multi inverse", "h", False, False),
    0x00450400: ("quotient", "t", True, False), 0x00450500: ("quotient", "t", False, False),
    0x00550500: ("quotient", "h", False, False), 0x00650500: ("quotient", "o", False, False),
    0x00010000: ("number", "", True, False), 0x00010100: ("number", "", False, False),
    0x00000000: ("number", "", True, False), 0x00000100: ("number", "", False, False),
    0x00400400: ("difference", "", True, False), 0x00400500: ("difference", "", False, False),
    0x20C20400: ("timer", "base", True, True), 0x20020400: ("fraction", "base", True, True),
    0x20020500: ("fraction", "base", False, False),
    0x30020400: ("average time", "base", False, True), 0x40020500: ("quotient", "base", False, True),
    0x30240500: ("elapsed", "o", False, False),
    0x20470500: ("timer", "base", False, False), 0x20570500: ("timer", "base", False, False),
    0x20670500: ("timer", "base", False, False),
}
# types without a column: bases, whose values other counters use, and headings
HIDDEN = {0x40030401, 0x40030402, 0x40030403, 0x40030500, 0x40030503, 0x42030500, 0x40000200}


TEXT = 0x00000B00


class Text(str):
    """The value of a text counter. Other strings in cells are reasons why there is no value."""


class Raw:
    def __init__(self, first, second, multi, status=0):
        self.first, self.second, self.multi, self.status = first, second, multi, status


def signed(value):
    return (value & (1 << 64) - 1 ^ 1 << 63) - (1 << 63)


def rise(old, new, short):
    """new - old; if the value fell by half of its range or more, it wrapped around, else the result is negative."""
    bits = 32 if short and max(old, new) < 1 << 32 and min(old, new) >= 0 else 64
    old, new = old & (1 << 64) - 1, new & (1 << 64) - 1
    return new - old + (1 << bits) if old - new >= 1 << bits - 1 else new - old


def cook(kind, base, old, new):
    """The value as a double, or a reason why there is none."""
    formula, clock, short, short_base = TYPES[kind]
    if new.status not in (0, 1):
        return "the sample is not valid"
    if formula == "number":
        return float(new.first)
    if formula == "fraction":
        if new.first < 0 or new.second < 0:
            return "negative"
        return float(new.first) / float(new.second) * 100.0 if new.second else 0.0
    if formula == "elapsed":
        if base <= 0:
            return "negative time base"
        return float(new.second - new.first) / float(base) if new.first and new.first <= new.second else 0.0
    if old is None or old.status not in (0, 1):
        return "there is no sample before"
    up = rise(old.first, new.first, short)
    if up < 0:
        return "the counter went back"
    if formula == "difference":
        return float(up)
    over = rise(old.second, new.second, short_base) if clock == "base" else new.second - old.second
    if over < 0:
        return "clock or base went back"
    if formula in ("rate", "average time") and base <= 0:
        return "negative time base"
    if over == 0 or formula.startswith("multi") and not new.multi:
        return 0.0
    up, over = float(up), float(over)
    if formula == "rate":
        return up / (over / float(base))
    if formula == "average time":
        return up / float(base) / over
    if formula == "quotient":
        return up / over
    if formula == "timer":
        return up / over * 100.0
    if formula == "inverse":
        return max((1.0 - up / over) * 100.0, 0.0)
    if formula == "multi":
        return up / over / float(new.multi) * 100.0
    return max((1.0 - up / over / float(new.multi)) * 100.0, 0.0)


# ---- the file ----

def text_at(data, at, coding="utf-16-le"):
    """The UTF-16 text at `at`, which ends with a NUL or with the data."""
    end = at
    while end + 1 < len(data) and data[end:end + 2] != b"\0\0":
        end += 2
    return data[at:end].decode(coding, "replace")


class Head:
    """The data of the first buffer: buffer size, mode, time zone."""
    def __init__(self, data):
        if len(data) < 72 + 32 + 300:
            raise ValueError("too short for a capture")
        at = 72 + 32
        self.size = struct.unpack_from("<I", data)[0]
        other = struct.unpack_from("<I", data, at)[0]
        if other != self.size and data[other:other + 4] == struct.pack("<I", other):
            self.size = other
        if self.size < 1024 or data[75] != 0xC0:
            raise ValueError("not a capture")
        self.circular = bool(struct.unpack_from("<I", data, at + 32)[0] & 2)
        zone = at + 56 + 2 * struct.unpack_from("<I", data, at + 44)[0]
        self.bias, = struct.unpack_from("<i", data, zone)
        self.halves = []  # standard time, daylight time: name, when it begins, its bias
        for half in (zone + 4, zone + 88):
            name = text_at(data[half:half + 64], 0)
            begins = struct.unpack_from("<8H", data, half + 64)
            self.halves.append((ZONES.get(name, name), begins, *struct.unpack_from("<i", data, half + 80)))

    def zone(self, when):
        standard, daylight = self.halves
        half = standard
        if standard[1][1] and daylight[1][1]:
            start, end = (begin_of(part[1], when.year) for part in (daylight, standard))
            inside = start <= when < end if start < end else not end <= when < start
            half = daylight if inside else standard
        return half[0], self.bias + half[2]


def begin_of(rule, year):
    """The moment at which a rule for daylight saving time begins in `year`. A rule has month, week day, which of
    these days in the month (5: the last), hour and minute."""
    _, month, weekday, which, hour, minute = rule[:6]
    day = datetime.datetime(year, month, 1, hour, minute)
    day += datetime.timedelta((weekday - day.isoweekday()) % 7 + 7 * (which - 1))
    return day if day.month == month else day - datetime.timedelta(7)


def records(data, head, lost, unshown):
    """Yields (kind, time, body) of each record; parts of long records are joined. Records that other programs
    wrote into the file are counted in `unshown`."""
    buffers = [data[at:at + head.size] for at in range(head.size, len(data), head.size)]
    buffers = [one for one in buffers if len(one) >= 72 and one[:72].strip(b"\0")]
    if head.circular:
        buffers.sort(key=lambda one: struct.unpack_from("<Q", one, 24)[0])
    body, before = b"", 0
    for one in [data[:head.size]] + buffers:
        used, at = min(struct.unpack_from("<I", one, 48)[0], len(one)), 72
        while at + 8 <= used:
            size, system, mark, kind = struct.unpack_from("<HBBB", one, at)
            if mark == 0xC0 and system in (1, 2):  # the record of the file's head has its size at another offset
                size, = struct.unpack_from("<H", one, at + 4)
            elif mark != 0xC0 or system not in (0x0A, 0x14):
                lost["the rest of a buffer"] = lost.get("the rest of a buffer", 0) + 1
                break
            elif size >= 72 and one[at + 24:at + 40] == CAPTURE:
                part, parts = struct.unpack_from("<II", one, at + 64)
                body = one[at + 72:at + size] if part == 1 else body + one[at + 72:at + size]
                if part not in (1, before + 1):
                    lost["a record without its beginning"] = lost.get("a record without its beginning", 0) + 1
                    part = 0
                elif part == parts:
                    yield kind, struct.unpack_from("<Q", one, at + 16)[0], body
                before = part
            else:
                unshown[f"record {len(unshown)}"] = "its GUID is not the one of captures"
            if size < 8:
                break
            at += (size + 7) // 8 * 8


class Entry:
    """An entry of the catalogue (the list of what is recorded): a counter, a counter of all instances, or a whole
    object."""
    def __init__(self, record):
        self.flags, self.id, self.kind, self.base, self.scale = struct.unpack_from("<IIIqi", record, 4)
        *texts, self.index, counter = struct.unpack_from("<6I", record, 28)
        self.machine, self.object, self.instance, self.parent, self.counter = (
            None if at == NONE else text_at(record, 52 + at) for at in (*texts, counter))

    def path(self, instance, counter):
        within = "" if instance is None else f"({instance})"
        return f"{self.machine}\\{self.object}{within}\\{counter}"

    def single(self):
        if self.instance in (None, "*") or self.flags & 1:
            return None
        return numbered((self.parent + "/" if self.parent else "") + self.instance, self.index)


def read_catalogue(body):
    at = 8
    while at + 52 <= len(body):
        length, = struct.unpack_from("<I", body, at)
        if length < 52:
            return
        yield Entry(body[at:at + length])
        at += length


def numbered(name, index):
    return f"{name}#{index}" if index else name


class Instances:
    """Numbers instances with equal names in their order: name, name#1, name#2."""
    def __init__(self):
        self.seen = {}

    def name(self, name):
        index = self.seen.get(name.lower(), 0)
        self.seen[name.lower()] = index + 1
        return numbered(name, index)


def read_items(body):
    """Yields (instance, Raw) of a piece of kind 2: one counter of all instances."""
    _, count, status = struct.unpack_from("<III", body)
    instances = Instances()
    for at in range(24, 24 + 24 * count, 24):
        name, multi, first, second = struct.unpack_from("<IIqq", body, at)
        yield instances.name(text_at(body, name)) or None, Raw(first, second, multi, status)


class Block:
    """A PERF_DATA_BLOCK; `names` maps the title indices of its machine to names."""
    def __init__(self, data, names):
        self.data, self.names = data, names
        self.order = "<" if len(data) < 12 or struct.unpack_from("<I", data, 8)[0] else ">"
        self.objects = []  # title index, offset
        if len(data) < 88:
            return
        at, count = self.get("II", 24)
        self.time, self.frequency, self.time100 = self.get("qqq", 56)
        for _ in range(count):
            if at + 64 > len(data):
                break
            self.objects.append((self.get("I", at + 12)[0], at))
            at += self.get("I", at)[0]

    def get(self, format, at):
        return struct.unpack_from(self.order + format, self.data, at)

    def named(self, title):
        """The offsets of the objects with this name."""
        return [at for index, at in self.objects if self.names.get(index, "").lower() == title.lower()]

    def instances(self, at):
        """Yields (name, parent's object and position in it, counter block's offset) of the object at `at`."""
        length, = self.get("I", at + 4)
        count, page = self.get("iI", at + 40)
        order = "utf-16-le" if self.order == "<" else "utf-16-be"
        coding = "utf-8" if page == 65001 else f"cp{page}" if page else order
        place = at + length
        for _ in range(max(count, 0)):
            size, parent, which, unique, offset, chars = self.get("IIIiII", place)
            text = self.data[place + offset:place + offset + chars].decode(coding, "replace")
            yield str(unique) if unique != -1 else text.split("\0")[0], parent, which, place + size
            place += size + self.get("I", place + size)[0]

    def places(self, at):
        """Yields (instance as paths have it, None for a single object; counter block's offset)."""
        length, = self.get("I", at + 4)
        if self.get("i", at + 40)[0] == -1:
            yield None, at + length
        equal = Instances()
        for name, parent, which, block in self.instances(at):
            for above in [one for index, one in self.objects if parent and index == parent][:1]:
                name = list(self.instances(above))[which][0] + "/" + name
            yield equal.name(name), block

    def definitions(self, at):
        place = at + self.get("I", at + 8)[0]
        for _ in range(self.get("I", at + 32)[0]):
            yield place
            place += self.get("I", place)[0]

    def value(self, definition, block):
        size, offset = self.get("II", definition + 32)
        if size not in (4, 8) or offset + size > self.get("I", block)[0]:
            return None
        return self.get("I" if size == 4 else "q", block + offset)[0]

    def text(self, definition, block):
        """A text counter's text; None: it is not in the counter block."""
        size, offset = self.get("II", definition + 32)
        if offset + size > self.get("I", block)[0]:
            return None
        return text_at(self.data[block + offset:block + offset + size], 0, "utf-16-le" if self.order == "<" else "utf-16-be")

    def raw(self, at, definition, block):
        """FirstValue and SecondValue as PDH stores them for this counter, and its time base."""
        kind, = self.get("I", definition + 28)
        formula, clock = TYPES[kind][:2]
        first, multi = self.value(definition, block), 1
        own_time, own_frequency = self.get("qq", at + 48)
        times = {"t": self.time, "h": self.time100, "o": own_time, "": 0}
        second = self.value(definition + 40, block) if clock == "base" else times[clock]
        if first is None or second is None:
            return Raw(0, 0, 0, 0xC0000BBA), 1
        if formula.startswith("multi"):
            offset, = self.get("I", definition + 36)
            if offset + 12 > self.get("I", block)[0]:
                return Raw(0, 0, 0, 0xC0000BBA), 1
            multi, = self.get("I", block + offset + 8)
            first = signed(first * self.frequency) if clock == "t" else first
        return Raw(first, second, multi), own_frequency if clock == "o" else self.frequency


class Capture:
    def __init__(self, data):
        self.lost, self.rows, self.columns = {}, [], {}  # columns: path in lower case -> path, {row: double or reason}
        self.unshown = {}                                # path in lower case -> why it cannot be shown
        self.before, self.now = {}, {}                   # path in lower case -> Raw, of the row before and of this one
        self.titles = {}                                 # machine in lower case -> index -> name
        self.head = Head(data)
        everything = list(records(data, self.head, self.lost, self.unshown))
        self.read_names(body for kind, _, body in everything if kind == NAMES)
        catalogue, last = [], None
        for kind, time, body in everything:
            if kind == CATALOGUE:
                # after samples a new catalogue begins; after another catalogue record the same one continues
                catalogue = (catalogue if last != SAMPLE else []) + list(read_catalogue(body))
            elif kind == SAMPLE:
                self.add_sample(catalogue, time, body)
            last = kind if kind in (CATALOGUE, SAMPLE) else last

    def read_names(self, bodies):
        """Reads the tables of names. A machine's table can have several records, each of which begins with the
    machine's name."""
        texts = {}
        for body in bodies:
            machine, *more = body.decode("utf-16-le", "replace").split("\0")
            while more and not more[-1]:
                more.pop()
            texts.setdefault(machine.lower(), []).extend(more)
        for machine, list_ in texts.items():
            self.titles[machine] = {int(index): name for index, name in zip(list_[::2], list_[1::2])}

    def add_sample(self, catalogue, time, body):
        self.rows.append(datetime.datetime(1601, 1, 1) + datetime.timedelta(milliseconds=time // 10000))
        self.before, self.now, at = self.now, {}, 8
        for entry in catalogue:
            kind, length, piece = 1, 8, b""
            if at + 8 <= len(body):
                mark, kind, length = struct.unpack_from("<3sBI", body, at)
                piece = body[at + 8:at + length]
                if mark != b"BL\3" or length < 8:
                    self.lost["the rest of a sample"] = self.lost.get("the rest of a sample", 0) + 1
                    at = len(body)
                    piece = b""
            at += length
            self.add_piece(entry, kind, piece)

    def add_piece(self, entry, kind, piece):
        if entry.counter == "*" or kind == 5:
            self.add_block(entry, Block(piece if kind == 5 else b"", self.titles.get(entry.machine.lower(), {})))
        elif kind == 2:
            for instance, raw in read_items(piece) if piece else ():
                self.add(entry.path(instance, entry.counter), entry.kind, entry.base, raw)
        elif kind == 1:
            status, first, second, multi = struct.unpack_from("<I12xqqI", piece) if piece else (NONE, 0, 0, 0)
            if piece or entry.instance != "*":
                self.add(entry.path(entry.single(), entry.counter), entry.kind, entry.base,
                         Raw(first, second, multi, status))

    def add_block(self, entry, block):
        found = block.named(entry.object)
        if block.objects and not found and entry.object.lower() not in map(str.lower, block.names.values()):
            self.unshown[entry.path(entry.instance, "*").lower()] = "the object's name is in no table"
        for at in found:
            wanted = entry.single()
            for instance, place in block.places(at):
                if wanted is None or instance and wanted.lower() == instance.lower():
                    self.add_counters(entry, block, at, instance, place)

    def add_counters(self, entry, block, at, instance, place):
        for definition in block.definitions(at):
            kind, = block.get("I", definition + 28)
            index, = block.get("I", definition + 4)
            name = block.names.get(index)
            path = entry.path(instance, name or f"#{index}")
            if kind in HIDDEN or entry.counter not in ("*", name):
                continue
            if name is None:
                self.unshown[path.lower()] = "the counter's name is in no table"
            elif kind == TEXT:
                text = block.text(definition, place)
                self.columns.setdefault(path.lower(), (path, {}))[1][len(self.rows)] = Text(text) if text is not None else ""
            elif kind not in TYPES:
                self.unshown[path.lower()] = "its type has no formula"
            else:
                self.add(path, kind, *reversed(block.raw(at, definition, place)))

    def add(self, path, kind, base, raw):
        key = path.lower()
        if kind not in TYPES:
            self.unshown[key] = "its type has no formula"
            return
        if "?" in key or "*" in key:
            self.unshown[key] = "its instance's name would be a pattern in a path"
            return
        cells = self.columns.setdefault(key, (path, {}))[1]
        cells[len(self.rows)] = cook(kind, base, self.before.get(key), raw)
        self.now[key] = raw

    def lines(self):
        """The header and the lines, each a list of texts."""
        name, bias = self.head.zone(self.rows[0] if self.rows else datetime.datetime(1601, 1, 1))
        yield [f"(PDH-CSV 4.0) ({name})({bias})", *(path for path, _ in self.columns.values())]
        for row, when in enumerate(self.rows, 1):
            cells = [cells.get(row) for _, cells in self.columns.values()]
            yield [f"{when:%m/%d/%Y %H:%M:%S}.{when.microsecond // 1000:03}",
                   *("%.17g" % cell if isinstance(cell, float) else
                     "".join(" " if letter < " " else letter for letter in cell).replace('"', "'")
                     if isinstance(cell, Text) else " " for cell in cells)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], "rb") as file:
            capture = Capture(file.read())
    except ValueError as why:
        print(f"{sys.argv[1]}: {why}", file=sys.stderr)
        return 1
    for line in capture.lines():
        sys.stdout.buffer.write(('"' + '","'.join(line) + '"\n').encode("utf-8", "replace"))
    reasons = list(capture.unshown.values())
    for why in sorted(set(reasons)):
        print(f"not shown: {reasons.count(why)}, {why}", file=sys.stderr)
    for what, count in capture.lost.items():
        print(f"lost: {count}, {what}", file=sys.stderr)
    return 3 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
