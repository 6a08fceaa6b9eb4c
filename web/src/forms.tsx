// SPDX-License-Identifier: MIT
// The selection as bars of the newest values, and as a table of all values.

import type { Line } from "./chart";
import { clock, number, unitOf } from "./format";
import type { Shown } from "./past";
import { t } from "./texts";

const MOST_TIMES = 300, MOST_LINES = 40;

/** Returns the upper end of a scale that begins at 0 and shows `most`. */
export function top(most: number, unit: string): number {
    return unit === "%" && most <= 100 ? 100 : most > 0 ? most : 1;
}

/** A bar for each line that is shown; lines of the same unit have the same scale. */
export function Bars({ live, lines }: { live: Shown; lines: Line[] }) {
    const shown = lines.filter((line) => !line.hidden && line.series.alive);
    const last = (line: Line) => line.series.values[live.times.length - 1] ?? null;
    const most = new Map<string, number>();
    for (const line of shown) most.set(unitOf(line.counter), Math.max(most.get(unitOf(line.counter)) ?? 0, last(line) ?? 0));
    return (
        <table class="data bars">
            <caption>{t("Newest values")}</caption>
            <thead><tr><th scope="col">{t("Counter")}</th><th scope="col"><span class="spoken">{t("Bar")}</span></th><th scope="col" class="number">{t("Last")}</th></tr></thead>
            <tbody>{shown.map((line) => {
                const value = last(line), share = Math.max(0, Math.min(1, (value ?? 0) / top(most.get(unitOf(line.counter))!, unitOf(line.counter))));
                return (
                    <tr key={line.key} class={line.marked ? "marked" : ""}><th scope="row">{line.label}</th>
                        <td><svg class="bar-line" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={100 * share} height="10" fill={line.colour} /></svg></td>
                        <td class="number">{number(value, line.counter)}</td></tr>);
            })}</tbody>
        </table>
    );
}

/** All values of the lines that are shown, newest first. */
export function Values({ live, lines }: { live: Shown; lines: Line[] }) {
    const shown = lines.filter((line) => !line.hidden), columns = shown.slice(0, MOST_LINES);
    const first = Math.max(0, live.times.length - MOST_TIMES);
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={t("Values")}>
            <table class="data">
                <caption>{t("Values")}{columns.length < shown.length ? `: ${t("the first {} of {} counters", columns.length, shown.length)}` : ""}</caption>
                <thead><tr><th scope="col">{t("Time")}</th>{columns.map((line) => <th key={line.key} scope="col" class="number">{line.label}</th>)}</tr></thead>
                <tbody>{live.times.slice(first).map((time, i) => (
                    <tr key={time}><th scope="row">{clock(time)}</th>{columns.map((line) =>
                        <td key={line.key} class="number">{number(line.series.values[first + i], line.counter)}</td>)}</tr>)).reverse()}
                </tbody>
            </table>
        </div>
    );
}
