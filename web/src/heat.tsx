// SPDX-License-Identifier: MIT
// Hundreds of instances at once: one row each, time from left to right, the value as a colour. The
// pointer, or the arrow keys on the focused map, show one value; the legend below has the numbers.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Line } from "./chart";
import { clock, number, unitOf } from "./format";
import { top } from "./forms";
import type { Shown } from "./past";
import { parts, titleOf } from "./objects";
import { OrderChoice, sorted } from "./legend";
import { t } from "./texts";

/** From dark blue over green to yellow. The lightness always increases, so the colours can be
 * distinguished with every kind of colour vision, and in a print in grey. */
const SCALE = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const STEPS = 64, LEAST_ROW = 3, MOST_ROW = 18, MAP_HEIGHT = 480, COLUMN = 4, MOST_ROWS = 500;

const colours = Uint32Array.from({ length: STEPS }, (_, step) => {
    const at = (step / (STEPS - 1)) * (SCALE.length - 1), low = Math.min(Math.floor(at), SCALE.length - 2);
    const channel = (colour: string, i: number) => parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
    const mix = (i: number) => Math.round(channel(SCALE[low], i) + (at - low) * (channel(SCALE[low + 1], i) - channel(SCALE[low], i)));
    return (255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0);
});

/** Returns the column of each time. Columns have equal widths in time, so a time without samples
 * stays empty. */
function place(times: number[], most: number): { count: number; of: number[] } {
    if (!times.length) return { count: 1, of: [] };
    const first = times[0], span = times[times.length - 1] - first;
    const steps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
    const step = steps[Math.floor(steps.length / 2)] || 1;
    const count = Math.max(1, Math.min(most, Math.round(span / step) + 1));
    return { count, of: times.map((time) => (span ? Math.round((time - first) / span * (count - 1)) : 0)) };
}

/** The largest value of each column; null: it has none. */
function largest(values: (number | null)[], columns: { count: number; of: number[] }): (number | null)[] {
    const found: (number | null)[] = new Array(columns.count).fill(null);
    columns.of.forEach((column, i) => {
        const value = values[i], before = found[column];
        if (value !== null && value !== undefined && (before === null || value > before)) found[column] = value;
    });
    return found;
}

function One({ live, lines, path, order }: { live: Shown; lines: Line[]; path: string; order: string }) {
    const canvas = useRef<HTMLCanvasElement>(null), [at, setAt] = useState<{ row: number; column: number } | null>(null);
    const [width, setWidth] = useState(0);
    const rows = sorted(live, lines, order).slice(0, MOST_ROWS), height = Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(MAP_HEIGHT / rows.length)));
    const places = place(live.times, Math.max(1, Math.floor(width / COLUMN))), columns = places.count;
    const begin = (column: number) => live.times[places.of.findIndex((each) => each >= column)];
    const cells = rows.map((line) => largest(line.series.values, places));
    const unit = unitOf(lines[0].counter), most = top(cells.reduce((all, row) => Math.max(all, ...row.map((value) => value ?? 0)), 0), unit);
    useEffect(() => {
        const resized = () => setWidth(canvas.current!.parentElement!.clientWidth);
        resized();
        addEventListener("resize", resized);
        return () => removeEventListener("resize", resized);
    }, []);
    useEffect(() => {
        const context = canvas.current!.getContext("2d")!, image = context.createImageData(columns, rows.length);
        const pixels = new Uint32Array(image.data.buffer);
        cells.forEach((row, r) => row.forEach((value, c) => {
            if (value !== null) pixels[r * columns + c] = colours[Math.max(0, Math.min(STEPS - 1, Math.floor(value / most * STEPS)))];
        }));
        canvas.current!.width = columns;
        canvas.current!.height = rows.length;
        context.putImageData(image, 0, 0);
    });
    const move = (row: number, column: number) => setAt({ row: Math.max(0, Math.min(rows.length - 1, row)), column: Math.max(0, Math.min(columns - 1, column)) });
    const point = (event: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        move(Math.floor((event.clientY - box.top) / height), Math.floor((event.clientX - box.left) / box.width * columns));
    };
    const key = (event: KeyboardEvent) => {
        const { row, column } = at ?? { row: 0, column: columns };
        const steps: Record<string, [number, number]> = {
            ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
            Home: [row, 0], End: [row, columns - 1], PageUp: [row - 20, column], PageDown: [row + 20, column] };
        const step = event.ctrlKey || event.altKey || event.metaKey ? undefined : steps[event.key];
        if (!step) return;
        event.preventDefault();
        move(...step);
    };
    const cell = at && rows[at.row], value = at && cells[at.row]?.[at.column];
    const { object, counter } = parts(path), title = `\\${titleOf(object)}\\${titleOf(counter)}`;
    return (
        <figure class="heat">
            <figcaption>{rows.length < lines.length ? t("{} – the first {} of {} rows", title, rows.length, lines.length) : `${title}: ${t("{} instances", rows.length)}`}
                <span class="scale">{number(0, lines[0].counter)}<span class="colours" aria-hidden="true" />{number(most, lines[0].counter)}</span></figcaption>
            <div class="map" role="application" tabIndex={0} aria-label={t("Heat map of {}: read the values with the arrow keys", title)} onKeyDown={key}
                onPointerMove={point} onPointerLeave={() => setAt(null)} onBlur={() => setAt(null)}>
                <canvas ref={canvas} style={{ height: `${height * rows.length}px` }} />
                {at && <div class="cell" style={{ left: `${at.column / columns * 100}%`, top: `${at.row * height}px`, width: `${100 / columns}%`, height: `${height}px` }} />}
            </div>
            <output aria-live="polite">{cell ? `${cell.label}, ${clock(begin(at!.column))}: ${value === null ? t("no value") : number(value, cell.counter)}` : t("Point at a place, or use the arrow keys, to read its value.")}</output>
        </figure>
    );
}

export function Heat({ live, lines, order, setOrder }: { live: Shown; lines: Line[]; order: string; setOrder(order: string): void }) {
    /* a total, or the idle time as a process, is left out: with its large values all others would have the same colour */
    const shown = lines.filter((line) => !line.hidden && !/(^|,)_Total(:|$)|^Idle(:0)?$/.test(line.series.name)), paths = [...new Set(shown.map((line) => line.series.path))];
    return (
        <>
            <OrderChoice order={order || "average"} setOrder={setOrder} />
            {paths.map((path) => <One key={path} live={live} path={path} order={order || "average"} lines={shown.filter((line) => line.series.path === path)} />)}
        </>
    );
}
