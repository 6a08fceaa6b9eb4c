// SPDX-License-Identifier: MIT
// Which source the page shows: this machine, or captures that were opened here; what differs between
// two of them; what is shown, as a file, and as a set of logman.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Line } from "./chart";
import { Capture, compare, Difference, readCapture, readKept, readPart, Recording, upload } from "./captures";
import { number } from "./format";
import { csvOf, known, partCommand, pathsIn, setCommand, setFile, textOf } from "./lists";
import type { Shown } from "./past";
import type { ObjectType } from "./objects";
import { NoSession } from "./session";
import { decimal, t, tag, translated } from "./texts";

const MOST_ROWS = 500;
const when = (time: number) => new Date(time).toLocaleString(tag());

/** The state of the part of the page that shows captures and lists of counters; `open` takes files
 * of both kinds. */
export interface Sources {
    opened: Capture[]; shown: Capture[]; problem: string; unknown: string[]; busy: string;
    open(files: Iterable<File>): void; forget(): void;
}

export function useSources(ids: string[], objects: ObjectType[], show: (capture: string, second: string) => void,
    chart: (paths: string[]) => void, failed: (error: NoSession) => void): Sources {
    const [opened, setOpened] = useState<Capture[]>([]), [problem, setProblem] = useState(""), [unknown, setUnknown] = useState<string[]>([]);
    const [busy, setBusy] = useState("");
    const report = (error: unknown) => (error instanceof NoSession ? failed(error) : setProblem(String((error as Error).message || error)));
    const read = async (id: string) => {
        const capture = await readCapture(id);
        setOpened((old) => (old.some((each) => each.id === id) ? old : [...old, capture]));
    };
    useEffect(() => {
        for (const id of ids) if (id && !opened.some((each) => each.id === id)) read(id).catch(report);
    }, [ids.join()]);
    const takeList = async (file: File) => {
        const found = pathsIn(await textOf(file));
        if (!found.length) throw new Error(t("{} contains no list of counters.", file.name));
        const lists = await known(found, objects);
        setUnknown(lists.unknown);
        if (lists.paths.length) chart(lists.paths);
    };
    const open = async (files: Iterable<File>) => {
        const added: string[] = [];
        setProblem("");
        setUnknown([]);
        try {
            for (const file of files) {
                setBusy(t("{} is being read…", file.name));
                if (/\.(html?|xml)$/i.test(file.name)) { await takeList(file); continue; }
                const id = await upload(file);
                await read(id);
                added.push(id);
            }
        } catch (error) {
            report(error);
        }
        setBusy("");
        if (added.length) show(added[0], added[1] ?? "");
    };
    const latest = useRef(open);
    latest.current = open;
    useEffect(() => {
        const over = (event: DragEvent) => event.preventDefault();
        const drop = (event: DragEvent) => { event.preventDefault(); void latest.current(event.dataTransfer?.files ?? []); };
        addEventListener("dragover", over);
        addEventListener("drop", drop);
        return () => { removeEventListener("dragover", over); removeEventListener("drop", drop); };
    }, []);
    const shown = ids.map((id) => opened.find((each) => each.id === id)).filter((each): each is Capture => !!each);
    return { opened, shown, problem, unknown, busy, open: (files) => void open(files), forget: () => {
        setProblem("");
        setUnknown([]);
        /* the address names a capture that the server does not have any more */
        if (ids[0] && !shown.length) show("", "");
    } };
}

/** Returns the captures that are shown, in place of the machine; null: the machine is shown. */
export function useRecording(shown: Capture[], redraw: () => void): Recording | null {
    return useMemo(() => (shown.length ? new Recording(redraw, shown) : null), [shown.map((each) => each.id).join()]);
}

