// SPDX-License-Identifier: MIT
// The legend of a chart: a table that says in numbers what the lines say.

import type { Line } from "./chart";
import { duration, factorOf, number } from "./format";
import type { Series } from "./live";
import type { Shown } from "./past";
import { t, Text } from "./texts";
import { Why } from "./why";

export interface Statistics { last: number | null; average: number | null; least: number | null; most: number | null; seconds: number; }
export function statistics(series: Series, times: number[]): Statistics {
    let count = 0, sum = 0, least = Infinity, most = -Infinity, first = 0, last = 0;
    for (let i = 0; i < times.length; i++) {
        const value = series.values[i];
        if (value === null || value === undefined) continue;
        if (!count++) first = times[i];
        last = times[i];
        sum += value;
        least = Math.min(least, series.least?.[i] ?? value);
        most = Math.max(most, series.most?.[i] ?? value);
    }
    return count
        ? { last: series.values[times.length - 1] ?? null, average: sum / count, least, most, ...series.whole, seconds: (last - first) / 1000 }
        : { last: null, average: null, least: null, most: null, seconds: 0 };
}

const COLUMNS: [string, Text][] = [
    ["counter", "Counter"], ["last", "Last"], ["average", "Average"], ["minimum", "Minimum"], ["maximum", "Maximum"],
    ["duration", "Duration"], ["scale", "Scale"], ["type", "Type"]];
const TEXTS = ["counter", "type"];

/** How bars and heat maps are sorted. */
export const ORDERS: [string, Text][] = [["average", "by average"], ["last", "by the last value"], ["most", "by maximum"], ["name", "by name"]];
const MOST_ROWS = 300;

export function sorted(live: Shown, lines: Line[], order: string): Line[] {
    if (order === "name") return [...lines].sort((a, b) => a.label.localeCompare(b.label, undefined, { numeric: true }));
    const key = new Map(lines.map((line) => {
        const of = statistics(line.series, live.times);
        return [line, ((order === "last" ? of.last : order === "most" ? of.most : of.average) ?? -Infinity) * factorOf(line.counter)];
    }));
    return [...lines].sort((a, b) => key.get(b)! - key.get(a)!);
}

export function OrderChoice({ order, setOrder }: { order: string; setOrder(order: string): void }) {
    return <label class="order">{t("Rows")} <select value={order} onChange={(event) => setOrder(event.currentTarget.value)}>
        {ORDERS.map(([id, title]) => <option key={id} value={id}>{t(title)}</option>)}</select></label>;
}

export function Legend({ live, lines, sort, setSort, toggle, mark, remove }: {
    live: Shown; lines: Line[]; sort: string; setSort(sort: string): void;
    toggle(name: string): void; mark(name: string): void; remove?: (path: string) => void;
}) {
    const [key, down] = sort.startsWith("-") ? [sort.slice(1), true] : [sort, false];
    const rows = (sort ? lines : lines.slice(0, MOST_ROWS)).map((line) => {
        const of = statistics(line.series, live.times);
        const keys: Record<string, string | number | null> = {
            counter: line.label, last: of.last, average: of.average, minimum: of.least, maximum: of.most,
            duration: of.seconds, scale: line.scale, type: line.counter?.type ?? "" };
        return { line, of, key: keys[key] };
    });
    if (key) rows.sort((left, right) => {
        const a = left.key ?? -Infinity, b = right.key ?? -Infinity;
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    return (
        <div class="scroll">
            <table class="data legend">
                <caption>{t("Legend")}{lines.length > MOST_ROWS ? `: ${t("the first {} of {} counters", MOST_ROWS, lines.length)}` : ""}</caption>
                <thead><tr><th scope="col"><span class="spoken">{t("Shown")}</span></th>{COLUMNS.map(([id, title]) => (
                    <th key={id} scope="col" class={TEXTS.includes(id) ? "" : "number"} aria-sort={key === id ? (down ? "descending" : "ascending") : undefined}>
                        <button onClick={() => setSort(key !== id ? (TEXTS.includes(id) ? id : `-${id}`) : down ? id : `-${id}`)}>{t(title)}</button>
                    </th>))}</tr></thead>
                <tbody>{rows.slice(0, MOST_ROWS).map(({ line, of }) => (
                    <tr key={line.key} class={`${line.series.alive ? "" : "gone"} ${line.marked ? "marked" : ""}`}>
                        <td><input type="checkbox" checked={!line.hidden} onChange={() => toggle(line.name)} aria-label={t("Show {}", line.label)} />
                            <svg width="24" height="6" aria-hidden="true"><line x1="0" x2="24" y1="3" y2="3" stroke={line.colour} stroke-width="3" stroke-dasharray={line.dash.join(" ")} /></svg>
                            {remove && <button class="remove" title={t("Remove {}", line.label)} aria-label={t("Remove {}", line.label)} onClick={() => remove(line.series.path)}>×</button>}</td>
                        <th scope="row"><button aria-pressed={line.marked} title={t("Highlight {}", line.label)} onClick={() => mark(line.name)}>{line.label}</button>{line.series.alive ? "" : ` ${t("(ended)")}`}</th>
                        {[of.last, of.average, of.least, of.most].map((value, i) => <td class="number" key={i}>{number(value, line.counter)}</td>)}
                        <td class="number">{duration(of.seconds)}</td>
                        <td class="number">{line.scale}</td>
                        <td class="type" title={line.counter?.type ?? ""}>{line.counter?.type}</td>
                    </tr>))}
                </tbody>
            </table>
            <Why tables={live.tables} remove={remove} hasLine={(path) => !remove || [...live.series.values()].some((each) => each.path === path)} />
        </div>
    );
}
