// SPDX-License-Identifier: MIT
// The past of counters, from the server's set of captures, joined with what this page has in memory.
// A few means come at first, then means and bands of minimum and maximum from all samples.

import { clock } from "./format";
import { type Live, onceAFrame, type Series, type Table, type Unit } from "./live";
import { NoSession, ofMachine, request, unreachable } from "./session";

export interface Mark { time: number; kind: "event" | "gap" | "start" | "birth" | "death" | "join" | "hole"; level: string; text: string; }
/** Values over time as the chart and its legend show them. */
export interface Shown { times: number[]; made: Set<number>; series: Map<string, Series>; tables: Table[]; reading?: boolean; }
interface PastSeries { name: string; average: (number | null)[]; least?: (number | null)[]; most?: (number | null)[]; }
interface PastTable { times: number[]; series: PastSeries[]; few: boolean; more: boolean; }
/** `from`, `to`: the section of time that has these values; `to` is after it. */
interface Section extends PastTable { from: number; to: number; }

const BUCKETS = 800;
const RETRY = 5000; /* ms; as after a restart of the server, or when it has too many requests */
const LEAST = 60000; /* ms; a chart that was just opened is not all empty */

/** A range of time: the last `seconds`, or as long as there are values if it `grows`; or from and to in ms since
 * 1970. */
export type Range = { seconds: number; grows?: boolean } | { from: number; to: number };
export const SPANS: Record<string, number> = { "5m": 300, "1h": 3600, "1d": 86400, "7d": 7 * 86400, "14d": 14 * 86400 };
export const USUAL = "5m";

export function rangeOf(text: string): Range {
    const found = /^(\d{12,14})-(\d{12,14})$/.exec(text);
    if (found && Number(found[1]) < Number(found[2])) return { from: Number(found[1]), to: Number(found[2]) };
    return text in SPANS ? { seconds: SPANS[text] } : { seconds: SPANS[USUAL], grows: true };
}

export function endsOf(range: Range, now: number): { from: number; to: number } {
    return "seconds" in range ? { from: now - range.seconds * 1000, to: now } : range;
}

export class Past {
    tables = new Map<string, PastTable>();
    events: Mark[] = [];
    /** `why`: why there are no values; `lost`: what could not be read; `eventsWhy`: why there are no
     * events. */
    why = "";
    lost = "";
    own = ""; /* the folder of the set, if it is not the system's */
    eventsWhy = "";
    reading = false;
    noSession: string | null = null;
    private wanted = "";
    private from = 0;
    private to = 0; /* the ends of the range that is read */
    private abort: AbortController | null = null;

    private listen: () => void;

    constructor(listen: () => void) { this.listen = onceAFrame(listen); }

    /** Reads the recorded values of these paths, unless they were requested before. A range that
     * ends now is read again from time to time. */
    read(paths: string[], range: Range, machine: string): void {
        const now = Date.now(), { from, to } = endsOf(range, now);
        const again = "seconds" in range ? Math.floor(now / Math.max(60000, range.seconds * 10)) : 0;
        const wanted = JSON.stringify([paths, range, machine, again]);
        if (wanted === this.wanted) return;
        const moved = !this.wanted || JSON.stringify(JSON.parse(this.wanted).slice(0, 3)) !== JSON.stringify([paths, range, machine]);
        this.wanted = wanted;
        this.abort?.abort();
        for (const path of [...this.tables.keys()]) if (!paths.includes(path)) this.tables.delete(path);
        if (!paths.length) return;
        this.reading = true;
        this.abort = new AbortController();
        [this.from, this.to] = [Math.floor(from), Math.ceil(to)];
        void this.run(paths, this.from, this.to, machine, moved, this.abort);
    }

    private async run(paths: string[], from: number, to: number, machine: string, moved: boolean, abort: AbortController): Promise<void> {
        try {
            const answer = await request(ofMachine(`/api/history?from=${from}&to=${to}&buckets=${BUCKETS}`, machine),
                { method: "POST", body: paths.join("\n") + "\n", signal: abort.signal });
            const reader = answer.body!.getReader(), decoder = new TextDecoder();
            let text = "";
            for (;;) {
                const { value, done } = await reader.read().catch(unreachable);
                if (done || abort.signal.aborted) break;
                text += decoder.decode(value, { stream: true });
                const events = text.split("\n\n");
                text = events.pop()!;
                for (const event of events) this.take(JSON.parse(event.slice("data: ".length)), moved);
                this.listen();
            }
        } catch (error) {
            if (abort.signal.aborted) return;
            if (error instanceof NoSession) this.noSession = error.message;
            this.why = String((error as Error).message || error);
            setTimeout(() => { if (!abort.signal.aborted) { this.wanted = ""; this.listen(); } }, RETRY);
        }
        if (!abort.signal.aborted) this.reading = false;
        this.listen();
    }

