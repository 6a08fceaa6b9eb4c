// SPDX-License-Identifier: MIT
// Lines over time, by uPlot, and the legend below: a table that says the same in numbers.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { duration, number, unitOf } from "./format";
import type { Live, Series, Unit } from "./live";
import { parts, titleOf } from "./objects";
import { t } from "./texts";

/** Colours that people with any kind of colour vision tell apart; after them, the same with dashes. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#888888"];
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3]];

export interface Line {
    series: Series; label: string; counter: Unit | undefined; colour: string; dash: number[]; hidden: boolean;
}

export function linesOf(live: Live, hidden: Set<string>): Line[] {
    return [...live.series.values()].map((series, i) => {
        const { object, counter } = parts(series.path);
        return {
            series, counter: series.counter,
            label: `\\${titleOf(object)}${series.name ? `(${series.name})` : ""}\\${titleOf(counter)}`,
            colour: COLOURS[i % COLOURS.length], dash: DASHES[Math.floor(i / COLOURS.length) % DASHES.length],
            hidden: hidden.has(`${series.path}\n${series.identity}`),
        };
    });
}

function options(lines: Line[], width: number, height: number): uPlot.Options {
    const style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--ink"), grid = style.getPropertyValue("--line");
    const units = [...new Set(lines.filter((line) => !line.hidden).map((line) => unitOf(line.counter)))];
    return {
        width, height, legend: { show: false }, cursor: { sync: { key: "time" } },
        scales: Object.fromEntries(units.map((unit) => [`y${unit}`, unit === "%" ? { range: (_: uPlot, __: number, most: number) => [0, Math.max(100, most)] as [number, number] } : {}])),
        series: [{}, ...lines.map((line) => ({
            label: line.label, scale: `y${unitOf(line.counter)}`, stroke: line.colour, dash: line.dash,
            width: 1.5, show: !line.hidden, points: { show: false },
        }))],
        axes: [
            { stroke: ink, grid: { stroke: grid } },
            ...units.slice(0, 3).map((unit, i) => ({
                scale: `y${unit}`, side: i ? 1 : 3, stroke: ink, size: 80, grid: { show: !i, stroke: grid },
                values: (_: uPlot, values: number[]) => values.map((value) =>
                    number(value, lines.find((line) => unitOf(line.counter) === unit)?.counter)),
            })),
        ],
    };
}

export function Chart({ live, lines, height = 320 }: { live: Live; lines: Line[]; height?: number }) {
    const place = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), shape = useRef("");
    const data = [live.times.map((time) => time / 1000), ...lines.map((line) => line.series.values)] as uPlot.AlignedData;
    useEffect(() => {
        const width = place.current!.clientWidth;
        const now = JSON.stringify([width, lines.map((line) => [line.label, line.hidden, unitOf(line.counter)])]);
        if (now !== shape.current || !plot.current) {
            plot.current?.destroy();
            plot.current = new uPlot(options(lines, width, height), data, place.current!);
            shape.current = now;
        } else {
            plot.current.setData(data);
        }
    });
    useEffect(() => () => plot.current?.destroy(), []);
    return <div class="chart" ref={place} role="img" aria-label={t("Chart; the table below has its numbers")} />;
}

interface Statistics { last: number | null; average: number | null; least: number | null; most: number | null; seconds: number; }
function statistics(series: Series, times: number[]): Statistics {
    const known = series.values.map((value, i) => [value, times[i]] as const).filter(([value]) => value !== null && value !== undefined) as [number, number][];
    if (!known.length) return { last: null, average: null, least: null, most: null, seconds: 0 };
    const values = known.map(([value]) => value);
    return {
        last: series.values[times.length - 1] ?? null,
        average: values.reduce((sum, value) => sum + value, 0) / values.length,
        least: Math.min(...values), most: Math.max(...values),
        seconds: (known[known.length - 1][1] - known[0][1]) / 1000,
    };
}

const COLUMNS = ["Counter", "Last", "Average", "Minimum", "Maximum", "Duration", "Type"] as const;
export function Legend({ live, lines, toggle, remove }: {
    live: Live; lines: Line[]; toggle(key: string): void; remove(path: string): void;
}) {
    const [sort, setSort] = useState<{ column: number; down: boolean }>({ column: -1, down: false });
    const rows = lines.map((line) => ({ line, of: statistics(line.series, live.times) }));
    const key = ({ line, of }: (typeof rows)[0]) =>
        [line.label, of.last, of.average, of.least, of.most, of.seconds, line.counter?.type ?? ""][sort.column] ?? -Infinity;
    if (sort.column >= 0)
        rows.sort((left, right) => (key(left) < key(right) ? -1 : key(left) > key(right) ? 1 : 0) * (sort.down ? -1 : 1));
    return (
        <table class="legend">
            <thead><tr><th />{COLUMNS.map((title, column) => (
                <th key={title} aria-sort={sort.column === column ? (sort.down ? "descending" : "ascending") : "none"}>
                    <button onClick={() => setSort({ column, down: sort.column === column ? !sort.down : column > 0 && column < 6 })}>{t(title)}</button>
                </th>))}<th /></tr></thead>
            <tbody>{rows.map(({ line, of }) => {
                const id = `${line.series.path}\n${line.series.identity}`;
                return (
                    <tr key={id} class={line.series.alive ? "" : "gone"}>
                        <td><input type="checkbox" checked={!line.hidden} onChange={() => toggle(id)} aria-label={t("Show {}", line.label)} />
                            <svg width="24" height="6" aria-hidden="true"><line x1="0" x2="24" y1="3" y2="3" stroke={line.colour} stroke-width="3" stroke-dasharray={line.dash.join(" ")} /></svg></td>
                        <td>{line.label}{line.series.alive ? "" : ` ${t("(ended)")}`}</td>
                        {[of.last, of.average, of.least, of.most].map((value, i) => <td class="number" key={i}>{number(value, line.counter)}</td>)}
                        <td class="number">{duration(of.seconds)}</td>
                        <td class="type">{line.counter?.type}</td>
                        <td><button title={t("Remove {}", line.label)} aria-label={t("Remove {}", line.label)} onClick={() => remove(line.series.path)}>×</button></td>
                    </tr>);
            })}</tbody>
        </table>
    );
}
