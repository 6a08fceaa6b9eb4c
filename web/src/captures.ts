// SPDX-License-Identifier: MIT
// Captures (.blg, .csv, .tsv, also compressed) that the server has read for this page, as a source of
// the same tables and lines as the machine.

import { Column, GAP, Live, ProcessLine, Series, Unit } from "./live";
import { Counter, ObjectType, parts } from "./objects";
import { holes, lives, Mark } from "./past";
import { NoSession, ofMachine, request } from "./session";
import { t } from "./texts";

/** The server's own limit. The server refuses a larger file, too, but only after the whole
 * upload. */
const MOST_BYTES = 256 * 1024 * 1024;
const POINTS = 1500;
const NO_COUNTER = 0xc0000bb9; /* PDH_CSTATUS_NO_COUNTER */

interface Recorded extends Unit { path: string; text: boolean; scale: number; machine: string; object: string; instance: string | null; counter: string; }
export interface Capture {
    id: string; name: string; first: number; last: number; samples: number; loss: string;
    counters: Recorded[]; machines: Set<string>;
}
export interface Statistics { average: number | null; least: number | null; most: number | null; }
export interface Values extends Statistics { path: string; now: number | null; text?: string; line?: (number | null)[]; low?: (number | null)[]; high?: (number | null)[]; }

/** Splits a path of a capture, which begins with a machine. */
export function split(path: string): { machine: string; object: string; instance: string | null; counter: string } {
    const machine = /^\\\\[^\\]+/.exec(path)?.[0] ?? "";
    return { machine, ...parts(path.slice(machine.length)) };
}

export async function upload(file: File): Promise<string> {
    if (file.size > MOST_BYTES) throw new Error(t("{} is larger than 256 MiB. Cut a part out of it by relog -b and -e.", file.name));
    await file.slice(0, 1).arrayBuffer().catch(() => { throw new Error(t("{} cannot be read.", file.name)); }); /* a folder, for example */
    const answer = await request(`/api/captures?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    return (await answer.json()).capture;
}

/** Requests what the server reads from a capture: "counters", "values", or a part of it as a file. */
function requestPart(id: string, what: string, range: Record<string, number> = {}, paths: string[] = []): Promise<Response> {
    const query = new URLSearchParams({ capture: id, ...Object.fromEntries(Object.entries(range).map(([key, value]) => [key, String(Math.round(value))])) });
    return request(`/api/capture/${what}?${query}`, { method: "POST", body: paths.join("\n") });
}

/** The messages are relog's, whose parts the server uses. They call the capture "standard input". */
const readable = (text: string, name: string) => text.replace(/^relog: /gm, "").replace(/standard input/g, name).trim();

/** Returns the unit in the name of a counter whose type is not known: captures as text have none. */
const suffixOf = (path: string) => (/\\%[^\\]*$/.test(path) ? "%" : path.endsWith("/sec") ? "/sec" : "");

export async function readCapture(id: string): Promise<Capture> {
    const { name } = await (await request(`/api/capture?capture=${id}`)).json();
    try {
        const answer = await (await requestPart(id, "counters")).json();
        const counters: Recorded[] = answer.counters.map((each: Recorded) => ({ ...each, ...split(each.path), suffix: each.type ? each.suffix : suffixOf(each.path) }));
        return { ...answer, id, name, counters, loss: readable(answer.loss, name), machines: new Set(counters.map((each) => each.machine.toLowerCase())) };
    } catch (error) {
        if (error instanceof NoSession) throw error;
        const text = readable((error as Error).message, name);
        throw new Error(text.startsWith(name) ? text : `${name}: ${text}`);
    }
}

export async function readValues(capture: Capture, paths: string[], range: Record<string, number> = {}): Promise<{ times: number[]; series: Values[]; loss: string }> {
    const answer = await (await requestPart(capture.id, "values", range, paths)).json();
    return { ...answer, loss: readable(answer.loss, capture.name) };
}

/** Reads a part of the capture as a file: "csv" or "blg". */
export async function readPart(capture: Capture, format: string, paths: string[], from: number, to: number): Promise<Blob> {
    return (await requestPart(capture.id, format, { begin: from, end: to }, paths.map(anyMachine))).blob();
}

/** Reads the raw values of charts that the server keeps, as a BLG. */
export async function readKept(machine: string, paths: string[], from: number, to: number): Promise<Blob> {
    return (await request(ofMachine(`/api/live/blg?begin=${from}&end=${to}`, machine), { method: "POST", body: paths.map(anyMachine).join("\n") })).blob();
}

const anyMachine = (path: string) => (path.startsWith("\\\\") ? path : `\\\\*${path}`);

/** Compares as PDH does: ignoring case; * in the pattern stands for any text. */
function matcher(pattern: string): (text: string) => boolean {
    const expression = new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\?]/g, "\\$&").replace(/\*/g, ".*")}$`, "is");
    return (text) => expression.test(text);
}

