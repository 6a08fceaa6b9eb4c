// SPDX-License-Identifier: MIT
// The range of time of the chart, and the marks on its axis as a list.

import { Mark, Past, rangeOf, SPANS, USUAL } from "./past";
import { t, tag, Text, translated } from "./texts";

const NAMES: Record<string, Text> = { "5m": "5 minutes", "1h": "Hour", "1d": "Day", "7d": "Week", "14d": "14 days" };
const LEAST = 10000;

export function timeText(time: number): string {
    return new Date(time).toLocaleString(tag(), { dateStyle: "short", timeStyle: "medium" });
}

function localInput(time: number): string {
    const zone = new Date(time).getTimezoneOffset() * 60000;
    return new Date(time - zone).toISOString().slice(0, 19);
}

export function rangeText(from: number, to: number): string {
    const middle = (from + to) / 2, half = Math.max(to - from, LEAST) / 2, now = Date.now();
    return `${Math.round(middle - half)}-${Math.round(Math.max(Math.min(middle + half, now), middle - half + LEAST))}`;
}

/** Buttons that choose the shown range of time. `set` gets the text for the page's address. `past`
 * null: the range is a part of a capture. */
export function RangeBar({ text, from, to, set, past }: { text: string; from: number; to: number; set(text: string): void; past: Past | null }) {
    const range = rangeOf(text), fixed = !("seconds" in range), size = to - from;
    const move = (begin: number, end: number) => () => set(rangeText(begin, end));
    const typed = (begin: string, end: string) => {
        const ends = [begin, end].map((each) => new Date(each).getTime());
        if (ends[0] < ends[1]) set(`${ends[0]}-${ends[1]}`);
    };
    return (
        <div class="range" role="group" aria-label={t("Range of time")}>
            {past && Object.keys(SPANS).map((key) => <button key={key} aria-pressed={!fixed && (text || USUAL) === key} onClick={() => set(key)}>{t(NAMES[key])}</button>)}
            <button title={t("Earlier")} aria-label={t("Earlier")} onClick={move(from - size / 2, to - size / 2)}>◀</button>
            <button title={t("Later")} aria-label={t("Later")} disabled={!fixed} onClick={move(from + size / 2, to + size / 2)}>▶</button>
            <button title={t("Closer")} aria-label={t("Closer")} onClick={move(from + size / 4, to - size / 4)}>+</button>
            <button title={t("Farther")} aria-label={t("Farther")} onClick={move(from - size / 2, to + size / 2)}>−</button>
            <label>{t("from")} <input type="datetime-local" step="1" value={localInput(from)} onChange={(event) => typed(event.currentTarget.value, localInput(to))} /></label>
            <label>{t("to")} <input type="datetime-local" step="1" value={localInput(to)} onChange={(event) => typed(localInput(from), event.currentTarget.value)} /></label>
            {fixed && <button class="back" onClick={() => set("")}>{t(past ? "Back to live" : "Whole capture")}</button>}
            <span class="note" role="status">{past?.reading ? t("reading…") : ""}</span>
        </div>
    );
}

const KINDS: Record<Mark["kind"], Text> = {
    event: "logged", gap: "recording stopped", start: "recording continued", birth: "begins: {}", death: "ends: {}", hole: "no samples until {}",
    join: "before: recorded by the set “base”; after: from the memory of the server",
};
const SHOWN = 200;

export function markText(mark: Mark): string {
    return mark.kind === "event" ? `${mark.level}: ${mark.text}` : t(KINDS[mark.kind], mark.text);
}

/** A list of the marks; a click on one shows the time around it. */
export function Marks({ marks, set, past, more }: { marks: Mark[]; set(text: string): void; past: Past | null; more: boolean }) {
    const notes = !past ? [] : [translated(past.why), translated(past.lost), past.own && t("The set “base” shown here is that of the server's user, in {}; the system's set of this name is not read.", past.own), more ? t("Only the first 256 instances of a counter are shown.") : "", past.eventsWhy && t("No events: {}", past.eventsWhy)].filter(Boolean);
    return (
        <>{notes.map((note) => <p key={note} class="note">{note}</p>)}
        {marks.length > 0 && <details class="marks">
            <summary>{t("Marks on the time axis: {}", marks.length)}</summary>
            <ol>{marks.slice(0, SHOWN).map((mark, i) => (
                <li key={i} class={`${mark.kind} ${mark.level}`}><button onClick={() => set(rangeText(mark.time - 300000, mark.time + 300000))}>
                    <time>{timeText(mark.time)}</time> {markText(mark)}</button></li>))}</ol>
        </details>}</>
    );
}
