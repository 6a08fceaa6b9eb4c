// SPDX-License-Identifier: MIT
// Lines over time, by uPlot.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { markText } from "./axis";
import { clock, factorOf, labels, number, timeLabels, unitOf } from "./format";
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
const MOST_READ = 8, NEAR_SAMPLE = 20, NEAR_MARK = 5, NARROW = 500; /* lines, pixels */
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3]];

export interface Line {
    /** `name`: the path with the instance, in English. The page's address names the line by it. */
    key: string; name: string; label: string; series: Series; counter: Unit | undefined; colour: string; dash: number[];
    hidden: boolean; marked: boolean;
    /** a power of ten so that all lines fit on one axis, or 1 */
    scale: number;
    /** the factor by which values are multiplied to be drawn */
    factor: number;
}

/** Returns the exponent of the power of ten for a line: the counter's own scale if it brings `most`
 * between 1 and 102 (clocks count in ticks, a busy processor may have 100.04 %), otherwise the one that
 * brings it between 10 and 100. */
function scaleOf(counter: Unit | undefined, most: number | null): number {
    const own = counter?.scale ?? 0, size = Math.abs(most ?? 0);
    if (!size || (size * 10 ** own >= 1 && size * 10 ** own <= 102)) return own;
    return Math.max(-15, Math.min(15, 2 - Math.ceil(Math.log10(size))));
}