    private take(event: any, moved: boolean): void {
        if (event.event === "marks") {
            this.eventsWhy = event.why ?? "";
            this.events = event.marks.map((mark: any) => ({
                time: Date.parse(mark.time), kind: "event", level: mark.level, text: `${mark.source} ${mark.id} ${mark.service}: ${mark.text}`,
            }));
        } else if (event.event === "end") {
            this.why = event.why ?? "";
            this.lost = event.lost;
            this.own = event.own ?? "";
        } else if (event.event === "bands") {
            this.tables.set(event.path, this.merged(this.tables.get(event.path), event));
        } else if (moved || !this.tables.has(event.path)) {
            this.tables.set(event.path, { ...event, few: true });
        }
    }

    /** Replaces the values of a section. Until the last section has come, those after it are means. */
    private merged(old: PastTable | undefined, section: Section): PastTable {
        const rows = (old?.times ?? []).map((time, i) => ({ time, i })), series = new Map(old?.series.map((each) => [each.name, each]));
        const before = rows.filter(({ time }) => time >= this.from && time < section.from), after = rows.filter(({ time }) => time >= section.to);
        const found = new Map(section.series.map((each) => [each.name, each]));
        const join = (name: string, figure: "average" | "least" | "most") => {
            const was = series.get(name)?.[figure], now = found.get(name)?.[figure];
            return [...before.map(({ i }) => was?.[i] ?? null), ...section.times.map((_, i) => now?.[i] ?? null), ...after.map(({ i }) => was?.[i] ?? null)];
        };
        const joined = [...new Set([...found.keys(), ...series.keys()])].map((name) => ({ name, average: join(name, "average"), least: join(name, "least"), most: join(name, "most") }));
        return {
            times: [...before.map(({ time }) => time), ...section.times, ...after.map(({ time }) => time)], few: section.to < this.to, more: section.more,
            series: joined.filter((each) => found.has(each.name) || each.average.some((value) => value !== null)),
        };
    }

    /** Joins what is shown of the range: recorded values up to the time at which the server's memory
     * begins, then those in memory. */
    joined(live: Live, range: Range, unitOf: (path: string) => Unit | undefined): Shown & { marks: Mark[]; from: number; to: number; more: boolean } {
        const last = live.times[live.times.length - 1] ?? Date.now(), { from, to } = endsOf(range, last);
        const begin = live.times.length ? live.times[0] : Infinity;
        const inside = (time: number) => time >= from && time <= to;
        const pasts = [...this.tables].map(([path, table]) => ({ path, table, rows: table.times.map((time, i) => [time, i]).filter(([time]) => inside(time) && time < begin) }));
        const memory = live.times.map((time, i) => [time, i]).filter(([time]) => inside(time));
        const first = memory[0]?.[1] ?? 0, onlyMemory = !pasts.some(({ rows }) => rows.length); /* then values are copied as a whole: faster */
        /* where the set ended long before the memory begins, a time without values interrupts the
         * lines */
        const ends = pasts.filter(({ table, rows }) => rows.length && begin < to && begin - rows[rows.length - 1][0] > 2.5 * usualStep(table)).map(({ rows }) => rows[rows.length - 1][0] + 1);
        const times = onlyMemory ? memory.map(([time]) => time) : [...new Set([...pasts.flatMap(({ rows }) => rows.map(([time]) => time)), ...ends, ...memory.map(([time]) => time)])].sort((a, b) => a - b);
        const places = new Map(onlyMemory ? [] : times.map((time, i) => [time, i]));
        const series = new Map<string, Series>();
        for (const [key, each] of live.series) {
            const values: (number | null)[] = onlyMemory ? each.values.slice(first, first + memory.length) : new Array(times.length);
            if (!onlyMemory) for (const [time, i] of memory) values[places.get(time)!] = each.values[i] ?? null;
            series.set(key, { ...each, values });
        }
        for (const { path, table, rows } of pasts) if (rows.length)
            for (const each of table.series) this.joinOne(series, path, unitOf(path), each, rows, places, times.length);
        for (const end of ends) for (const each of series.values()) each.values[places.get(end)!] = null;
        /* for a range in the past, an instance has a line only if it existed then */
        if (to < last) for (const [key, each] of series) if (!each.values.some((value) => value !== null && value !== undefined)) series.delete(key);
        /* what has no instances does not end */
        for (const each of series.values()) each.alive ||= !each.name;
        /* if nothing of a path is there any more, its instances have ended, and the set may have gone on */
        const whole = pasts.filter(({ path }) => [...series.values()].some((each) => each.path === path && each.alive));
        const stops = whole.map(({ rows }) => rows[rows.length - 1]?.[0] + 1).filter((time) => ends.includes(time)).map((time): Mark => ({ time, kind: "gap", level: "", text: "" }));
        const marks = this.marks([...whole.flatMap(({ table, rows }) => gaps(table, rows)), ...stops], [...series.values()], times, from, to, begin);
        if (begin > from && begin < to && pasts.some(({ rows }) => rows.length)) marks.push({ time: begin, kind: "join", level: "", text: "" });
        marks.push(...holes(memory, [...live.series.values()]));
        const same = new Set<string>(); /* several counters of one set have the same gaps */
        const each = marks.filter((mark) => { const key = JSON.stringify(mark), known = same.has(key); same.add(key); return !known; });
        const made = new Set([...live.made, ...ends, ...pasts.flatMap(({ table, rows }) => rows.filter(([, i]) => isMade(table, i)).map(([time]) => time))]);
        const shown = "grows" in range ? Math.max(from, Math.min(times[0] ?? to, to - LEAST)) : from;
        return { times, made, series, tables: live.tables, reading: this.reading, marks: each.sort((a, b) => b.time - a.time), from: shown, to, more: pasts.some(({ table }) => table.more) };
    }