/** The objects of a capture as a tree; explanations are those of this machine. */
export function objectsOf(capture: Capture, known: ObjectType[]): ObjectType[] {
    const objects = new Map<string, ObjectType & { names: string[] }>(), seen = new Set<string>();
    const titles = new Map(known.map((each) => [each.name.toLowerCase(), each]));
    for (const each of capture.counters) {
        const key = each.object.toLowerCase(), same = titles.get(key);
        let object = objects.get(key);
        if (!object) objects.set(key, (object = {
            name: same?.name ?? each.object, title: same?.title ?? each.object, explain: same?.explain ?? null, why: null, single: each.instance === null, instances: 0, counters: [], names: [],
        }));
        const once = (what: string) => !seen.has(`${key}\n${what}`) && seen.add(`${key}\n${what}`);
        if (each.instance !== null && once(`(${each.instance.toLowerCase()})`)) object.instances = object.names.push(each.instance);
        if (!once(each.counter.toLowerCase())) continue;
        const counter = same?.counters.find((other) => other.name.toLowerCase() === each.counter.toLowerCase());
        object.counters.push({
            name: counter?.name ?? each.counter, title: counter?.title ?? each.counter, explain: counter?.explain ?? null, type: each.type, suffix: each.suffix,
            unit: counter?.unit ?? each.unit, text: each.text, raw: false,
        } as Counter);
    }
    return [...objects.values()].sort((left, right) => (left.title.toLowerCase() < right.title.toLowerCase() ? -1 : 1));
}

interface Line { path: string; pattern: string; found: Recorded | undefined; takes(path: ReturnType<typeof split>): boolean; }

function linesOf(capture: Capture, list: string): Line[] {
    return list.split("\n").map((text) => {
        const path = text.replace(/^[+=@]/, ""), wanted = split(path);
        const object = matcher(wanted.object), counter = matcher(wanted.counter), instance = wanted.instance === null ? null : matcher(wanted.instance);
        const takes = (other: ReturnType<typeof split>) => object(other.object) && counter(other.counter) &&
            (instance && other.instance !== null ? instance(other.instance) : !instance && other.instance === null);
        return { path, pattern: anyMachine(path), takes, found: capture.counters.find(takes) };
    });
}

/** The values in the list of processes, in the order of tools/model/group.h. For each, the counters
 * that can supply it; the first one that was recorded is used. */
const PROCESS_VALUES = [["ID Process"], ["% Processor Time"], [], ["Working Set - Private", "Private Bytes", "Working Set"], ["Disk Read Bytes/sec", "IO Disk Read Bytes/sec", "IO Read Bytes/sec"],
    ["Disk Write Bytes/sec", "IO Disk Write Bytes/sec", "IO Write Bytes/sec"], ["Thread Count"], ["Elapsed Time"], ["Creating Process ID"]];
const PROCESS_TEXTS = ["User", "State", "Unit", "Control Group", "Command Line"];
const LINE_VALUES = 15, SUMS = [1, 3, 4, 5, 6];

function processPaths(capture: Capture): string[] {
    return ["Process V2", "Process Details", "Process"].flatMap((object) => [...PROCESS_VALUES.flat(), ...PROCESS_TEXTS].map((counter) => `\\${object}(*)\\${counter}`))
        .filter((path) => recorded(capture, path)).map(anyMachine);
}

const recorded = (capture: Capture, path: string) => linesOf(capture, path)[0].found;

/** The processes at the end of the capture, joined into groups as the server joins those of a
 * machine. */
function processesOf(values: (Values & ReturnType<typeof split>)[], group: string): ProcessLine[] {
    const lines = new Map<string, ProcessLine>(), object = values.some((each) => /^process v2$/i.test(each.object)) ? "process v2" : "process";
    for (const each of values) {
        const instance = each.instance ?? "", own = each.object.toLowerCase() === object, key = `${each.machine}${instance}`.toLowerCase();
        if (/^(_total|idle)(:|$)/i.test(instance) || (!own && each.object.toLowerCase() !== "process details")) continue;
        const line = lines.get(key) ?? { name: instance.replace(/:\d+$/, ""), identity: key, members: 1, values: new Array(LINE_VALUES).fill(null), texts: new Array(PROCESS_TEXTS.length).fill(null) };
        const counter = each.counter.toLowerCase(), at = PROCESS_VALUES.findIndex((names) => names.some((name) => name.toLowerCase() === counter));
        const text = PROCESS_TEXTS.findIndex((name) => name.toLowerCase() === counter);
        if (own && at >= 0) line.values[at] ??= each.now;
        if (!own && text >= 0) line.texts[text] = each.text ?? null;
        lines.set(key, line);
    }
    const alive = [...lines.values()].filter((line) => line.values.some((value) => value !== null));
    const by = { user: 0, unit: 2, group: 3 }[group];
    if (group === "process") return alive;
    if (group === "container") return []; /* captures have no names of containers */
    const groups = new Map<string, ProcessLine>();
    for (const line of alive) {
        const name = by === undefined ? line.name : line.texts[by] || "(none)", joined = groups.get(name);
        if (!joined) groups.set(name, { ...line, name, identity: name, texts: line.texts.map(() => null), values: line.values.map((value, i) => (SUMS.includes(i) ? value : null)) });
        else {
            joined.members++;
            for (const i of SUMS) if (line.values[i] !== null) joined.values[i] = (joined.values[i] ?? 0) + line.values[i]!;
        }
    }
    return [...groups.values()];
}

