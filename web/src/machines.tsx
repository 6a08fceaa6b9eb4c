// SPDX-License-Identifier: MIT
// All machines of the server, a line each, with a stream for each; one that is away comes back.

import { useEffect, useReducer, useState } from "preact/hooks";
import { bytes } from "./format";
import { Live } from "./live";
import { decimal, t, Text, translated } from "./texts";

const LISTS = ["\\Processor(_Total)\\% Idle Time", "\\Memory Usage\\% Used Memory", "\\Memory\\Available Bytes", "\\Pressure(*)\\% Some Time"];
const percent = (value: unknown) => (typeof value === "number" ? `${decimal(value.toFixed(1))}\u202f%` : "–");
export const STATES: Record<string, Text> = {
    starting: "starting", good: "live", away: "the machine does not answer, trying again", lost: "no connection, trying again",
    silent: "a provider does not answer", complete: "complete",
};

export function Machines({ names, choose }: { names: string[]; choose(name: string): void }) {
    const [, redraw] = useReducer((count: number) => count + 1, 0), [lives, setLives] = useState<Live[]>([]);
    useEffect(() => {
        const all = names.map((name) => { const live = new Live(() => redraw(0)); live.watch(LISTS, name); return live; });
        setLives(all);
        return () => all.forEach((live) => live.end());
    }, [names.join("\n")]);
    return (
        <table class="data">
            <caption>{t("Machines")}</caption>
            <thead><tr><th scope="col">{t("Name")}</th><th scope="col" class="number">{t("CPU")}</th><th scope="col" class="number">{t("Memory")}</th>
                <th scope="col" class="number">{t("available")}</th><th scope="col">{t("Pressure")}</th><th scope="col">{t("State")}</th></tr></thead>
            <tbody>{names.map((name, i) => {
                const live = lives[i], good = live?.state === "good", cell = (at: number) => (good ? live.tables[at]?.rows[0]?.cells[0] : null);
                const idle = cell(0), free = cell(2);
                const waits = (good ? live.tables[3]?.rows ?? [] : []).filter((row) => typeof row.cells[0] === "number" && row.cells[0] >= 5);
                return (
                    <tr key={name}><th scope="row"><button class="link" onClick={() => choose(name)}>{name}</button></th>
                        <td class="number">{percent(typeof idle === "number" ? 100 - idle : null)}</td><td class="number">{percent(cell(1))}</td>
                        <td class="number">{typeof free === "number" ? bytes(free) : "–"}</td>
                        <td>{waits.map((row) => `${row.name} ${percent(row.cells[0])}`).join(", ")}</td>
                        <td class={`state-cell ${live?.state ?? ""}`}>{t(STATES[live?.state ?? "starting"])}{live?.problem || live?.why ? `: ${translated(live.problem || live.why)}` : ""}</td></tr>);
            })}</tbody>
        </table>
    );
}
