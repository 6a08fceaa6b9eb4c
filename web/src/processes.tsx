// SPDX-License-Identifier: MIT
// The list of processes, as a tree of parents, or joined by program, user, unit, container or control
// group; and one process with its counters over time. The server joins them as perfmon does.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Axis, Chart, linesOf, NoValues } from "./chart";
import { bytes, duration } from "./format";
import { Legend } from "./legend";
import type { Live, ProcessLine } from "./live";
import type { Shown } from "./past";
import type { State } from "./state";
import { decimal, t, Text } from "./texts";

/* the order of tools/model/group.h */
enum Value { Pid, Cpu, Time, Memory, Read, Written, Threads, Elapsed, Parent, MemoryLimit, CpuLimit, Throttled, CpuWait, MemoryWait, DiskWait }
enum Words { User, State, Unit, Group, Command }

const percent = (value: number) => `${decimal(value.toFixed(1))}\u202f%`;
const whole = (value: number) => String(value);
const rate = (value: number) => bytes(value, "/s");
/** `only`: the column is shown only in the list of processes, or only in lists of groups. */
const COLUMNS: { id: string; at: Value; title: Text; text(value: number): string; only?: "process" | "group" }[] = [
    { id: "pid", at: Value.Pid, title: "PID", text: whole, only: "process" },
    { id: "cpu", at: Value.Cpu, title: "CPU", text: percent },
    { id: "time", at: Value.Time, title: "CPU time", text: duration },
    { id: "memory", at: Value.Memory, title: "Memory", text: (value) => bytes(value) },
    { id: "read", at: Value.Read, title: "Read", text: rate },
    { id: "written", at: Value.Written, title: "Written", text: rate },
    { id: "threads", at: Value.Threads, title: "Threads", text: whole },
    { id: "age", at: Value.Elapsed, title: "Age", text: duration, only: "process" },
    { id: "maxmem", at: Value.MemoryLimit, title: "Memory limit", text: (value) => bytes(value), only: "group" },
    { id: "maxcpu", at: Value.CpuLimit, title: "CPU limit", text: percent, only: "group" },
    { id: "throttle", at: Value.Throttled, title: "Throttled", text: percent, only: "group" },
    { id: "cpuwait", at: Value.CpuWait, title: "Waits for CPU", text: percent, only: "group" },
    { id: "memwait", at: Value.MemoryWait, title: "Waits for memory", text: percent, only: "group" },
    { id: "iowait", at: Value.DiskWait, title: "Waits for disks", text: percent, only: "group" }];
const WORDS: { id: string; at: Words; title: Text }[] = [
    { id: "user", at: Words.User, title: "User" }, { id: "state", at: Words.State, title: "State" },
    { id: "unit", at: Words.Unit, title: "Unit" }, { id: "command", at: Words.Command, title: "Command" }];
export const GROUPS: [string, Text][] = [["process", "single"], ["program", "by program"], ["user", "by user"], ["unit", "by unit"],
    ["container", "by container"], ["group", "by control group"]];
const MOST_ROWS = 1000;

const instanceOf = (line: ProcessLine) => `${line.name}:${line.values[Value.Pid]}`;

/** The charts of one process, which share a legend. */
const CHARTS: [Text, string, string[]][] = [
    ["Processors", "Process V2", ["% Processor Time", "% User Time", "% Privileged Time"]],
    ["Memory", "Process V2", ["Working Set", "Private Bytes"]],
    ["Threads and open files", "Process V2", ["Thread Count", "Handle Count"]],
    ["Disks", "Process IO", ["IO Disk Read Bytes/sec", "IO Disk Write Bytes/sec", "IO Read Bytes/sec", "IO Write Bytes/sec"]]];

export function processLists(state: State): string[] {
    if (!state.process) return [`#${state.group || "process"}`];
    const [own, io] = ["Process V2", "Process IO"].map((wanted) => CHARTS.filter(([, object]) => object === wanted).flatMap(([, , counters]) => counters));
    /* in Process IO, names have no process number, so several processes may have the same name */
    const program = state.process.replace(/:[^:]*$/, "");
    return ["#process", own.map((name) => `+\\Process V2(${state.process})\\${name}`).join("\n"),
        ["ID Process", ...io].map((name) => `+\\Process IO(${program}*)\\${name}`).join("\n")];
}