export function SourceChoice({ sources, machine, capture, second, show }: {
    sources: Sources; machine: string; capture: string; second: string; show(capture: string, second: string): void;
}) {
    const input = useRef<HTMLInputElement>(null);
    return (
        <>
            {sources.opened.length > 0 && <select aria-label={t("Source")} value={capture} onChange={(event) => show(event.currentTarget.value, "")}>
                <option value="">{machine}</option>
                {sources.opened.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
            </select>}
            {capture && sources.opened.length > 1 && <select aria-label={t("Compare with")} value={second} onChange={(event) => show(capture, event.currentTarget.value)}>
                <option value="">{t("compare with…")}</option>
                {sources.opened.filter((each) => each.id !== capture).map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
            </select>}
            <button class="open" title={t("Open captures (.blg, .csv, .tsv, .zst) or counter lists of perfmon (.htm, .xml); they can also be dropped on the page")}
                onClick={() => input.current!.click()}>{t("Open…")}</button>
            <input ref={input} type="file" hidden multiple accept=".blg,.csv,.tsv,.zst,.htm,.html,.xml" aria-label={t("Open…")} tabIndex={-1}
                onChange={(event) => { sources.open([...event.currentTarget.files!]); event.currentTarget.value = ""; }} />
        </>
    );
}

/** Shows which captures are shown, and what could not be read of them. */
export function SourceNotes({ sources, recording }: { sources: Sources; recording: Recording | null }) {
    const { problem, unknown, busy, shown } = sources;
    if (!problem && !unknown.length && !busy && !shown.length) return null;
    return (
        <div class="source" role="status">
            {busy && <p class="note">{busy}</p>}
            {shown.map((capture, i) => (
                <p key={capture.id}><b>{shown.length > 1 ? `${"AB"[i]}: ` : ""}{capture.name}</b> {t("{} samples, {} to {}", capture.samples, when(capture.first), when(capture.last))}</p>))}
            {recording?.loss && <details><summary>{t("Not everything could be read")}</summary><pre>{translated(recording.loss)}</pre></details>}
            {problem && <p class="problem">{translated(problem)} <button onClick={sources.forget}>×</button></p>}
            {unknown.length > 0 && <details open><summary>{t("Counters of the list that this machine does not have: {}", unknown.length)}</summary>
                <ul>{unknown.map((path) => <li key={path}>{path}</li>)}</ul><button onClick={sources.forget}>{t("Close")}</button></details>}
        </div>
    );
}

/* ---- what differs ---- */

export function Comparison({ captures, filter, add }: { captures: Capture[]; filter: string; add(path: string): void }) {
    const [rows, setRows] = useState<Difference[] | null>(null), [problem, setProblem] = useState("");
    useEffect(() => {
        setRows(null);
        compare(captures).then(setRows, (error: unknown) => setProblem(String((error as Error).message || error)));
    }, [captures.map((each) => each.id).join()]);
    if (problem) return <p class="problem">{translated(problem)}</p>;
    if (!rows) return <p class="note">{t("reading…")}</p>;
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) => row.path.toLowerCase().includes(word)));
    const change = (row: Difference) => (row.relative === null ? "–" : Number.isFinite(row.relative)
        ? decimal(`${row.relative > 0 ? "+" : ""}${(row.relative * 100).toFixed(1)}\u202f%`) : t("from 0"));
    return (
        <table class="data">
            <caption>{t("Averages of both captures, the largest change first")}{found.length > MOST_ROWS ? t(" – the first {} of {} rows", MOST_ROWS, found.length) : ""}</caption>
            <thead><tr><th>{t("Counter")}</th><th class="number">{t("Average")} A</th><th class="number">{t("Average")} B</th>
                <th class="number">{t("Difference")}</th><th class="number">{t("Change")}</th><th>{t("Chart")}</th></tr></thead>
            <tbody>{found.slice(0, MOST_ROWS).map((row) => (
                <tr key={row.path}><th scope="row">{row.path}</th>
                    {[row.a, row.b, row.difference].map((value, i) => <td class="number" key={i}>{i === 2 && value !== null && value > 0 ? "+" : ""}{number(value, row.counter)}</td>)}
                    <td class="number">{change(row)}</td>
                    <td><button aria-label={t("Show {}", row.path)} onClick={() => add(row.path.replace(/^\\\\[^\\]+/, ""))}>+</button></td></tr>))}</tbody>
        </table>
    );
}

/* ---- what is shown, as a file ---- */

