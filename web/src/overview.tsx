// SPDX-License-Identifier: MIT
// The first page: what this machine does now.

import { bytes, duration } from "./format";
import type { Cell, Live, Row } from "./live";
import { ProcessList } from "./processes";
import type { State } from "./state";
import { decimal, t } from "./texts";
import { Why } from "./why";

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
const MOST_PROCESSES = 15;
/** Only the busiest processes are requested, unless another order or a filter needs all of them. */
export const overviewLists = (state: State): string[] => [CPU, PARTS, MEMORY, USAGE, PRESSURE, DISK, SPACE, NETWORK, SYSTEM,
    state.filter || (state.sort && state.sort !== "-cpu") ? "#process" : `#process ${MOST_PROCESSES}`];

const text = (value: Cell | undefined, format: (value: number) => string) => (typeof value === "number" ? format(value) : "–");
const percent = (value: number) => `${decimal(value.toFixed(1))}\u202f%`;
const rate = (value: number) => bytes(value, "/s");

function Bar({ value, label }: { value: Cell | undefined; label: string }) {
    const known = typeof value === "number";
    return (
        <div class="bar"><span class="name">{label}</span>
            <meter min={0} max={100} high={90} value={known ? Math.min(100, Math.max(0, value)) : 0} aria-label={label} />
            <span class="number">{text(value, percent)}</span></div>);
}

export function Overview({ live, state, machine, change }: { live: Live; state: State; machine: string; change(part: Partial<State>): void }) {
    const rows = (key: string): Row[] => live.tables.find((table) => table.key === key)?.rows ?? [];
    const one = (key: string) => rows(key)[0]?.cells ?? [];
    const named = (key: string) => rows(key).filter((row) => row.name !== "_Total" && !row.name.endsWith(",_Total"));
    const system = one(SYSTEM), memory = one(MEMORY), usage = one(USAGE);
    const total = rows(PARTS).find((row) => row.name === "_Total")?.cells ?? [];
    return (
        <div class="overview">
            <section><h2>{t("Processors")}</h2>
                {named(CPU).map((row) => <Bar key={row.identity} value={row.cells[0]} label={row.name.replace(/^0,/, "")} />)}
                <p>{t("user {} · system {} · waiting {} · stolen {}", ...[0, 1, 2, 3].map((i) => text(total[i], percent)))}</p>
                <p>{t("load {} {} {} · {} processes · {} threads · up {}", ...[3, 4, 5].map((i) => text(system[i], (value) => decimal(value.toFixed(2)))), text(system[1], String), text(system[2], String), text(system[0], duration))}</p>
            </section>
            <section><h2>{t("Memory")}</h2>
                <Bar value={usage[0]} label={t("used")} /><Bar value={usage[1]} label={t("swap")} />
                <p>{t("available {} · caches {} · committed {}", ...[0, 1, 2].map((i) => text(memory[i], bytes)))}</p>
            </section>
            {named(PRESSURE).length > 0 && <section><h2>{t("Pressure")}</h2>
                {named(PRESSURE).map((row) => <Bar key={row.identity} value={row.cells[0]} label={row.name} />)}</section>}
            <section><h2>{t("Disks")}</h2>
                {named(DISK).map((row) => <div key={row.identity}>
                    <Bar value={typeof row.cells[0] === "number" ? 100 - row.cells[0] : null} label={t("{} busy", row.name)} />
                    <p>{t("read {} · written {}", text(row.cells[1], rate), text(row.cells[2], rate))}</p></div>)}
                {named(SPACE).map((row) => <Bar key={row.identity} value={typeof row.cells[0] === "number" ? 100 - row.cells[0] : null} label={t("{} full", row.name)} />)}
            </section>
            <section><h2>{t("Network")}</h2>
                {named(NETWORK).map((row) => <p key={row.identity}>{t("{}: received {} · sent {}", row.name, text(row.cells[0], rate), text(row.cells[1], rate))}</p>)}
            </section>
            {live.times.length > 1 && <section class="wide"><Why tables={live.tables} /></section> /* before, each rate is missing */}
            <section class="wide"><ProcessList live={live} state={state} machine={machine} change={(part) => change(part.process ? { ...part, view: "processes" } : part)} most={MOST_PROCESSES} /></section>
        </div>
    );
}
