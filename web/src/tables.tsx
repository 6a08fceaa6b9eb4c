// SPDX-License-Identifier: MIT
// Tables of the newest sample: one object as a report, and the list of processes.

import { useState } from "preact/hooks";
import { number } from "./format";
import type { Cell, Live, Row, Unit } from "./live";
import { Counter, ObjectType, titleOf } from "./objects";
import { t } from "./texts";
import { Why } from "./why";

const MOST_ROWS = 500;

/** `key` is the English name, which the page's address contains. */
interface Field { key: string; title: string; counter?: Unit; text?: boolean; cell(row: Row): Cell; }

export function DataTable({ fields, rows, first, sort, setSort, filter, caption }: {
    fields: Field[]; rows: Row[]; first: string; sort: string; setSort(sort: string): void; filter: string; caption: string;
}) {
    const [name, down] = sort.startsWith("-") ? [sort.slice(1), true] : [sort, false];
    const field = fields.find((each) => each.key === name);
    const key = (row: Row): Cell => (field ? field.cell(row) : row.name);
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) =>
        row.name.toLowerCase().includes(word) || fields.some((each) => each.text && String(each.cell(row) ?? "").toLowerCase().includes(word))));
    if (name) found.sort((left, right) => {
        const a = key(left), b = key(right);
        if (a === null || a === undefined) return 1; /* rows without a value are last in both directions */
        if (b === null || b === undefined) return -1;
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    const head = (id: string, title: string, text: boolean) => (
        <th key={id} class={text ? "" : "number"} aria-sort={name === id ? (down ? "descending" : "ascending") : "none"}>
            <button onClick={() => setSort(name === id ? (down ? id : `-${id}`) : text ? id : `-${id}`)}>{title}</button>
        </th>);
    return (
        <table class="data">
            <caption>{found.length > MOST_ROWS ? t("{} – the first {} of {} rows", caption, MOST_ROWS, found.length) : caption}</caption>
            <thead><tr>{first ? head("", first, true) : <td />}{fields.map((each) => head(each.key, each.title, !!each.text))}</tr></thead>
            <tbody>{found.slice(0, MOST_ROWS).map((row) => (
                <tr key={row.identity}><th scope="row">{row.name || "–"}</th>{fields.map((each) => {
                    const cell = each.cell(row);
                    return each.text ? <td key={each.key}>{cell}</td> : <td key={each.key} class="number">{number(cell as number | null, each.counter)}</td>;
                })}</tr>))}</tbody>
        </table>
    );
}

/** Returns the lists that request all counters of an object: one for numbers, one for texts. */
export function reportLists(object: ObjectType): string[] {
    const path = (counter: Counter) => `\\${object.name}${object.single ? "" : "(*)"}\\${counter.name}`;
    const numbers = object.counters.filter((each) => !each.text).slice(0, 64), texts = object.counters.filter((each) => each.text);
    return [numbers.map((each) => (each.raw ? "=" : "") + path(each)).join("\n"), texts.map((each) => `@${path(each)}`).join("\n")].filter(Boolean);
}

export function Report({ live, object, sort, setSort, filter }: {
    live: Live; object: ObjectType; sort: string; setSort(sort: string): void; filter: string;
}) {
    const text = live.tables.find((table) => table.key.startsWith("@")), numbers = live.tables.find((table) => !table.key.startsWith("@"));
    const texts = new Map(text?.rows.map((row) => [row.identity, row.cells]));
    const shown = object.counters.filter((each) => !each.text).slice(0, 64);
    const fields: Field[] = [
        ...shown.map((counter, i) => ({ key: counter.name, title: counter.title, counter, cell: (row: Row) => (numbers ? row.cells[i] : null) })),
        ...object.counters.filter((each) => each.text).map((counter, i) => ({ key: counter.name, title: counter.title, text: true, cell: (row: Row) => texts.get(row.identity)?.[i] ?? null })),
    ];
    const rows = (numbers ?? text)?.rows ?? [];
    const why = (numbers ?? text)?.columns.find((column) => column.why)?.why ?? object.why;
    return rows.length
        ? <div class="scroll"><DataTable fields={fields} rows={[...rows]} first={object.single ? t("Object") : t("Instance")} sort={sort} setSort={setSort} filter={filter} caption={object.title} />
            <Why tables={live.tables} /></div>
        : <p class="note">{why ?? t("No values yet.")}</p>;
}
