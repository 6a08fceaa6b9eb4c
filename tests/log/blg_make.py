#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes .blg captures of every shape that docs/format.md allows.

usage: blg_make.py [--small] SEED FILE

The same seed makes the same file. The file's traits (unusual properties, such as "circular") are printed;
Maker.has decides at random for each trait whether the file has it.
--small: few of everything in buffers of 1 to 4 KiB, for the fuzzer's corpus.
"""
import random
import struct
import sys

from blg_reader import CAPTURE, CATALOGUE, NAMES, NONE, SAMPLE, TEXT, TYPES

CLOSING = 0x23
START = 116444736000000000 + 10 ** 7 * 1_262_304_000  # 2010-01-01 as a FILETIME
# counter type and the value's size in bytes; if there is a base, also its type and size
KINDS = [(0x10410400, 4), (0x10410500, 8), (0x00410400, 4), (0x20410500, 8), (0x21410500, 8), (0x20510500, 8),
         (0x21510500, 8), (0x20610500, 8), (0x22410500, 8), (0x23410500, 8), (0x22510500, 8), (0x23510500, 8),
         (0x00450400, 4), (0x00450500, 8), (0x00550500, 8), (0x00650500, 8), (0x00010000, 4), (0x00010100, 8),
         (0x00000000, 4), (0x00000100, 8), (0x00400400, 4), (0x00400500, 8), (0x20C20400, 4, 0x40030401, 4),
         (0x20020400, 4, 0x40030403, 4), (0x20020500, 8, 0x40030500, 8), (0x20020500, 8, 0x40030503, 8),
         (0x30020400, 8, 0x40030402, 4), (0x40020500, 8, 0x40030402, 4), (0x30240500, 8),
         (0x20470500, 8, 0x40030500, 8), (0x20570500, 8, 0x40030500, 8), (0x20670500, 8, 0x40030500, 8)]
FORMLESS = [(0x00000B00, 16), (0x12345678, 4), (0x80000000, 4)]
TEXTS = ["", "root", "größe", 'a "b"', "a\tb", "sleeping", "-1", "more than fits"]
WORDS = ["Bytes", "Total", "Avg. Queue", "% Time", "Faults", "Kovač", "Größe", "длина", "速度", "Errors/sec", "I/O (ms)",
         "Time [µs]", "𝛥t", "a" * 90, "x & y", "Ops/sec", "Reads, Writes", "%%", "Ω;Ω", "naïve's"]
INSTANCES = ["_Total", "0", "0,1", "C:", "C: D:", "svchost", "Svc Host", "intel[r] 7260", "isatap.{ea2a01ef-c879}",
             "größe", "поток", "一二三", "🜁", "x" * 200, "a b", "c++", "o'neil", "-1", "100%", "=cmd", "node.exe --x"]
ODD = ["a/b", "c#", "f(x)", "(a)", "back\\slash", 'quo"te', "x#y", "tail ", " head", "p/q/r", "f(x)(y)", "#1 of 2"]


def rounded(data, unit=8):
    return data + b"\0" * (-len(data) % unit)


def utf16(text):
    return text.encode("utf-16-le") + b"\0\0"


class Counter:
    def __init__(self, random_, kind, name, index):
        self.kind, self.size, *self.base = kind
        self.name, self.index, self.seed = name, index, random_.random()


class Object:
    """An object of a machine: counters and, unless it is a single one, instances that come and go."""
    def __init__(self, maker, machine, name, single):
        self.machine, self.name, self.single, self.index = machine, name, single, machine.title(name)
        self.parent, self.unique, self.page, self.values = None, False, 0, {}
        random_ = maker.random
        kinds = random_.sample(KINDS, random_.randint(1, 7))
        if maker.has("types without a formula", 0.15):
            kinds.append(random_.choice(FORMLESS))
        names = random_.sample(WORDS, len(kinds))
        self.counters = [Counter(random_, kind, name, machine.title(name)) for kind, name in zip(kinds, names)]
        self.instances = []  # name, the samples that have it, its parent's place
        if single:
            return
        pool = random_.sample(INSTANCES + (ODD if maker.has("odd names", 0.3) else []), random_.randint(1, 6))
        if maker.has("question marks as names", 0.05):
            pool.append("?")
        if maker.has("equal names", 0.5):
            pool += random_.choices(pool, k=random_.randint(1, 3))
            random_.shuffle(pool)
            if maker.has("equal but for case", 0.3):
                pool += [name.upper() for name in pool if name.islower()][:1]
        if maker.has("unique numbers", 0.1):
            self.unique = True
            pool = [str(number) for number in random_.sample(range(5000), len(pool))]
        if maker.has("code pages", 0.1):
            self.page = random_.choice([1252, 65001])
            pool = [name for name in pool if ascii(name) == repr(name)] or ["plain"]
        for name in pool:
            samples = set(range(maker.samples))
            if maker.has("come and go", 0.5):
                for _ in range(random_.randint(1, 2)):
                    first = random_.randrange(maker.samples)
                    samples -= set(range(first, first + random_.randint(1, maker.samples)))
                if maker.samples > 20 and not maker.has("late instances", 0.3):
                    samples.add(random_.randrange(20))
            self.instances.append([name, samples, 0])

    def present(self, sample):
        """The instances of a sample: (which, name, parent's place)."""
        return [(which, name, parent) for which, (name, samples, parent) in enumerate(self.instances)
                if sample in samples]


class Machine:
    def __init__(self, name, random_):
        self.name, self.titles, self.random = name, {}, random_
        self.next = random_.choice([2, 372, 1846, 5000, 70000])
        self.frequency = random_.choice([2630633, 3579545, 10 ** 7, 1000, 10 ** 9])
        self.object_frequency = random_.choice([10 ** 7, 1000])
        self.missing = set()
        self.zero = random_.randrange(1 << 40), START, random_.randrange(1 << 40)

    def title(self, name):
        for index, text in self.titles.items():
            if text == name:
                return index
        self.next += 2 * self.random.randint(1, 20)
        self.titles[self.next] = name
        return self.next


class Maker:
    """Makes a capture at random from `seed`; self.traits has which of the possible properties it has."""
    def __init__(self, seed, without=(), small=False):
        self.random, self.traits, self.without, self.small = random.Random(seed), {}, without, small
        random_ = self.random
        self.samples = random_.randint(25, 40) if self.has("long", 0.15) else random_.randint(1, 10)
        self.machines = []
        self.machine_names = random_.sample(["\\\\web1", "\\\\DB", "\\\\größe", "\\\\10.0.0.7", "\\\\web1.example.org"],
                                            random_.choice([1, 1, 2, 3]))
        for name in self.machine_names:
            self.machines.append(self.make_machine(name))
        if small:
            self.shrink()
        self.times = self.make_times()
        self.entries = []  # pairs: an entry of the catalogue, and the function that makes its bytes for a sample
        for machine in self.machines:
            for object_ in machine.objects:
                self.entries += self.make_entries(machine, object_)
        if self.has("entries of machines mixed", 0.3):
            random_.shuffle(self.entries)

    def shrink(self):
        """Makes the capture small: at most three samples, and few objects, counters and instances of each machine."""
        self.samples = min(self.samples, 3)
        for machine in self.machines[1:]:
            machine.objects = machine.objects[:1]
        for machine in self.machines:
            machine.objects = machine.objects[:2]
            for object_ in machine.objects:
                object_.counters = object_.counters[-2:]
                # other instances may have these as parents
                object_.instances = [[name[:20], samples, min(parent, 2)] for name, samples, parent in object_.instances][:3]
                if object_.parent and len(object_.parent.instances) < 3:
                    object_.parent = None
            kept = {name for one in machine.objects for name in (one.name, *(each.name for each in one.counters))}
            kept |= {one.parent.name for one in machine.objects if one.parent}
            machine.titles = {index: name for index, name in machine.titles.items() if name in kept}

    def has(self, trait, chance):
        """Does this capture have a trait? The first call decides at random, later calls return the same."""
        if trait not in self.traits:
            self.traits[trait] = self.random.random() < chance and trait not in self.without
        return self.traits[trait]

    # ---- what is measured ----

    def make_machine(self, name):
        random_ = self.random
        machine = Machine(name, random_)
        names = ["Memory", "System", "Network Interface", "Thread", "Диск", "TCPv4", ".NET CLR Memory",
                 "Größe", "SQLServer:Locks", "Object [a]"]
        machine.objects = [Object(self, machine, name, random_.random() < 0.4)
                           for name in random_.sample(names, random_.randint(1, 4))]
        several = [one for one in machine.objects if not one.single]
        if len(several) > 1 and self.has("parents", 0.5):
            several[0].parent = several[1]
            several[1].instances = [[name, set(range(self.samples)), 0] for name, _, _ in several[1].instances]
            for instance in several[0].instances:
                instance[2] = random_.randrange(len(several[1].instances))
        for _ in range(random_.choice([0, 10, 400, 2000]) if self.has("long tables", 0.5) else 0):
            machine.next += 2
            machine.titles[machine.next] = f"Something else {machine.next}" + "." * random_.randint(0, 60)
        if self.has("machines missing", 0.3):
            machine.missing = set(random_.sample(range(self.samples), random_.randint(0, self.samples)))
        return machine

    def make_times(self):
        """Returns the time of each sample, as seconds since the start and as a FILETIME."""
        at, times = 0.0, []
        start = self.random.randrange(5 * 365 * 86400)
        for _ in range(self.samples):
            at += self.random.choice([1, 1, 1, 0.25, 5, 3600, self.random.random() * 10])
            times.append((at, START + 10 ** 7 * start + int(at * 10 ** 7)))
        return times

    def clocks(self, machine, sample):
        """The time of a sample on three clocks: performance ticks, 100 ns (FILETIME), the object's own ticks."""
        seconds = self.times[sample][0]
        if self.has("clocks that stand or go back", 0.1) and sample % 4 == 3:
            seconds = self.times[sample - 1][0] - sample % 8 // 7
        ticks, filetime, own = machine.zero
        return (ticks + int(seconds * machine.frequency), filetime + int(seconds * 10 ** 7),
                own + int(seconds * machine.object_frequency))

    def value(self, object_, which, counter, sample):
        """The counter's (value, base, multi count): those of the previous sample plus a step, or first ones."""
        key = which, counter.index, counter.kind
        old = object_.values.get(key)
        random_, bits = random.Random(f"{counter.seed} {which} {sample}"), 8 * counter.size
        ticks, filetime, own = self.clocks(object_.machine, sample)
        formula, clock = TYPES.get(counter.kind, ("", ""))[:2]
        if formula == "number":
            return random_.choice([random_.getrandbits(bits), random_.getrandbits(20), 0]), 0, 1
        if formula == "fraction":
            base = random_.choice([0, random_.randint(1, 1 << 31), random_.randint(1, 100)])
            return random_.randint(0, base * 5 // 4 or 9), base, 1
        if formula == "elapsed":
            return random_.choice([0, own - random_.randrange(10 ** 9), own + 1]) & (1 << 64) - 1, 0, 1
        many = formula.startswith("multi")
        if old is None:
            top = random_.random() < 0.3 and not many
            old = ((1 << bits) - random_.randint(1, 3000) if top else random_.randrange(10 ** 6),
                   (1 << 8 * counter.base[1]) - 50 if counter.base and random_.random() < 0.3 else 7, 1)
        step = random_.choice([0, 1, random_.randrange(1000), random_.randrange(10 ** 6)])
        if clock and clock in "tho" and formula != "rate":
            length = {"t": object_.machine.frequency, "h": 10 ** 7, "o": object_.machine.object_frequency}[clock]
            step = int(length * random_.random() * 1.2)
        base = old[1] + random_.choice([0, 1, random_.randrange(1000), random_.randrange(10 ** 6)])
        if random_.random() < 0.07:
            step = -random_.randint(1, min(old[0], 10 ** 6) + 1) if not many else 0
        value = (old[0] + step) % (1 << bits)
        new = value, base % (1 << 8 * (counter.base[1] if counter.base else 8)), random_.choice([1, 2, 8])
        object_.values[key] = new
        return new

    # ---- pieces of a sample ----

    def pair(self, object_, which, counter, sample):
        """The counter's FirstValue, SecondValue and MultiCount, as PDH stores them in a PDH_RAW_COUNTER."""
        first, base, multi = self.value(object_, which, counter, sample)
        ticks, filetime, own = self.clocks(object_.machine, sample)
        formula, clock = TYPES.get(counter.kind, ("", ""))[:2]
        if formula.startswith("multi") and clock == "t":
            first *= object_.machine.frequency
        second = {"t": ticks, "h": filetime, "o": own, "base": base}.get(clock, 0)
        wrap = (1 << 64) - 1
        return first & wrap, second & wrap, multi if formula.startswith("multi") else 1

    def single_piece(self, object_, which, counter, sample):
        time = self.times[sample][1]
        if sample in object_.machine.missing:
            return 1, struct.pack("<IQIQQII", 0x800007D0, time, 0, 0, 0, 0, 0)
        if which is not None and sample not in object_.instances[which][1]:
            return 1, struct.pack("<IQIQQII", 0x800007D1, time, 0, 0, 0, 0, 0)
        first, second, multi = self.pair(object_, which, counter, sample)
        status = self.random.choice([0, 1]) if self.has("new data", 0.3) else 0
        return 1, struct.pack("<IQIQQII", status, time, 0, first, second, multi, 0)

    def items_piece(self, object_, counter, sample):
        time = self.times[sample][1]
        if sample in object_.machine.missing:
            return 2, struct.pack("<IIIIQ", 24, 0, 0x800007D0, 0, time)
        present = [(None, "", 0)] if object_.single else object_.present(sample)
        items, names = b"", b""
        if not object_.single and not self.traits.get("equal but for case") and self.has("instances that lack some counters", 0.4):
            lacking = random.Random(f"{counter.seed} lacks {sample}")
            present = [one for one in present if lacking.random() < 0.8]
        for which, name, parent in present:
            if object_.parent and not object_.single:
                name = object_.parent.instances[parent][0] + "/" + name
            first, second, multi = self.pair(object_, which, counter, sample)
            items += struct.pack("<IIQQ", 24 + 24 * len(present) + len(names), multi, first, second)
            names += utf16(name)
        body = items + names
        if not self.has("odd lengths", 0.3):
            body = rounded(body)
        status = 0 if present else 0x800007D1
        return 2, struct.pack("<IIIIQ", 24 + len(body), len(present), status, 0, time) + body

    def object_bytes(self, order, object_, sample):
        """A PERF_OBJECT_TYPE with its counters and instances, as bytes."""
        ticks, filetime, own = self.clocks(object_.machine, sample)
        offset, definitions, places = 8, b"", []
        for counter in object_.counters:
            many = TYPES.get(counter.kind, ("",))[0].startswith("multi")
            pad = -offset % 8 if counter.size == 8 and not self.has("unaligned", 0.1) else 0
            definitions += struct.pack(order + "10I", 40, counter.index, 0, counter.index + 1, 0, 0, 100, counter.kind,
                                       counter.size, offset + pad)
            places.append(offset + pad)
            offset += pad + counter.size + (4 if many else 0)
            if counter.base:
                kind, size = counter.base
                definitions += struct.pack(order + "10I", 40, counter.index, 0, counter.index + 1, 0, 0, 100, kind,
                                           size, offset)
                offset += size
        block_size = offset + -offset % 8

        def block(which):
            data = bytearray(block_size)
            struct.pack_into(order + "I", data, 0, block_size)
            for counter, place in zip(object_.counters, places):
                if counter.kind == TEXT:
                    text = random.Random(f"{counter.seed} {which} {sample}").choice(TEXTS)
                    data[place:place + counter.size] = text.encode("utf-16-le" if order == "<" else "utf-16-be").ljust(
                        counter.size, b"\0")[:counter.size]
                if counter.kind not in TYPES:
                    continue
                value, base, multi = self.value(object_, which, counter, sample)
                struct.pack_into(order + ("I" if counter.size == 4 else "Q"), data, place, value)
                if TYPES[counter.kind][0].startswith("multi"):
                    struct.pack_into(order + "I", data, place + 8, multi)
                if counter.base:
                    struct.pack_into(order + ("I" if counter.base[1] == 4 else "Q"), data, place + counter.size, base)
            return bytes(data)

        present = object_.present(sample)
        body = block(None) if object_.single else b""
        for which, name, parent in present:
            coding = "utf-8" if object_.page == 65001 else f"cp{object_.page}" if object_.page else \
                "utf-16-le" if order == "<" else "utf-16-be"
            nul = "" if self.has("names without NUL", 0.1) else "\0"
            text = b"" if object_.unique else (name + nul).encode(coding)
            above = (object_.parent.index, parent) if object_.parent else (0, 0)
            body += struct.pack(order + "6I", 24 + len(rounded(text)), *above, int(name) if object_.unique else NONE,
                                24, len(text)) + rounded(text) + block(which)
        header = 64 + len(definitions)
        instances = NONE if object_.single else len(present)
        return struct.pack(order + "12Iqq", header + len(body), header, 64, object_.index, 0, object_.index + 1, 0, 100,
                           len(definitions) // 40, 0, instances, object_.page, own,
                           object_.machine.object_frequency) + definitions + body

    def block_piece(self, object_, sample):
        machine = object_.machine
        order = ">" if self.has("most significant byte first", 0.1) else "<"
        objects = [object_] if sample not in machine.missing else []
        if objects and object_.parent:
            objects.append(object_.parent)
        if objects and self.has("others in the block", 0.2):
            objects += [one for one in machine.objects if one not in objects]
        if objects and self.has("objects in any order", 0.3):
            self.random.shuffle(objects)
        name = (machine.name[2:] + "\0").encode("utf-16-le" if order == "<" else "utf-16-be")
        body = b"".join(self.object_bytes(order, one, sample) for one in objects)
        header = 88 + len(rounded(name))
        ticks, filetime, _ = self.clocks(machine, sample)
        return 5, ("PERF".encode("utf-16-le" if order == "<" else "utf-16-be")
                   + struct.pack(order + "7I", order == "<", 1, 1, header + len(body), header, len(objects),
                                 object_.index)
                   + struct.pack(order + "8HI", 2010, 1, 5, 1, 0, 0, 0, 0, 0)
                   + struct.pack(order + "qqqII", ticks, machine.frequency, filetime, len(name), 88)
                   + rounded(name) + body)

    # ---- the catalogue ----

    def entry(self, object_, counter, instance=None, parent=None, index=0):
        kind = counter.kind if counter else 0
        clock = TYPES.get(kind, ("", ""))[1]
        base = {"h": 10 ** 7, "o": object_.machine.object_frequency}.get(clock, object_.machine.frequency)
        strings, at = b"", []
        for text in (object_.machine.name, object_.name, instance, parent, counter.name if counter else "*"):
            at.append(NONE if text is None else len(strings))
            strings += b"" if text is None else utf16(text)
        flags = (1 if instance == "*" else 0) | (0x20000000 if self.has("flags of Windows 10", 0.5) else 0)
        strings += b"\0" * 8 if self.has("longer entries", 0.2) else b""
        strings += b"\0" * (-(52 + len(strings)) % 8)
        return struct.pack("<IIIIqi4III", 52 + len(strings), flags, self.random.getrandbits(32), kind, base, 0,
                           *at[:4], index, at[4]) + strings

    def make_entries(self, machine, object_):
        """Yields (entry of the catalogue, function that makes the entry's bytes for a sample)."""
        way = self.random.choice(["counters", "instances", "whole"])
        if way == "whole":
            # Windows writes (*) even for an object without instances
            instance = "*" if not object_.single or self.has("whole single objects with (*)", 0.4) else None
            self.traits["whole objects"] = True
            yield self.entry(object_, None, instance), lambda sample: self.block_piece(object_, sample)
            return
        for counter in object_.counters:
            if counter.kind not in TYPES:
                continue
            if way == "instances" and (not object_.single or self.has("single objects with (*)", 0.3)):
                self.traits["all instances"] = True
                parent = "*" if object_.parent and self.has("*/*", 0.5) else None
                yield (self.entry(object_, counter, "*", parent),
                       lambda sample, counter=counter: self.items_piece(object_, counter, sample))
            elif object_.single:
                yield (self.entry(object_, counter),
                       lambda sample, counter=counter: self.single_piece(object_, None, counter, sample))
            else:
                yield from self.instance_entries(object_, counter)

    def instance_entries(self, object_, counter):
        equal = {}
        for which, (name, _, parent) in enumerate(object_.instances):
            above = object_.parent.instances[parent][0] if object_.parent else None
            key = ((above or "") + "/" + name).lower()
            index = equal[key] = equal.get(key, -1) + 1
            yield (self.entry(object_, counter, name, above, index),
                   lambda sample, which=which: self.single_piece(object_, which, counter, sample))

    # ---- the file ----

    def name_records(self, machine):
        """A machine's table in 1 to 14 records, each of which begins with the machine."""
        titles = list(machine.titles.items())
        if self.has("names missing", 0.1):
            titles = [one for one in titles if self.random.random() < 0.8]
        pairs = [text for index, name in titles for text in (str(index), name)]
        count = self.random.randint(1, 14) if self.has("tables in several records", 0.6) else 1
        unit = 1 if self.has("pairs cut between records", 0.1) else 2
        cuts = sorted(unit * self.random.randint(0, len(pairs) // unit) for _ in range(count - 1))
        for first, last in zip([0, *cuts], [*cuts, len(pairs)]):
            end = b"\0\0" if self.has("tables with an end", 0.7) else b""
            yield NAMES, b"".join(map(utf16, [machine.name, *pairs[first:last]])) + end

    def bodies(self):
        """Yields (kind, time, body) of all records of the capture."""
        tables = [one for machine in self.machines for one in self.name_records(machine)]
        if self.has("tables of machines mixed", 0.2) and not self.has("pairs cut between records", 0):
            self.random.shuffle(tables)
        start = self.times[0][1] - 5
        first = self.has("tables first", 0.3)
        for kind, body in tables if first else []:
            yield kind, start, body
        cut = self.random.randint(0, len(self.entries)) if self.has("catalogue in two", 0.1) else len(self.entries)
        for part in (self.entries[:cut], self.entries[cut:]):
            if part:
                yield CATALOGUE, start, bytes.fromhex("ff06000008000200") + b"".join(entry for entry, _ in part)
        late = [] if first else tables
        for sample, (_, time) in enumerate(self.times):
            if sample == (self.samples // 2 if self.has("tables behind samples", 0.1) else 0):
                for kind, body in late:
                    yield kind, time, body
            if sample and sample == self.samples * 2 // 3 and self.has("appended", 0.1):
                self.random.shuffle(self.entries)
                yield CATALOGUE, time, bytes.fromhex("ff06000008000200") + b"".join(one for one, _ in self.entries)
            pieces = b""
            for _, piece in self.entries:
                kind, body = piece(sample)
                pieces += struct.pack("<3sBI", b"BL\3", kind, 8 + len(body)) + body
            yield SAMPLE, time, struct.pack("<3sBI", b"BL\3", 0, 8 + len(pieces)) + pieces
        yield CLOSING, self.times[-1][1], self.random.randbytes(self.random.randint(8, 200))

    def events(self):
        """Yields the records as bytes; long records are divided into several."""
        system = 0x0A if self.has("32 bit", 0.3) else 0x14
        own = self.random.randbytes(16)
        limit = self.random.choice([1000, 7777, 4001]) if self.has("short parts", 0.15) else 8000
        limit = self.random.choice([200, 700]) if self.small else limit
        for kind, time, body in self.bodies():
            parts = [body[at:at + limit] for at in range(0, len(body), limit)] or [b""]
            for number, part in enumerate(parts, 1):
                if self.has("records of others", 0.2) and self.random.random() < 0.2:
                    yield struct.pack("<HBBBBHIIQ", 100, system, 0xC0, SAMPLE, 0, 0x3C, 1, 2, time) \
                        + self.random.randbytes(76)
                yield struct.pack("<HBBBBHIIQ", 72 + len(part), system, 0xC0, kind, 0, 0x3C, 16112, 3484, time) \
                    + CAPTURE + bytes(8) + own + struct.pack("<II", number, len(parts)) + part

    def head(self, size):
        """The first buffer's record."""
        pointer = 4 if self.has("32 bit", 0) else 8
        mode = 0x30020802 if self.has("circular", 0.15) else 0x30020801
        wrong = self.random.choice([0, 1]) if self.has("one size wrong", 0.1) else 2
        sizes = [size if wrong != which else 3 * size for which in (0, 1)]
        name, bias, dates = self.random.choice([
            ("UTC", 0, 0), ("Nepal Standard Time", -345, 0), ("Pacific Standard Time", 480, 1), ("Größe", -60, 0),
            ("AUS Eastern Standard Time", -600, 2)])
        summer, winter = (bytes(16), bytes(16)) if not dates else (
            struct.pack("<8H", 0, 3 if dates == 1 else 10, 0, 2 if dates == 1 else 1, 2, 0, 0, 0),
            struct.pack("<8H", 0, 11 if dates == 1 else 4, 0, 1, 2 if dates == 1 else 3, 0, 0, 0))
        zone = struct.pack("<i64s16si64s16si", bias, utf16(name), winter, 0,
                           utf16(name.replace("Standard", "Daylight")), summer, -60 if dates else 0)
        body = struct.pack("<I", sizes[1]) + bytes(28) + struct.pack("<I", mode) + bytes(8)
        body += struct.pack("<I", pointer) + bytes(8) + bytes(2 * pointer) + zone + bytes(40) + utf16("log") + utf16("x")
        event = struct.pack("<BBBBHH", 0, 0, 1 if pointer == 4 else 2, 0xC0, 32 + len(body), 0) + bytes(24) + body
        return sizes[0], event

    def file(self):
        size = self.random.choice([16384, 32768, 131072]) if self.has("other buffers", 0.2) else 65536
        size = self.random.choice([1024, 1024, 4096]) if self.small else size
        said, event = self.head(size)
        buffers, number, now = [self.buffer(size, 0, rounded(event), said)], 1, b""
        for event in self.events():
            if 72 + len(now) + len(rounded(event)) > size or \
                    now and self.has("buffers that are not full", 0.2) and self.random.random() < 0.1:
                buffers.append(self.buffer(size, number, now, size))
                number, now = number + 1, b""
            now += rounded(event)
        buffers.append(self.buffer(size, number, now, size))
        if self.traits["circular"]:
            rest = buffers[1:]
            self.random.shuffle(rest)
            for _ in range(self.random.randint(0, 2)):
                rest.insert(self.random.randint(1, len(rest)), bytes(72) + b"\xff" * (size - 72))
            buffers[1:] = rest
        return b"".join(buffers)

    def buffer(self, size, number, events, said):
        used = 72 + len(events)
        return struct.pack("<IIIIQQ16sI20s", said, used, used, 0, self.times[0][1], number, b"", used, b"") \
            + events + b"\xff" * (size - used)


def make(seed, without=(), small=False):
    """The capture's bytes, and its traits; `without` has traits that it must not have."""
    maker = Maker(seed, without, small)
    data = maker.file()
    return data, sorted(name for name, there in maker.traits.items() if there)


def main():
    small = sys.argv[1:2] == ["--small"]
    if len(sys.argv) != 3 + small:
        sys.exit(__doc__)
    data, traits = make(int(sys.argv[-2]), (), small)
    with open(sys.argv[-1], "wb") as file:
        file.write(data)
    print(f"{len(data)} bytes: {', '.join(traits)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
