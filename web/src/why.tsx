// SPDX-License-Identifier: MIT
// Why a value is missing: of a whole counter, and of cells.

import type { Column, Table } from "./live";
import { parts, titleOf } from "./objects";
import { t, Text, translated } from "./texts";

const REASONS: Record<number, Text> = {
    0x800007d0: "the machine does not answer",
    0x800007d1: "there is no such instance now",
    0x800007d6: "the counter's clock or base ran backwards",
    0x800007d7: "the frequency of the counter's clock is 0",
    0x800007d8: "the counter ran backwards, as after a restart",
    0xc0000bb8: "there is no such object now: its provider is not installed or does not answer",
    0xc0000bb9: "the object has no such counter",
    0xc0000bba: "no value yet, or not permitted to this user",
    0xc0000bc6: "the value needs two samples",
};

export function reason(status: number): string {
    return t(REASONS[status] ?? "no value (status {})", `0x${status.toString(16).toUpperCase()}`);
}

/** Returns why values of the table are missing, a text for each reason; an empty array: none is
 * missing. */
export function missing(table: Table | undefined): string[] {
    if (!table || table.key.startsWith("#")) return []; /* lists of processes say it themselves */
    const found = new Map<string, number>();
    const failed = table.columns.filter((column) => column.status), reasonOf = (column: Column) => (column.why ? translated(column.why) : reason(column.status));
    if (failed.length === table.columns.length && failed.length > 1 && new Set(failed.map(reasonOf)).size === 1)
        return [`\\${titleOf(parts(failed[0].path).object)}: ${reasonOf(failed[0])}`]; /* once for the whole object */
    if (failed.length) return failed.map((column) => {
        const { object, counter } = parts(column.path);
        return `\\${titleOf(object)}\\${titleOf(counter)}: ${reasonOf(column)}`;
    });
    for (const status of table.reasons.values()) found.set(reason(status), (found.get(reason(status)) ?? 0) + 1);
    const why = table.columns.find((column) => column.why)?.why;
    return [...(why ? [translated(why)] : []), ...[...found].map(([text, count]) => t("{} values are missing: {}", count, text))]
        .map((text) => `\\${titleOf(parts(table.columns[0].path).object)}: ${text}`);
}

/** Shows the reasons for missing values, a line for each, below their tables. With `remove`, a
 * counter that has no value at all, or no line, gets a button that removes it. */
export function Why({ tables, remove, hasLine = () => true }: { tables: Table[]; remove?: (path: string) => void; hasLine?: (path: string) => boolean }) {
    const absent = tables.filter((table) => table.tick && !table.rows.length).flatMap((table) => table.columns).filter((column) => !column.status && !hasLine(column.path));
    const lines = [...new Set([...tables.flatMap(missing), ...absent.map((column) => `${column.path}: ${t("there is no such instance now")}`)])];
    const failed = remove ? tables.flatMap((table) => table.columns).filter((column) => column.status || absent.includes(column)) : [];
    return lines.length + failed.length
        ? <div class="why">
            <ul>{lines.map((line) => <li key={line}>{line}</li>)}</ul>
            {failed.map((column) => <button key={column.path} onClick={() => remove!(column.path)}>{t("Remove {}", column.path)}</button>)}
        </div>
        : null;
}