/** Makes a filter of words. A word such as "user:www" or "cpu>5" tests one column. */
function filterOf(filter: string): (line: ProcessLine) => boolean {
    const tests = filter.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
        const [, id, sign, wanted] = /^(\w+)([:>])(.+)$/.exec(word) ?? [];
        const column = COLUMNS.find((each) => each.id === id), text = WORDS.find((each) => each.id === id);
        if (sign === ">" && column) return (line: ProcessLine) => (line.values[column.at] ?? -Infinity) > Number(wanted);
        if (sign === ":" && text) return (line: ProcessLine) => (line.texts[text.at] ?? "").toLowerCase().includes(wanted);
        return (line: ProcessLine) => [line.name, String(line.values[Value.Pid]), ...line.texts].some((each) => (each ?? "").toLowerCase().includes(word));
    });
    return (line) => tests.every((test) => test(line));
}

interface Node { line: ProcessLine; depth: number; children: Node[]; }

/** Puts the lines below their parents, and keeps their order. The number of a parent that has ended
 * may belong to a process that began later than the child: that is not its parent. */
function treeOf(lines: ProcessLine[]): Node[] {
    const nodes = new Map(lines.map((line) => [line.values[Value.Pid], { line, depth: 0, children: [] as Node[] }])), roots: Node[] = [];
    for (const node of nodes.values()) {
        const parent = nodes.get(node.line.values[Value.Parent]);
        const older = parent && parent !== node && (parent.line.values[Value.Elapsed] ?? 0) >= (node.line.values[Value.Elapsed] ?? 0);
        (older ? parent.children : roots).push(node);
    }
    return roots;
}

function walk(nodes: Node[], depth: number, keep: (line: ProcessLine) => boolean, folded: Set<string>): Node[] {
    return nodes.flatMap((node) => {
        const below = walk(node.children, depth + 1, keep, folded);
        if (!below.length && !keep(node.line)) return [];
        return [{ ...node, depth }, ...(folded.has(node.line.identity) ? [] : below)];
    });
}

function nameOf(line: ProcessLine, group: string, machine: string): string {
    if (line.name === "(host)") return t("(host {})", machine);
    if (["(none)", "(not known)", "(ended)", "(not listed)"].includes(line.name)) return t(line.name as Text);
    return group === "container" ? line.name.replace(/\\x([0-9a-f]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16))) : line.name;
}