/** Adds a time without values to each gap, where no sample was taken for more than GAP of the usual intervals. */
function addGaps(times: number[], series: Values[]): void {
    const steps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b), usual = steps[Math.floor(steps.length / 2)];
    for (let at = times.length - 1; at > 0; at--) {
        if (times[at] - times[at - 1] <= GAP * usual) continue;
        times.splice(at, 0, times[at - 1] + 1);
        for (const each of series) for (const values of [each.line, each.low, each.high]) values?.splice(at, 0, null);
    }
}

/** Shows captures in place of the machine: one, or two, whose lines then begin at the same place of
 * the chart. */
export class Recording extends Live {
    private requested = "";
    /** the part of the first capture that charts show; null: all */
    private range: [number, number] | null = null;
    loss = "";

    constructor(listen: () => void, readonly captures: Capture[]) {
        super(listen);
        this.state = "complete"; /* until lists are watched */
        this.loss = captures.map((capture) => capture.loss).filter(Boolean).join("\n");
    }

    /** What is to be seen of one capture on its time axis: gaps, instances that begin and end. */
    get marks(): Mark[] {
        if (this.captures.length > 1) return [];
        const series = [...this.series.values()];
        return [...holes(this.times.map((time, i) => [time, i]), series), ...lives(series, this.times, Infinity, () => false)].sort((a, b) => b.time - a.time);
    }

    override watch(lists: string[], _machine = "", range: [number, number] | null = null): void {
        const requested = [...lists, String(range)].join("\n\n");
        if (requested === this.requested || !lists.length) return;
        this.requested = requested;
        this.range = range;
        this.tables = lists.map((key) => ({ key, columns: [], rows: [], tick: 0, time: 0, reasons: new Map() }));
        this.series = new Map();
        this.times = [];
        this.state = "starting";
        this.problem = "";
        void this.load(lists, this.requested);
    }

    private async load(lists: string[], requested: string): Promise<void> {
        try {
            for (const capture of this.captures) await this.loadOne(capture, lists, requested);
        } catch (error) {
            if (error instanceof NoSession) this.noSession = error.message;
            else this.problem = String((error as Error).message || error);
        }
        if (requested !== this.requested) return;
        this.state = "complete";
        this.changed();
    }

    /** Reads the lists of one capture: those for charts with their values over time; the others
     * without these, and of the first capture only. */
    private async loadOne(capture: Capture, lists: string[], requested: string): Promise<void> {
        const shift = this.captures[0].first - capture.first;
        for (const chart of [true, false]) {
            const places = lists.map((list, i) => ({ i, list })).filter(({ list }) => list.startsWith("+") === chart && !list.startsWith("#"));
            const found = places.map(({ i, list }) => ({ i, lines: linesOf(capture, list) }));
            const processes = chart ? -1 : lists.findIndex((list) => list.startsWith("#"));
            const paths = (processes < 0 ? [] : processPaths(capture)).concat(found.flatMap(({ lines }) => lines.filter((line) => line.found).map((line) => line.pattern)));
            if (!paths.length || (!chart && capture !== this.captures[0])) continue;
            const answer = await readValues(capture, [...new Set(paths)], { points: chart ? POINTS : 0, ...(chart && this.range ? { begin: this.range[0] - shift, end: this.range[1] - shift } : {}) });
            if (requested !== this.requested) return;
            if (chart) addGaps(answer.times, answer.series);
            if (answer.loss && !this.loss.includes(answer.loss)) this.loss = [this.loss, answer.loss].filter(Boolean).join("\n");
            const values = answer.series.map((each) => ({ ...each, ...split(each.path) }));
            if (processes >= 0) this.tables[processes] = { ...this.tables[processes], lines: processesOf(values, lists[processes].slice(1)), tick: 1, time: capture.last };
            for (const { i, lines } of found) {
                if (capture === this.captures[0]) this.fillTable(i, capture, lines, values);
                if (chart) this.addSeries(capture, lines, values, answer.times);
            }
            this.changed();
        }
    }

