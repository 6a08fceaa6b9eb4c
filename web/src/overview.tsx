// SPDX-License-Identifier: MIT
// The first page: what this machine does now.

import { bytes, duration } from "./format";
import type { Cell, Live, Row } from "./live";
import { Processes, PROCESS_LISTS } from "./tables";

const list = (front: string, counters: string[]) => counters.map((name) => `${front}\\${name}`).join("\n");
const CPU = "+" + list("\\Processor Information(*)", ["% Processor Time"]);
const PARTS = list("\\Processor Information(*)", ["% User Time", "% Privileged Time", "% IO Wait Time", "% Steal Time"]);
const MEMORY = list("\\Memory", ["Available Bytes", "Cache Bytes", "Committed Bytes"]);
const USAGE = list("\\Memory Usage", ["% Used Memory", "% Used Swap Space"]);
const PRESSURE = list("\\Pressure(*)", ["% Some Time", "% Full Time"]);
const DISK = list("\\PhysicalDisk(*)", ["% Idle Time", "Disk Read Bytes/sec", "Disk Write Bytes/sec"]);
const SPACE = list("\\LogicalDisk(*)", ["% Free Space", "Free Megabytes"]);
const NETWORK = list("\\Network Interface(*)", ["Bytes Received/sec", "Bytes Sent/sec"]);
const SYSTEM = list("\\System", ["System Up Time", "Processes", "Threads", "Load Average 1 min", "Load Average 5 min", "Load Average 15 min"]);
export const OVERVIEW_LISTS = [CPU, PARTS, MEMORY, USAGE, PRESSURE, DISK, SPACE, NETWORK, SYSTEM, ...PROCESS_LISTS];

const text = (value: Cell | undefined, format: (value: number) => string) => (typeof value === "number" ? format(value) : "–");
const percent = (value: number) => `${value.toFixed(1)}\u202f%`;
const rate = (value: number) => bytes(value, "/s");

function Bar({ value, label }: { value: Cell | undefined; label: string }) {
    const known = typeof value === "number";
    return (
        <div class="bar"><span class="name">{label}</span>
            <meter min={0} max={100} high={90} value={known ? Math.min(100, Math.max(0, value)) : 0} aria-label={label} />
            <span class="number">{text(value, percent)}</span></div>);
}

export function Overview({ live, sort, setSort, filter }: {
    live: Live; sort: string; setSort(sort: string): void; filter: string;
}) {
    const rows = (key: string): Row[] => live.tables.find((table) => table.key === key)?.rows ?? [];
    const one = (key: string) => rows(key)[0]?.cells ?? [];
    const named = (key: string) => rows(key).filter((row) => row.name !== "_Total" && !row.name.endsWith(",_Total"));
    const system = one(SYSTEM), memory = one(MEMORY), usage = one(USAGE);
    const total = rows(PARTS).find((row) => row.name === "_Total")?.cells ?? [];
    return (
        <div class="overview">
            <section><h2>Processors</h2>
                {named(CPU).map((row) => <Bar key={row.identity} value={row.cells[0]} label={row.name.replace(/^0,/, "")} />)}
                <p>user {text(total[0], percent)} · system {text(total[1], percent)} · waiting {text(total[2], percent)} · stolen {text(total[3], percent)}</p>
                <p>load {text(system[3], (v) => v.toFixed(2))} {text(system[4], (v) => v.toFixed(2))} {text(system[5], (v) => v.toFixed(2))} · {text(system[1], String)} processes · {text(system[2], String)} threads · up {text(system[0], duration)}</p>
            </section>
            <section><h2>Memory</h2>
                <Bar value={usage[0]} label="used" /><Bar value={usage[1]} label="swap" />
                <p>available {text(memory[0], bytes)} · caches {text(memory[1], bytes)} · committed {text(memory[2], bytes)}</p>
            </section>
            {named(PRESSURE).length > 0 && <section><h2>Pressure</h2>
                {named(PRESSURE).map((row) => <Bar key={row.identity} value={row.cells[0]} label={row.name} />)}</section>}
            <section><h2>Disks</h2>
                {named(DISK).map((row) => <div key={row.identity}>
                    <Bar value={typeof row.cells[0] === "number" ? 100 - row.cells[0] : null} label={`${row.name} busy`} />
                    <p>read {text(row.cells[1], rate)} · written {text(row.cells[2], rate)}</p></div>)}
                {named(SPACE).map((row) => <Bar key={row.identity} value={typeof row.cells[0] === "number" ? 100 - row.cells[0] : null} label={`${row.name} full`} />)}
            </section>
            <section><h2>Network</h2>
                {named(NETWORK).map((row) => <p key={row.identity}>{row.name}: received {text(row.cells[0], rate)} · sent {text(row.cells[1], rate)}</p>)}
            </section>
            <section class="wide"><Processes live={live} most={15} sort={sort} setSort={setSort} filter={filter} /></section>
        </div>
    );
}
