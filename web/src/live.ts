// SPDX-License-Identifier: MIT
// The stream of samples: one request for all counters that the page shows. It ends while the tab is
// hidden, and comes back by itself when the network or the server does.

import { NoSession, ofMachine, request, unreachable } from "./session";

/** A counter's description: its type, and the unit of its values. */
export interface Unit { type: string | null; suffix: string; unit: string; scale?: number; }
export interface Column extends Unit {
    path: string; status: number; raw: boolean; explain: string | null; why: string | null;
}
export type Cell = number | string | null;
export interface Row { name: string; identity: string; cells: Cell[]; }
/** A table: the counters of one object (columns) for all instances that match (rows). */
export interface Table {
    key: string; columns: Column[]; rows: Row[]; tick: number; time: number; reasons: Map<string, number>;
    before?: Set<Series>; /* if there are no rows: what was alive before */
    lines?: ProcessLine[]; /* for a list of processes or of groups */
}
/** A process; a group of `members` processes; or, with 0 members, processor time that no process
 * explains. */
export interface ProcessLine { name: string; identity: string; members: number; values: (number | null)[]; texts: (string | null)[]; }
export interface Series {
    name: string; identity: string; path: string; counter?: Unit; values: (number | null)[]; alive: boolean;
    /** when it began, if that was after the first sample of its counter */
    born?: number;
    /** the band of a value that is the average of several samples */
    least?: (number | null)[]; most?: (number | null)[];
    /** of a capture: the figures of all its samples, and a mark that shows from which of two
     * captures it is */
    whole?: { last: number | null; average: number | null; least: number | null; most: number | null }; mark?: string;
}

const MOST_POINTS = 3900;
const RETRY_FIRST = 500, RETRY_MOST = 10000;
const SILENCE_MOST = 15000; /* in ms; the server sends something every 10 s at least */
/* in intervals: a longer time without a sample is a gap; the interval of averages that the server
 * sends */
export const GAP = 2.5;
const COARSE = 10;

/** Joins successive lists with the same object and instances, because the server makes one table of
 * them. */
function joined(lists: string[]): string[] {
    const front = (list: string) => list.slice(0, list.split("\n", 1)[0].lastIndexOf("\\"));
    return lists.reduce<string[]>((found, list) => {
        const last = found[found.length - 1];
        if (last !== undefined && front(last) === front(list)) found[found.length - 1] = `${last}\n${list}`;
        else found.push(list);
        return found;
    }, []);
}

/** Returns a function that calls `act` at the next frame, once for all calls before it. */
export function onceAFrame(act: () => void): () => void {
    let due = 0;
    return () => { due ||= requestAnimationFrame(() => { due = 0; act(); }); };
}

/** What the page knows of the machine now. `listen` is called after each change. */
export class Live {
    tables: Table[] = [];
    times: number[] = [];
    /** those of `times` at which no sample was taken: they interrupt the lines at gaps */
    made = new Set<number>();
    series = new Map<string, Series>();
    state = "starting";
    problem = "";
    noSession: string | null = null;
    /** Why the connection to the machine is lost; "": it is not. */
    why = "";
    private lists: string[] = [];
    private machine = "";
    private abort: AbortController | null = null;
    private retry = RETRY_FIRST;
    private generation = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private seconds = 1;
    private kept = false;
    private sampled = new Set<string>(); /* paths of which there was a sample */

    private listen: () => void;

    constructor(listen: () => void) {
        this.listen = onceAFrame(listen);
        document.addEventListener("visibilitychange", this.seen);
    }

    private seen = () => this.restart(true);

    /** Ends the stream for good. */
    end(): void {
        this.lists = [];
        document.removeEventListener("visibilitychange", this.seen);
        this.restart();
    }

    /** Watches these lists, one for each table: paths, one in each line, as docs/serve.md
     * describes. */
    watch(wanted: string[], machine = "", _range: [number, number] | null = null): void {
        const lists = joined(wanted);
        if (lists.join("\n") === this.lists.join("\n") && machine === this.machine) return;
        this.lists = lists;
        this.machine = machine;
        this.restart();
    }

    /** Opens a new stream. `keep`: the lists are the same, so the values are kept, followed by a
     * gap. */
    private restart(keep = false): void {
        this.abort?.abort();
        this.abort = null;
        this.generation++;
        if (document.hidden || !this.lists.length) return;
        this.tables = this.lists.map((key) => ({ key, columns: [], rows: [], tick: 0, time: 0, reasons: new Map() }));
        if (!keep) {
            this.series.clear();
            this.sampled.clear();
            this.times = [];
            this.made.clear();
        }
        this.kept = keep;
        void this.run(this.generation);
    }

    private async run(generation: number): Promise<void> {
        this.abort = new AbortController();
        this.watchdog(generation);
        try {
            const answer = await request(ofMachine("/api/live", this.machine), { method: "POST", body: this.lists.join("\n") + "\n", signal: this.abort.signal });
            this.problem = "";
            await this.read(answer.body!.getReader(), generation);
            this.problem = "the server has ended the connection";
        } catch (error) {
            if (generation !== this.generation) return;
            if (error instanceof NoSession) this.noSession = error.message;
            this.problem = this.abort?.signal.aborted ? "the server does not answer" : String((error as Error).message || error);
        }
        if (generation !== this.generation || this.noSession !== null) { this.changed(); return; }
        this.state = "lost";
        this.changed();
        setTimeout(() => { if (generation === this.generation) this.restart(true); }, this.retry);
        this.retry = Math.min(this.retry * 2, RETRY_MOST);
    }