function save(name: string, content: Blob): void {
    const address = URL.createObjectURL(content), link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Draws the chart with its legend, or the heat maps with their titles, on the page's background. */
function imageOf(lines: Line[]): Promise<Blob | null> {
    const canvas = document.createElement("canvas"), ratio = devicePixelRatio || 1, row = 18 * ratio;
    const drawn = [...document.querySelectorAll<HTMLCanvasElement>(".chart canvas, .heat canvas")].map((each) => {
        const title = each.closest(".heat")?.querySelector("figcaption")?.firstChild?.textContent;
        return { each, title, top: title ? row : 0, width: each.clientWidth * ratio, height: each.clientHeight * ratio };
    });
    const shown = drawn.some(({ title }) => title) ? [] : lines.filter((line) => !line.hidden);
    canvas.width = Math.max(...drawn.map(({ width }) => width));
    canvas.height = drawn.reduce((sum, { top, height }) => sum + top + height, row * (shown.length + 1));
    const context = canvas.getContext("2d")!, style = getComputedStyle(document.body);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.font = `${13 * ratio}px ${style.fontFamily}`;
    let end = 0;
    for (const { each, title, top, width, height } of drawn) {
        context.fillStyle = style.color;
        if (title) context.fillText(title, 8 * ratio, end + top - 4 * ratio);
        context.imageSmoothingEnabled = !title; /* a pixel of a heat map becomes a rectangle */
        context.drawImage(each, 0, end + top, width, height);
        end += top + height;
    }
    shown.forEach((line, i) => {
        const y = end + row * (i + 1);
        context.strokeStyle = line.colour;
        context.lineWidth = 3 * ratio;
        context.setLineDash(line.dash.map((each) => each * ratio));
        context.beginPath();
        context.moveTo(16 * ratio, y - 4 * ratio);
        context.lineTo(44 * ratio, y - 4 * ratio);
        context.stroke();
        context.fillStyle = style.color;
        context.fillText(line.label, 52 * ratio, y);
    });
    return new Promise((resolve) => canvas.toBlob(resolve));
}

/** `recorded`: the set `base` has something of the range; `drawn`: there is a chart or a heat map. */
export function Save({ drawn, live, recording, recorded, lines, paths, machine, seconds, range }: {
    drawn: boolean; live: Shown; recording: Recording | null; recorded: boolean; lines: Line[]; paths: string[]; machine: string; seconds: number; range: [number, number] | null;
}) {
    const [set, setSet] = useState(false), [blg, setBlg] = useState(false), [problem, setProblem] = useState("");
    const failed = (error: unknown) => setProblem(String((error as Error).message || error));
    const part = (format: string) => {
        setProblem("");
        const capture = recording!.captures[0], base = capture.name.replace(/(\.(blg|csv|tsv|zst))+$/i, "");
        readPart(capture, format, paths, range?.[0] ?? 0, range?.[1] ?? 0).then((content) => save(`${base}-part.${format}`, content), failed);
    };
    const places = live.times.map((time, i) => [time, i]).filter(([time]) => !range || (time >= range[0] && time <= range[1]));
    const kept = () => {
        setProblem("");
        setBlg(true);
        /* from the sample before the first one on, which a rate needs; the page's times are without parts of a ms */
        const [first, at] = places[0] ?? [0, 0], last = places[places.length - 1]?.[0] ?? 0;
        readKept(machine, paths, live.times[at - 1] ?? first, last + 1).then((content) => save(`${machine}.blg`, content), failed);
    };
    const sheet = () => {
        const shown = lines.filter((line) => !line.hidden), sampled = places.filter(([time]) => !live.made.has(time));
        save(`${machine}.csv`, new Blob([csvOf(machine, sampled.map(([time]) => time), shown.map((line) => ({ path: line.name, values: sampled.map(([, i]) => line.series.values[i]) })))], { type: "text/csv" }));
    };
    return (
        <div class="save">
            <span>{t("Save what is shown:")}</span>
            <button onClick={() => (recording ? part("csv") : sheet())}>CSV</button>
            <button onClick={() => (recording ? part("blg") : kept())}>BLG</button>
            <button disabled={!drawn} title={drawn ? "" : t("A picture is made of lines and of heat maps.")} onClick={() => { void imageOf(lines).then((content) => content && save(`${machine}.png`, content)); }}>PNG</button>
            <button aria-expanded={set} onClick={() => setSet(!set)}>{t("Set of logman…")}</button>
            {problem && <p class="problem">{translated(problem)}</p>}
            {blg && !recording && <p class="note">{t("The .blg has the raw values that the server keeps, from when the chart was first opened on: at most an hour of 60 lines. To keep more, record a set.")}</p>}
            {blg && recorded && range && <Command about={t("This writes the raw values of the set “base” from this range of time. Run it on the machine.")} text={partCommand(paths, ...range)} />}
            {set && <NewSet paths={paths} seconds={seconds} />}
        </div>
    );
}

/** Shows a command that a user with the rights for it may run. */
function Command({ about, text }: { about: string; text: string }) {
    return <div class="set"><p>{about}</p><pre tabIndex={0}>{text}</pre><button onClick={() => void navigator.clipboard?.writeText(`${text}\n`)}>{t("Copy")}</button></div>;
}

/** Shows the commands that make and start a set. The page does not run them, because it has the
 * server's rights on the machine, not those of its reader. */
function NewSet({ paths, seconds }: { paths: string[]; seconds: number }) {
    const [name, setName] = useState("chart"), [every, setEvery] = useState(Math.max(1, Math.round(seconds)));
    const command = setCommand(name, paths, every);
    return (
        <div class="set">
            <p>{t("These commands create and start a set that records these counters. Run them on the machine; the page itself starts nothing there.")}</p>
            <label>{t("Name")} <input value={name} maxLength={64} onInput={(event) => setName(event.currentTarget.value.replace(/[^\w.-]/g, "_"))} /></label>
            <label>{t("Seconds between samples")} <input type="number" min={1} max={86400} value={every} onInput={(event) => setEvery(Math.max(1, Number(event.currentTarget.value) || 1))} /></label>
            <pre tabIndex={0}>{`${command}\nlogman start ${name}`}</pre>
            <button onClick={() => void navigator.clipboard?.writeText(`${command}\nlogman start ${name}\n`)}>{t("Copy")}</button>
            <button onClick={() => save(`${name}.xml`, new Blob([setFile(name, paths, every)], { type: "application/xml" }))}>{t("Save as XML for logman import")}</button>
        </div>
    );
}