    private name(capture: Capture, path: ReturnType<typeof split>): string {
        return (capture.machines.size > 1 ? `${path.machine.slice(2)}: ` : "") + (path.instance ?? "");
    }

    private fillTable(at: number, capture: Capture, lines: Line[], values: (Values & ReturnType<typeof split>)[]): void {
        const table = this.tables[at], rows = new Map<string, { name: string; identity: string; cells: (number | string | null)[] }>();
        lines.forEach((line, column) => values.filter((each) => line.takes(each)).forEach((each) => {
            const name = this.name(capture, each), key = name.toLowerCase();
            if (!rows.has(key)) rows.set(key, { name, identity: key, cells: lines.map(() => null) });
            rows.get(key)!.cells[column] = each.now ?? each.text ?? null;
        }));
        table.columns = lines.map((line) => ({
            path: line.path, status: line.found ? 0 : NO_COUNTER, type: line.found?.type ?? null, suffix: line.found?.suffix ?? "", unit: line.found?.unit ?? "",
            raw: false, scale: line.found?.scale ?? 0, explain: null, why: line.found ? null : t("The capture does not have this counter."),
        } as Column));
        table.rows = [...rows.values()].filter((row) => row.cells.some((cell) => cell !== null));
        table.tick = 1;
        table.time = capture.last;
    }

    private addSeries(capture: Capture, lines: Line[], values: (Values & ReturnType<typeof split>)[], times: number[]): void {
        const second = capture !== this.captures[0], shift = second ? this.captures[0].first - capture.first : 0;
        const place = this.addTimes(times.map((time) => time + shift));
        const spread = (values: (number | null)[]) => {
            const all: (number | null)[] = new Array(this.times.length).fill(undefined);
            values.forEach((value, i) => { all[place[i]] = value; });
            return all;
        };
        for (const line of lines)
            for (const each of values.filter((other) => line.takes(other))) {
                const name = this.name(capture, each), key = `${line.path}\n${second ? "B:" : ""}${name.toLowerCase()}`;
                const series: Series = {
                    name, identity: key.slice(line.path.length + 1), path: line.path, counter: line.found, alive: true,
                    values: spread(each.line!), whole: { last: each.now, average: each.average, least: each.least, most: each.most },
                    ...(each.low ? { least: spread(each.low), most: spread(each.high!) } : {}),
                    mark: this.captures.length > 1 ? (second ? "B" : "A") : undefined,
                };
                this.series.set(key, series);
            }
    }

    /** Adds these times to the times that are there, and returns their positions. At the times of
     * another capture a value is undefined, which is no gap; a gap is null. */
    private addTimes(times: number[]): number[] {
        const all = [...new Set([...this.times, ...times])].sort((left, right) => left - right);
        const place = new Map(all.map((time, i) => [time, i]));
        for (const series of this.series.values()) {
            for (const key of ["values", "least", "most"] as const) {
                const values = new Array(all.length).fill(undefined);
                series[key]?.forEach((value, i) => { values[place.get(this.times[i])!] = value; });
                if (series[key]) series[key] = values;
            }
        }
        this.times = all;
        return times.map((time) => place.get(time)!);
    }
}

/** What differs between two captures: the averages, the largest relative difference first. */
export interface Difference { path: string; a: number | null; b: number | null; difference: number | null; relative: number | null; counter: Unit | undefined; }

export async function compare(captures: Capture[]): Promise<Difference[]> {
    const sides: Map<string, Values>[] = [];
    for (const capture of captures) {
        const several = capture.machines.size > 1;
        const { series } = await readValues(capture, []);
        sides.push(new Map(series.filter((each) => each.text === undefined).map((each) =>
            [several ? each.path : each.path.slice(split(each.path).machine.length), each])));
    }
    const lower = sides.map((side) => new Map([...side].map(([path, values]) => [path.toLowerCase(), { path, average: values.average }])));
    const units = new Map(captures.flatMap((capture) => capture.counters.map((each) => [each.path.slice(each.machine.length).toLowerCase(), each as Unit] as const)));
    const found = [...new Set([...lower[0].keys(), ...lower[1].keys()])].map((key): Difference => {
        const a = lower[0].get(key)?.average ?? null, b = lower[1].get(key)?.average ?? null;
        const difference = a === null || b === null ? null : b - a;
        const path = (lower[0].get(key) ?? lower[1].get(key)!).path;
        return { path, a, b, difference, relative: difference === null ? null : difference === 0 ? 0 : difference / Math.abs(a!), counter: units.get(path.slice(split(path).machine.length).toLowerCase()) };
    });
    const size = (value: number | null) => (value === null ? -1 : Math.abs(value));
    return found.sort((left, right) => size(right.relative) - size(left.relative) || size(right.difference) - size(left.difference) || 0);
}
