// SPDX-License-Identifier: MIT
// Lines over time, by uPlot.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { labels, timeLabels, unitOf } from "./format";
import { statistics } from "./legend";
import type { Series, Unit } from "./live";
import type { Mark, Shown } from "./past";
import { parts, titleOf } from "./objects";
import { getLanguage, t } from "./texts";

/** Colours that can be distinguished with every kind of colour vision. When all are used, they are
 * used again with dashes. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#888888"];
/** Seconds between the labels of the time axis. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3]];

export interface Line {
    /** `name`: the path with the instance, in English. The page's address names the line by it. */
    key: string; name: string; label: string; series: Series; counter: Unit | undefined; colour: string; dash: number[];
    hidden: boolean; marked: boolean;
    /** the factor by which values are multiplied to be drawn: 1, or a power of ten so that all lines
     * fit on one axis */
    scale: number;
}

/** Returns the exponent of the power of ten for a line: the counter's own scale if it brings `most`
 * between 1 and 100, otherwise the one that brings it between 10 and 100. */
function scaleOf(counter: Unit | undefined, most: number | null): number {
    const own = counter?.scale ?? 0, size = Math.abs(most ?? 0);
    if (!size || (size * 10 ** own >= 1 && size * 10 ** own <= 100)) return own;
    return Math.max(-15, Math.min(15, 2 - Math.ceil(Math.log10(size))));
}

export function linesOf(live: Shown, hidden: string[], marked: string, one: boolean): Line[] {
    return [...live.series].map(([key, series], i) => {
        const { object, counter } = parts(series.path), instance = series.name ? `(${series.name})` : "";
        const name = `\\${object}${instance}\\${counter}`;
        return {
            key, name, series, counter: series.counter, hidden: hidden.includes(name), marked: marked === name,
            label: `${series.mark ? `${series.mark} ` : ""}\\${titleOf(object)}${instance}\\${titleOf(counter)}`,
            scale: one ? 10 ** scaleOf(series.counter, statistics(series, live.times).most) : 1,
            colour: COLOURS[i % COLOURS.length], dash: DASHES[Math.floor(i / COLOURS.length) % DASHES.length],
        };
    });
}

/** The chart's axis of time: its ends (ms), the marks on it, and what happens when a part is
 * selected. */
export interface Axis { from: number; to: number; marks: Mark[]; zoom(from: number, to: number): void; back(): void; }

/** Draws the marks: events as short strokes at the top, where they do not hide a line; gaps, and the
 * place where the set ends, over the whole height. */
function drawMarks(plot: uPlot, marks: Mark[]): void {
    const { ctx, bbox } = plot, style = getComputedStyle(document.body);
    ctx.save();
    for (const mark of marks) {
        const x = plot.valToPos(mark.time / 1000, "x", true), whole = mark.kind === "meet" || mark.kind === "gap" || mark.kind === "start";
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        const bad = mark.kind === "event" && mark.level !== "information";
        ctx.strokeStyle = style.getPropertyValue(bad ? "--bad" : mark.kind === "meet" ? "--accent" : "--soft");
        ctx.lineWidth = (bad ? 3 : 2) * devicePixelRatio;
        ctx.setLineDash(whole ? [4 * devicePixelRatio, 4 * devicePixelRatio] : []);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + (whole ? bbox.height : 10 * devicePixelRatio));
        ctx.stroke();
    }
    ctx.restore();
}

const bandsOf = (lines: Line[]) => lines.filter((line) => line.series.least && line.series.most);
const soft = (colour: string) => `${colour}33`;
const scaled = (values: (number | null)[], scale: number) => (scale === 1 ? values : values.map((value) => (value === null || value === undefined ? value : value * scale)));