    private async read(reader: ReadableStreamDefaultReader<Uint8Array>, generation: number): Promise<void> {
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            const { value, done } = await reader.read().catch(unreachable);
            if (done || generation !== this.generation) return;
            this.watchdog(generation);
            text += decoder.decode(value, { stream: true });
            const events = text.split("\n\n");
            text = events.pop()!;
            for (const event of events) this.take(JSON.parse(event.slice("data: ".length)));
            this.retry = RETRY_FIRST;
            this.changed();
        }
    }

    /** Ends the request if nothing has arrived for too long, because a lost network reports no
     * error. */
    private watchdog(generation: number): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => { if (generation === this.generation) this.abort?.abort(); }, SILENCE_MOST);
    }

    protected changed(): void {
        this.listen();
    }

    private take(event: any): void {
        const table = this.tables[event.table];
        if (event.event === "source") { this.seconds = event.seconds; this.state = event.state; this.why = event.why ?? ""; }
        else if (event.event === "columns") this.takeColumns(table, event.columns);
        else if (event.event === "rows") this.takeRows(table, event);
        else if (event.event === "history") this.takeHistory(table, event);
    }

    /** An instance that has ended has no row any more, but its counter's unit is still known. */
    private takeColumns(table: Table, columns: Column[]): void {
        table.columns = columns;
        for (const series of this.series.values()) series.counter ??= columns.find((column) => column.path === series.path);
    }

    private takeRows(table: Table, event: any): void {
        const cells: Cell[][] = event.values ?? event.texts;
        table.tick = event.tick;
        table.time = event.time;
        if (event.lines) {
            table.lines = event.lines.map(([name, identity, members, values, texts]: any[]) => ({ name, identity, members, values, texts }));
            return;
        }
        table.rows = event.rows.map(([name, identity]: string[], i: number) => ({ name, identity, cells: cells[i] }));
        table.reasons = new Map(event.reasons.map(([row, column, status]: number[]) => [`${row},${column}`, status]));
        if (!table.key.startsWith("+")) return;
        const at = this.place(event.time);
        const paths = new Set(table.columns.map((column) => column.path)), silent = new Set(table.columns.filter((column) => column.why).map((column) => column.path));
        const known = [...this.series.values()].filter((series) => paths.has(series.path));
        /* of a provider that does not answer it is not known what has ended, and the reason comes later than the first sample without rows */
        table.before = table.rows.length ? undefined : table.before ?? new Set(known.filter((series) => series.alive));
        for (const series of known) series.alive = silent.has(series.path) && (table.before?.has(series) ?? series.alive);
        for (const row of table.rows)
            table.columns.forEach((column, c) => {
                const series = this.find(row.name, row.identity, column.path, this.sampled.has(column.path) ? event.time : undefined);
                series.alive = true;
                series.counter = column;
                series.values[at] = row.cells[c] as number | null;
            });
        for (const path of paths) this.sampled.add(path);
    }

    private takeHistory(table: Table, event: any): void {
        if (this.kept && event.times.length) this.forget(event.times[0]);
        this.kept = false;
        const coarse = event.histories[0]?.columns[0]?.least.length ?? 0;
        event.times.forEach((time: number, i: number) => this.place(time, i < coarse ? COARSE : 1));
        const places: number[] = event.times.map((time: number) => this.times.indexOf(time));
        for (const history of event.histories)
            history.columns.forEach((column: { average: (number | null)[] }, c: number) => {
                const path = table.key.split("\n")[c].slice(1), series = this.find(history.name, history.identity[0], path, history.born);
                this.sampled.add(path);
                column.average.forEach((value, i) => { if (value !== null) series.values[places[i]] = value; });
            });
    }

    private find(name: string, identity: string, path: string, born?: number): Series {
        const key = `${path}\n${identity}`;
        let series = this.series.get(key);
        if (!series) this.series.set(key, (series = { name, identity, path, values: [], alive: true, born }));
        while (series.values.length < this.times.length) series.values.push(null);
        return series;
    }

    /** Forgets the values from this time on, because the server sends them again. */
    private forget(time: number): void {
        const at = this.times.findIndex((each) => each >= time);
        if (at < 0) return;
        this.times.length = at;
        for (const series of this.series.values()) series.values.length = Math.min(series.values.length, at);
    }

    /** Returns the position of a time; adds the time if it is new. All tables of one sample have the
     * same time. */
    private place(time: number, intervals = 1): number {
        let at = this.times.length;
        this.made.delete(time);
        while (at > 0 && this.times[at - 1] >= time) at--;
        if (this.times[at] === time) return at;
        const last = this.times[at - 1], step = this.seconds * 1000 * intervals;
        if (at > 0 && at === this.times.length && time - last > GAP * step) {
            at = this.place(last + step) + 1;
            this.made.add(last + step);
        }
        this.times.splice(at, 0, time);
        for (const series of this.series.values()) series.values.splice(at, 0, null);
        if (this.times.length > MOST_POINTS) {
            this.made.delete(this.times.shift()!);
            for (const series of this.series.values()) series.values.shift();
            at--;
        }
        return at;
    }
}
