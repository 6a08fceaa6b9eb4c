// SPDX-License-Identifier: MIT
// The selection as bars of the newest values, and as a table of all values.

import type { Line } from "./chart";
import { clock, factorOf, number, unitOf } from "./format";
import { OrderChoice, sorted } from "./legend";
import type { Shown } from "./past";
import { t } from "./texts";

const MOST_TIMES = 300, MOST_LINES = 40, MOST_BARS = 300;

/** Returns the upper end of a scale that begins at 0 and shows `most`. */
export function top(most: number, unit: string): number {
    return unit === "%" && most <= 100 ? 100 : most > 0 ? most : 1;
}

/** A bar for each line that is shown; lines of the same unit have the same scale. */
export function Bars({ live, lines, order, setOrder }: { live: Shown; lines: Line[]; order: string; setOrder(order: string): void }) {
    const shown = sorted(live, lines.filter((line) => !line.hidden && line.series.alive), order || "last");
    const last = (line: Line) => line.series.values[live.times.length - 1] ?? null;
    const size = (line: Line) => (last(line) ?? 0) * factorOf(line.counter);
    const most = new Map<string, number>();
    for (const line of shown) most.set(unitOf(line.counter), Math.max(most.get(unitOf(line.counter)) ?? 0, size(line)));
    return (
        <><OrderChoice order={order || "last"} setOrder={setOrder} />
        <table class="data bars">
            <caption>{t("Newest values")}{shown.length > MOST_BARS ? `: ${t("the first {} of {} counters", MOST_BARS, shown.length)}` : ""}</caption>
            <thead><tr><th scope="col">{t("Counter")}</th><th scope="col"><span class="spoken">{t("Bar")}</span></th><th scope="col" class="number">{t("Last")}</th></tr></thead>
            <tbody>{shown.slice(0, MOST_BARS).map((line) => {
                const value = last(line), share = Math.max(0, Math.min(1, size(line) / top(most.get(unitOf(line.counter))!, unitOf(line.counter))));
                return (
                    <tr key={line.key} class={line.marked ? "marked" : ""}><th scope="row">{line.label}</th>
                        <td><svg class="bar-line" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={100 * share} height="10" fill={line.colour} /></svg></td>
                        <td class="number">{number(value, line.counter)}</td></tr>);
            })}</tbody>
        </table></>
    );
}

/** All values of the lines that are shown, newest first. */
export function Values({ live, lines }: { live: Shown; lines: Line[] }) {
    const shown = lines.filter((line) => !line.hidden), columns = shown.slice(0, MOST_LINES);
    const empty = (i: number) => columns.every((line) => typeof line.series.values[i] !== "number"); /* a gap has two such times */
    const rows = live.times.map((_, i) => i).filter((i) => !empty(i) || (i > 0 && !empty(i - 1))).slice(-MOST_TIMES).reverse();
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={t("Values")}>
            <table class="data">
                <caption>{t("Values")}{columns.length < shown.length ? `: ${t("the first {} of {} counters", columns.length, shown.length)}` : ""}</caption>
                <thead><tr><th scope="col">{t("Time")}</th>{columns.map((line) => <th key={line.key} scope="col" class="number">{line.label}</th>)}</tr></thead>
                <tbody>{rows.map((i) => (
                    <tr key={live.times[i]}><th scope="row">{clock(live.times[i])}</th>{empty(i)
                        ? <td colSpan={columns.length} class="number">{t("no samples")}</td>
                        : columns.map((line) => <td key={line.key} class="number">{number(line.series.values[i], line.counter)}</td>)}</tr>))}
                </tbody>
            </table>
        </div>
    );
}