export function linesOf(live: Shown, hidden: string[], marked: string, one: boolean): Line[] {
    return [...live.series].map(([key, series], i) => {
        const { object, counter } = parts(series.path), instance = series.name ? `(${series.name})` : "";
        const name = `\\${object}${instance}\\${counter}`;
        const scale = one ? 10 ** scaleOf(series.counter, statistics(series, live.times).most) : 1;
        return {
            key, name, series, counter: series.counter, hidden: hidden.includes(name), marked: marked === name,
            label: `${series.mark ? `${series.mark} ` : ""}\\${titleOf(object)}${instance}\\${titleOf(counter)}`,
            scale, factor: one ? scale : factorOf(series.counter),
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
        const x = plot.valToPos(mark.time / 1000, "x", true), whole = mark.kind === "join" || mark.kind === "gap" || mark.kind === "start" || mark.kind === "hole";
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        const bad = mark.kind === "event" && mark.level !== "information";
        ctx.strokeStyle = style.getPropertyValue(bad ? "--bad" : mark.kind === "join" ? "--accent" : "--soft");
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

/** Values at times; null interrupts a line, undefined does not. */
type Values = (number | null | undefined)[];

/** Returns fewer points for a chart that has less pixels than samples: least and most of each two pixels, in their
 * order, as two points. A null among them interrupts the line. */
function thinned(times: number[], lists: Values[], width: number): [number[], ...Values[]] {
    if (times.length <= width || width < 2) return [times, ...lists];
    const begin = times[0], step = (times[times.length - 1] - begin) / Math.floor(width / 2), starts: number[] = [];
    for (let i = 0, column = -1; i < times.length; i++) {
        const at = Math.floor((times[i] - begin) / step);
        if (at !== column) starts.push(i);
        column = at;
    }
    const ends = [...starts.slice(1), times.length], found = starts.flatMap((start, i) => (ends[i] - start > 1 ? [times[start], times[ends[i] - 1]] : [times[start]]));
    return [found, ...lists.map((list) => {
        const values: Values = [];
        starts.forEach((start, column) => {
            if (ends[column] - start === 1) { values.push(list[start]); return; }
            let low = -1, high = -1, hole = -1;
            for (let i = start; i < ends[column]; i++) {
                const value = list[i];
                if (value === null) hole = i;
                if (value === null || value === undefined) continue;
                if (low < 0 || value < list[low]!) low = i;
                if (high < 0 || value > list[high]!) high = i;
            }
            const first = Math.min(low, high), last = Math.max(low, high);
            values.push(...hole < 0 ? [list[first], list[last]] : hole < first ? [null, list[last]] : [list[first], null]);
        });
        return values;
    })];
}

const isSame = (left: Values[], right: Values[]) => left.length === right.length && left.every((list, i) => list.length === right[i].length && list.every((value, at) => value === right[i][at]));

/** The place of the time that is nearest. */
function nearestTo(times: number[], time: number): number {
    let low = 0, high = times.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((times[middle] + times[middle + 1]) / 2 < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** Returns the steps of an axis of bytes: round numbers of the unit in which its largest value is written. */
function byteSteps(_: uPlot, __: number, ___: number, most: number): number[] {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(1, most)) / 10));
    return [0.01, 0.1, 1, 10, 100].flatMap((size) => [1, 2, 5].map((step) => step * size * unit));
}

/** Returns the width of an axis in which its labels fit. */
const axisSize = (_: uPlot, texts: string[] | null) => Math.max(80, 16 + 6.5 * Math.max(0, ...(texts ?? []).map((text) => (text ?? "").length)));

/** Writes into `place` what is at the pointer: its time, marks, and the values of the lines that are nearest to it. */
function read(plot: uPlot, place: HTMLElement, times: number[], lines: Line[], one: boolean, marks: Mark[]): void {
    const { left = -1, top = 0 } = plot.cursor, distance = (time: number) => Math.abs(plot.valToPos(time, "x") - left);
    place.hidden = left < 0;
    if (left < 0) return;
    const time = plot.posToVal(left, "x") * 1000, idx = nearestTo(times, time);
    const known = times.length > 0 && distance(times[idx] / 1000) < NEAR_SAMPLE, timeLabel = document.createElement("b");
    timeLabel.textContent = clock(known ? times[idx] : time);
    const values = known ? lines.map((line) => ({ line, value: line.hidden ? null : line.series.values[idx] })).filter(({ value }) => typeof value === "number") : [];
    const away = new Map(values.map(({ line, value }) => [line, Math.abs(plot.valToPos(value! * line.factor, `y${one ? "%" : unitOf(line.counter)}`) - top)]));
    const front = (line: Line) => line.label.slice(0, line.label.lastIndexOf("\\") + 1);
    const same = lines.every((line) => front(line) === front(lines[0])); /* then the counters' names are enough */
    const nearest = new Set([...away.keys()].sort((a, b) => away.get(a)! - away.get(b)!).slice(0, MOST_READ));
    place.replaceChildren(timeLabel, ...marks.filter((mark) => distance(mark.time / 1000) < NEAR_MARK).slice(0, MOST_READ).map((mark) => {
        const row = document.createElement("p");
        row.textContent = `▾ ${markText(mark)}`;
        return row;
    }), ...values.filter(({ line }) => nearest.has(line)).map(({ line, value }) => {
        const row = document.createElement("div"), colour = document.createElement("i"), label = document.createElement("span"), text = document.createElement("b");
        colour.style.background = line.colour;
        label.textContent = same ? line.label.slice(front(line).length) : line.label;
        text.textContent = number(value, line.counter);
        row.append(colour, label, " ", text);
        return row;
    }));
    const right = left > plot.over.clientWidth / 2;
    place.style.maxWidth = `${Math.max(left, plot.over.clientWidth - left) - 12}px`; /* inside the chart */
    place.style.left = right ? "auto" : `${left + 12}px`;
    place.style.right = right ? `${plot.over.clientWidth - left + 12}px` : "auto";
}

function options(lines: Line[], one: boolean, width: number, height: number, shown: { current: { axis?: Axis; lines: Line[]; times: number[] } }): uPlot.Options {
    const place = document.createElement("div");
    place.className = "readout";
    place.hidden = true;
    const { axis } = shown.current;
    const shade = (name: string) => () => getComputedStyle(document.body).getPropertyValue(name); /* of the present scheme */
    const ink = shade("--ink"), grid = shade("--line");
    const counterOf = (unit: string): Unit | undefined => {
        const found = lines.find((line) => unitOf(line.counter) === unit)?.counter;
        return found?.unit ? { ...found, unit: "B" } : found;
    };
    /* if less than a step is shown, uPlot gives a time after the end */
    const inside = (plot: uPlot, times: number[]) => times.map((time) => (time <= plot.scales.x.max! ? time : null));
    const axisOf = (line: Line) => (one ? "%" : unitOf(line.counter));
    const units = [...new Set(lines.filter((line) => !line.hidden).map(axisOf))];
    return {
        width, height, legend: { show: false },
        cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: !axis }, bind: { dblclick: (_plot, _target, usual) => (event) => { if (shown.current.axis) shown.current.axis.back(); else usual(event); return null; } } },
        hooks: {
            init: [(plot) => { plot.over.append(place); }],
            draw: [(plot) => drawMarks(plot, shown.current.axis?.marks ?? [])],
            setCursor: [(plot) => read(plot, place, shown.current.times, shown.current.lines, one, shown.current.axis?.marks ?? [])],
            setSelect: [(plot) => {
                const { left, width: size } = plot.select;
                if (!shown.current.axis || size < 3) return;
                shown.current.axis.zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + size, "x") * 1000);
                plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            }],
        },
        bands: bandsOf(lines).map((line, i) => ({ series: [lines.length + 1 + 2 * i, lines.length + 2 + 2 * i] as [number, number], fill: soft(line.colour) })),
        scales: { x: { range: (_, least, most) => (shown.current.axis ? [shown.current.axis.from / 1000, shown.current.axis.to / 1000] : [least, most]) }, ...Object.fromEntries(units.map((unit) => [`y${unit}`, unit === "%" ? { range: (_: uPlot, __: number, most: number) => [0, Math.max(100, most)] as [number, number] } : {}])) },
        series: [{}, ...lines.map((line) => ({
            label: line.label, scale: `y${axisOf(line)}`, stroke: line.colour, dash: line.dash,
            width: line.marked ? 4 : 1.5, show: !line.hidden, points: { show: false },
        })), ...bandsOf(lines).flatMap((line) => [0, 1].map(() => ({
            scale: `y${axisOf(line)}`, width: 0, show: !line.hidden, points: { show: false },
        })))],
        axes: [
            { stroke: ink, grid: { stroke: grid, filter: inside }, ticks: { filter: inside }, space: 90, incrs: STEPS, filter: inside, values: (_: uPlot, splits: number[], __: number, ___: number, step: number) => timeLabels(splits, step) },
            ...units.slice(0, width < NARROW ? 2 : 3).map((unit, i) => ({
                scale: `y${unit}`, side: i ? 1 : 3, stroke: ink, size: axisSize, grid: { show: !i, stroke: grid },
                ...(/^B/.test(unit) && !one ? { incrs: byteSteps } : {}),
                values: (_: uPlot, values: number[]) => labels(values, one ? undefined : counterOf(unit)),
            })),
        ],
    };
}