    private joinOne(all: Map<string, Series>, path: string, counter: Unit | undefined, past: PastSeries, rows: number[][], places: Map<number, number>, size: number): void {
        const found = [...all.values()].filter((each) => each.path === path && each.name === past.name);
        let series = found.find((each) => each.alive) ?? found[0];
        if (!series) {
            series = { name: past.name, identity: `past ${past.name}`, path, counter, values: new Array(size), alive: false };
            all.set(`${path}\n${series.identity}`, series);
        }
        if (past.least) series.least = new Array(size);
        if (past.most) series.most = new Array(size);
        for (const [time, i] of rows) {
            const at = places.get(time)!;
            series.values[at] = past.average[i];
            if (past.least) series.least![at] = past.least[i];
            if (past.most) series.most![at] = past.most[i];
        }
    }

    /** Makes the marks on the time axis: logged events, gaps of the set, instances that begin and
     * end. */
    private marks(gaps: Mark[], series: Series[], times: number[], from: number, to: number, memory: number): Mark[] {
        return [...this.events.filter((mark) => mark.time >= from && mark.time <= to), ...gaps, ...lives(series, times, memory)];
    }
}

/** Returns marks where instances begin and end. In memory, from the time `memory` on, it is known which instances have
 * begun. Of recorded values, what is there at the beginning has not begun then, also if its values need two samples.
 * What is alive has not ended. */
export function lives(series: Series[], times: number[], memory = Infinity, alive = (each: Series) => each.alive): Mark[] {
    const known = (value: number | null | undefined) => value !== null && value !== undefined, marks: Mark[] = [];
    const begun = series.reduce((least, each) => { const first = each.values.findIndex(known); return first < 0 ? least : Math.min(least, first); }, Infinity);
    for (const each of series) {
        if (!each.name) continue;
        const first = each.values.findIndex(known);
        let last = each.values.length - 1;
        while (last > first && !known(each.values[last])) last--;
        const begins = times[first] >= memory ? each.born !== undefined && each.born > times[0] : first > begun + 1;
        if (begins) marks.push({ time: times[first], kind: "birth", level: "", text: each.name });
        if (first >= 0 && last < times.length - 2 && !alive(each)) marks.push({ time: times[last], kind: "death", level: "", text: each.name });
    }
    return marks;
}

/** Returns a mark for each time without any sample; `memory` has times, and their places among the values. */
export function holes(memory: number[][], series: Series[]): Mark[] {
    const empty = (i: number) => series.every((each) => typeof each.values[i] !== "number"), marks: Mark[] = [];
    for (let at = 1; at < memory.length && series.length; at++) {
        const begin = at;
        while (at < memory.length && empty(memory[at][1])) at++;
        if (at > begin && at < memory.length && !empty(memory[begin - 1][1])) marks.push({ time: memory[begin][0], kind: "hole", level: "", text: clock(memory[at][0]) });
    }
    return marks;
}

/** Returns the usual time between two rows, in ms. */
function usualStep(table: PastTable): number {
    const steps = table.times.slice(1).map((time, i) => time - table.times[i]).filter((step) => step > 1).sort((a, b) => a - b);
    return Math.max(steps[Math.floor(steps.length / 2)] ?? 0, table.few ? 3600000 : 15000);
}

/** Whether the server has put this time after a sample, without values, because a gap follows. */
const isMade = (table: PastTable, at: number) => table.times[at - 1] === table.times[at] - 1;

/** Returns the gaps of the set. */
function gaps(table: PastTable, rows: number[][]): Mark[] {
    const marks: Mark[] = [];
    if (table.few) return marks;
    rows.forEach(([time, i], at) => {
        if (at === 0 || at === rows.length - 1 || !isMade(table, i)) return;
        marks.push({ time: time - 1, kind: "gap", level: "", text: "" }, { time: rows[at + 1][0], kind: "start", level: "", text: "" });
    });
    return marks;
}