function options(lines: Line[], one: boolean, width: number, height: number, axis: { current: Axis | undefined }): uPlot.Options {
    const shade = (name: string) => () => getComputedStyle(document.body).getPropertyValue(name); /* of the present scheme */
    const ink = shade("--ink"), grid = shade("--line");
    const axisOf = (line: Line) => (one ? "%" : unitOf(line.counter));
    const units = [...new Set(lines.filter((line) => !line.hidden).map(axisOf))];
    return {
        width, height, legend: { show: false },
        cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: !axis.current }, bind: { dblclick: (_plot, _target, usual) => (event) => { if (axis.current) axis.current.back(); else usual(event); return null; } } },
        hooks: {
            draw: [(plot) => drawMarks(plot, axis.current?.marks ?? [])],
            setSelect: [(plot) => {
                const { left, width: size } = plot.select;
                if (!axis.current || size < 3) return;
                axis.current.zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + size, "x") * 1000);
                plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            }],
        },
        bands: bandsOf(lines).map((line, i) => ({ series: [lines.length + 1 + 2 * i, lines.length + 2 + 2 * i] as [number, number], fill: soft(line.colour) })),
        scales: { x: { range: (_, least, most) => (axis.current ? [axis.current.from / 1000, axis.current.to / 1000] : [least, most]) }, ...Object.fromEntries(units.map((unit) => [`y${unit}`, unit === "%" ? { range: (_: uPlot, __: number, most: number) => [0, Math.max(100, most)] as [number, number] } : {}])) },
        series: [{}, ...lines.map((line) => ({
            label: line.label, scale: `y${axisOf(line)}`, stroke: line.colour, dash: line.dash,
            width: line.marked ? 4 : 1.5, show: !line.hidden, points: { show: false },
        })), ...bandsOf(lines).flatMap((line) => [0, 1].map(() => ({
            scale: `y${axisOf(line)}`, width: 0, show: !line.hidden, points: { show: false },
        })))],
        axes: [
            { stroke: ink, grid: { stroke: grid }, space: 90, incrs: STEPS, values: (_: uPlot, splits: number[], __: number, ___: number, step: number) => timeLabels(splits, step) },
            ...units.slice(0, 3).map((unit, i) => ({
                scale: `y${unit}`, side: i ? 1 : 3, stroke: ink, size: 80, grid: { show: !i, stroke: grid },
                values: (_: uPlot, values: number[]) => labels(values, one ? undefined : lines.find((line) => unitOf(line.counter) === unit)?.counter),
            })),
        ],
    };
}

export function Chart({ live, lines, one, axis, height = 320 }: { live: Shown; lines: Line[]; one: boolean; axis?: Axis; height?: number }) {
    const newest = useRef(axis);
    newest.current = axis;
    const place = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), shape = useRef("");
    const data = [live.times.map((time) => time / 1000), ...lines.map((line) => scaled(line.series.values, line.scale)),
        ...bandsOf(lines).flatMap((line) => [line.series.most!, line.series.least!].map((values) => scaled(values, line.scale)))] as uPlot.AlignedData;
    useEffect(() => {
        const width = place.current!.clientWidth;
        const now = JSON.stringify([width, one, matchMedia("(prefers-color-scheme: dark)").matches, getLanguage(), lines.map((line) => [line.label, line.hidden, line.marked, unitOf(line.counter), !!line.series.least])]);
        if (now !== shape.current || !plot.current) {
            plot.current?.destroy();
            plot.current = new uPlot(options(lines, one, width, height, newest), data, place.current!);
            shape.current = now;
        } else {
            plot.current.setData(data);
        }
    });
    useEffect(() => {
        const print = (event: Event) => { /* paper is light */
            document.documentElement.classList.toggle("paper", event.type === "beforeprint");
            plot.current?.redraw();
        };
        addEventListener("beforeprint", print);
        addEventListener("afterprint", print);
        return () => {
            removeEventListener("beforeprint", print);
            removeEventListener("afterprint", print);
            plot.current?.destroy();
        };
    }, []);
    return <div class="chart" ref={place} role="img" aria-label={t("Chart; the table below has its numbers")} />;
}
