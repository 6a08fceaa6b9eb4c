// SPDX-License-Identifier: MIT
// Lists of counters: those that Windows' perfmon has saved (.htm, .xml), and sets for logman.

import { ObjectType, parts } from "./objects";
import { request } from "./session";
import { split } from "./captures";

/** Decodes a text file from Windows: UTF-16 with a byte order mark, UTF-8, or else code page
 * 1252. */
export async function textOf(file: File): Promise<string> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
        return new TextDecoder("windows-1252").decode(bytes);
    }
}

/** Returns the paths in a saved list of counters: the parameters CounterNNNNN.Path of the object in
 * a .htm file, the elements Counter of the set in a .xml file. The document is only parsed: no
 * script runs, and nothing is loaded. */
export function pathsIn(text: string): string[] {
    const page = new DOMParser().parseFromString(text, /^\s*(<\?xml|<DataCollectorSet)/i.test(text) ? "application/xml" : "text/html");
    const named = [...page.querySelectorAll("param")]
        .map((each) => [each.getAttribute("name") ?? "", each.getAttribute("value") ?? ""])
        .filter(([name]) => /^counter\d+\.path$/i.test(name)).sort(([left], [right]) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1)).map(([, value]) => value);
    const elements = [...page.querySelectorAll("Counter")].map((each) => each.textContent!.trim());
    return [...new Set([...named, ...elements])].filter((path) => path.startsWith("\\"));
}

/** Replaces the names in the paths, which may be in another language, by this machine's English
 * names. `unknown` gets the paths that this machine does not have. */
export async function known(paths: string[], objects: ObjectType[]): Promise<{ paths: string[]; unknown: string[] }> {
    const wanted = paths.map(split), titles = [...new Set(wanted.flatMap(({ object, counter }) => [object, counter]))];
    const answer: string[][] = await (await request("/api/titles", { method: "POST", body: titles.join("\n") })).json();
    const english = new Map(titles.map((title, i) => [title, [title, ...answer[i].filter(Boolean)].map((each) => each.toLowerCase())]));
    const found: string[] = [], unknown: string[] = [];
    wanted.forEach(({ object, instance, counter }, i) => {
        const same = objects.find((each) => english.get(object)!.includes(each.name.toLowerCase()));
        const counters = counter === "*" ? same?.counters.filter((each) => !each.text) : same?.counters.filter((each) => english.get(counter)!.includes(each.name.toLowerCase())).slice(0, 1);
        if (!same || !counters?.length || (instance === null) !== same.single) unknown.push(paths[i]);
        else for (const each of counters) found.push(`\\${same.name}${instance === null ? "" : `(${instance})`}\\${each.name}`);
    });
    return { paths: [...new Set(found)], unknown };
}

const quoted = (text: string) => `'${text.replace(/'/g, "'\\''")}'`;
const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Returns the command that makes a set of these counters. */
export function setCommand(name: string, paths: string[], seconds: number): string {
    return `logman create counter ${quoted(name)} -si ${seconds} -c ${paths.map(quoted).join(" ")}`;
}

/** Returns the command that writes what the set `base` has of these counters, with its raw values. */
export function partCommand(paths: string[], from: number, to: number): string {
    const when = (time: number) => { const [year, month, day] = new Date(time).toISOString().split(/[-T]/); return `'${month}/${day}/${year} ${new Date(time).toISOString().slice(11, 19)}'`; };
    return `TZ=UTC relog base -b ${when(from)} -e ${when(to)} -f BIN -o chart.blg -c ${paths.map(quoted).join(" ")}`;
}

/** Returns the same set as a file, for "logman import NAME -xml FILE" and for Windows. */
export function setFile(name: string, paths: string[], seconds: number): string {
    return `<?xml version="1.0" encoding="UTF-8"?>
<DataCollectorSet>
  <Name>${escaped(name)}</Name>
  <PerformanceCounterDataCollector>
    <DataCollectorType>0</DataCollectorType>
    <Name>${escaped(name)}</Name>
    <FileName>${escaped(name)}</FileName>
    <SampleInterval>${seconds}</SampleInterval>
    <LogFileFormat>3</LogFileFormat>
${paths.map((path) => `    <Counter>${escaped(path)}</Counter>\n`).join("")}  </PerformanceCounterDataCollector>
</DataCollectorSet>
`;
}

/** Returns the lines of a chart in the format in which PDH writes a CSV capture, with the times in
 * UTC. */
export function csvOf(machine: string, times: number[], lines: { path: string; values: (number | null | undefined)[] }[]): string {
    const two = (value: number) => String(value).padStart(2, "0");
    const when = (time: number) => {
        const at = new Date(time);
        return `${two(at.getUTCMonth() + 1)}/${two(at.getUTCDate())}/${at.getUTCFullYear()} ${at.toISOString().slice(11, 23)}`;
    };
    const cell = (text: string) => `"${text.replace(/"/g, '""')}"`;
    const row = (cells: string[]) => cells.map(cell).join(",") + "\r\n";
    return row(["(PDH-CSV 4.0) (UTC)(0)", ...lines.map((line) => `\\\\${machine}${line.path}`)]) +
        times.map((time, i) => row([when(time), ...lines.map((line) => (typeof line.values[i] === "number" ? String(line.values[i]) : " "))])).join("");
}