/** `most`: shows only the first `most` lines, and no choice of groups. */
export function ProcessList({ live, state, machine, change, most }: { live: Live; state: State; machine: string; change(part: Partial<State>): void; most?: number }) {
    const [folded, setFolded] = useState(new Set<string>());
    const group = (!most && state.group) || "process", single = group === "process", tree = single && !most && state.tree;
    const table = live.tables.find((each) => each.key.split(" ")[0] === `#${group}`), lines = table?.lines ?? [];
    const sort = state.sort || (tree ? "pid" : "-cpu"), down = sort.startsWith("-"), id = down ? sort.slice(1) : sort;
    const keep = filterOf(state.filter);
    const columns = COLUMNS.filter((each) => (each.only !== "process" || single) && (each.only !== "group" || (!single && lines.some((line) => line.values[each.at] !== null))));
    const texts = single ? WORDS : [];
    const key = (line: ProcessLine): number | string | null => {
        const column = COLUMNS.find((each) => each.id === id), text = WORDS.find((each) => each.id === id);
        return column ? line.values[column.at] : text ? line.texts[text.at] ?? null : line.name.toLowerCase();
    };
    const sorted = [...lines].sort((left, right) => {
        const a = key(left), b = key(right);
        if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    const nodes: Node[] = tree ? walk(treeOf(sorted), 0, keep, folded) : sorted.filter(keep).map((line) => ({ line, depth: 0, children: [] }));
    const fold = (identity: string) => setFolded((old) => { const next = new Set(old); if (!next.delete(identity)) next.add(identity); return next; });
    const head = (column: string, title: Text, text: boolean) => (
        <th key={column} scope="col" class={text ? "" : "number"} aria-sort={id === column ? (down ? "descending" : "ascending") : undefined}>
            <button onClick={() => change({ sort: id === column ? (down ? column : `-${column}`) : text || column === "pid" ? column : `-${column}` })}>{t(title)}</button></th>);
    const count = nodes.filter((node) => node.line.members).length, limit = most ?? MOST_ROWS;
    return (
        <section>
            {!most && <div class="toolbar">
                <label>{t("Processes")} <select value={group} onChange={(event) => change({ group: event.currentTarget.value, sort: "" })}>
                    {GROUPS.map(([value, title]) => <option key={value} value={value}>{t(title)}</option>)}</select></label>
                {single && <label><input type="checkbox" checked={state.tree} onChange={() => change({ tree: !state.tree, sort: "" })} /> {t("Tree of parents")}</label>}
            </div>}
            <div class="scroll">
                <table class="data processes">
                    <caption>{most ? t("Busiest processes") : t("{} lines", count)}{!most && nodes.length > limit ? `, ${t("the first {} are shown", limit)}` : ""}</caption>
                    <thead><tr>{head("name", "Name", true)}{columns.map((each) => head(each.id, each.title, false))}{texts.map((each) => head(each.id, each.title, true))}</tr></thead>
                    <tbody>{nodes.slice(0, limit).map(({ line, depth, children }) => (
                        <tr key={line.identity}>
                            <th scope="row" title={line.name === "(ended)" ? t("Processor time of processes that ended since the sample before") : line.name} style={depth ? { paddingLeft: `${0.5 + depth}rem` } : {}}>
                                {tree && children.length > 0 && <button aria-expanded={!folded.has(line.identity)} aria-label={t("Processes below {}", line.name)} onClick={() => fold(line.identity)}>{folded.has(line.identity) ? "▸" : "▾"}</button>}
                                {single && line.members ? <button class="link" onClick={() => change({ process: instanceOf(line) })}>{line.name}</button> : nameOf(line, group, machine)}
                                {line.members > 1 && ` (${line.members})`}</th>
                            {columns.map((each) => { const value = line.values[each.at]; return <td key={each.id} class="number">{value === null ? "–" : each.text(value)}</td>; })}
                            {texts.map((each) => <td key={each.id} title={each.at === Words.Command ? line.texts[each.at] ?? "" : undefined}>{line.texts[each.at]}</td>)}
                        </tr>))}
                    </tbody>
                </table>
            </div>
            {lines.some((line) => line.members && line.values[Value.Read] === null) && <p class="note">{t("–: this user may not read it, or the value needs two samples.")}</p>}
        </section>
    );
}

/** The paths in these lists. */
export const processPaths = (state: State): string[] => processLists(state).flatMap((list) => list.split("\n")).filter((line) => line.startsWith("+")).map((line) => line.slice(1));

/** Shows one process, with `children` above its charts. The charts stay when the process has ended. */
export function ProcessDetails({ live, axis, state, change, children }: { live: Shown; axis?: Axis; state: State; change(part: Partial<State>): void; children: ComponentChildren }) {
    const line = live.tables[0]?.lines?.find((each) => instanceOf(each) === state.process);
    const io = live.tables[2]?.rows.find((row) => String(row.cells[0]) === state.process.split(":").pop())?.identity;
    const all = linesOf(live, state.hidden, state.marked, false)
        .filter(({ series }) => series.path.startsWith("\\Process V2(") || (series.identity === io && !series.path.endsWith("\\ID Process")));
    const toggle = (name: string) => change({ hidden: state.hidden.includes(name) ? state.hidden.filter((each) => each !== name) : [...state.hidden, name] });
    return (
        <section>
            <p><button class="link" onClick={() => change({ process: "" })}>← {t("All processes")}</button></p>
            <h2>{state.process}{line || !live.tables[0]?.lines?.length ? "" : ` ${t("(ended)")}`}</h2>
            {line && <dl>{WORDS.map((each) => line.texts[each.at] ? <div key={each.id}><dt>{t(each.title)}</dt><dd>{line.texts[each.at]}</dd></div> : null)}
                {COLUMNS.filter((each) => each.only !== "group" && line.values[each.at] !== null).map((each) => <div key={each.id}><dt>{t(each.title)}</dt><dd>{each.text(line.values[each.at]!)}</dd></div>)}</dl>}
            {children}
            <div class="charts">{CHARTS.map(([title, object, counters]) => {
                const lines = all.filter((each) => counters.some((name) => each.series.path.startsWith(`\\${object}(`) && each.series.path.endsWith(`)\\${name}`)));
                return (lines.length > 0 || !all.length) && <section key={title}><h3>{t(title)}</h3><Chart live={live} lines={lines} one={false} height={190} axis={axis} /><NoValues live={live} lines={lines} /></section>;
            })}</div>
            <Legend live={live} lines={all} sort={state.legend} setSort={(legend) => change({ legend })} toggle={toggle} mark={(marked) => change({ marked: state.marked === marked ? "" : marked })} />
        </section>
    );
}