export function Chart({ live, lines, one, axis, height = 320 }: { live: Shown; lines: Line[]; one: boolean; axis?: Axis; height?: number }) {
    const newest = useRef({ axis, lines, times: live.times });
    newest.current = { axis, lines, times: live.times };
    const place = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), shape = useRef(""), drawn = useRef<{ data: Values[]; axis?: Axis }>({ data: [] });
    useEffect(() => {
        const width = place.current!.clientWidth, before = drawn.current;
        const data = thinned(live.times.map((time) => time / 1000), [...lines.map((line) => scaled(line.series.values, line.factor)),
            ...bandsOf(lines).flatMap((line) => [line.series.most!, line.series.least!].map((values) => scaled(values, line.factor)))], width);
        drawn.current = { data, axis };
        const now = JSON.stringify([one, !!axis, width < NARROW, getLanguage(), lines.map((line) => [line.label, line.hidden, line.marked, unitOf(line.counter), !!line.series.least])]);
        if (now !== shape.current || !plot.current) {
            plot.current?.destroy();
            plot.current = new uPlot(options(lines, one, width, height, newest), data as uPlot.AlignedData, place.current!);
            shape.current = now;
        } else if (before.axis?.from !== axis?.from || before.axis?.to !== axis?.to || !isSame(before.data, data)) {
            plot.current.setData(data as uPlot.AlignedData);
        } else if (JSON.stringify(before.axis?.marks) !== JSON.stringify(axis?.marks)) {
            plot.current.redraw(false);
        }
    });
    useEffect(() => {
        const print = (event: Event) => { /* paper is light */
            document.documentElement.classList.toggle("paper", event.type === "beforeprint");
            plot.current?.redraw();
        };
        const resized = new ResizeObserver(() => {
            const width = place.current?.clientWidth;
            if (width && plot.current && width !== plot.current.width) plot.current.setSize({ width, height });
        });
        const scheme = matchMedia("(prefers-color-scheme: dark)"), shaded = () => plot.current?.redraw();
        resized.observe(place.current!);
        scheme.addEventListener("change", shaded);
        addEventListener("beforeprint", print);
        addEventListener("afterprint", print);
        return () => {
            resized.disconnect();
            scheme.removeEventListener("change", shaded);
            removeEventListener("beforeprint", print);
            removeEventListener("afterprint", print);
            plot.current?.destroy();
        };
    }, []);
    return <div class="chart" ref={place} role="img" aria-label={t("Chart; the table below has its numbers")} />;
}

/** Says that no line has a value, unless values may still come: the first of a rate needs two samples. */
export function NoValues({ live, lines }: { live: Shown; lines: Line[] }) {
    if (live.reading || live.times.length === 1 || !live.tables.every((each) => each.tick)) return null;
    return lines.some((line) => line.series.values.some((value) => typeof value === "number")) ? null : <p class="note">{t("no values in this range of time")}</p>;
}
