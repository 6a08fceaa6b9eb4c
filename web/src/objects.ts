// SPDX-License-Identifier: MIT
// The tree of all objects and counters, with explanations, and the search in it.

import type { Unit } from "./live";
import { NoSession, ofMachine, request } from "./session";
import { getLanguage, LANGUAGES } from "./texts";

/** `title` is the name in the page's language; paths contain the English name. */
export interface Counter extends Unit { name: string; title: string; explain: string | null; text: boolean; raw: boolean; }
export interface ObjectType {
    name: string; title: string; explain: string | null; why: string | null; single: boolean; instances: number;
    counters: Counter[];
    costly?: boolean; /* it takes longer to read than other objects */
    names?: string[]; /* the object's instances in a capture */
}

/** Short names that are usual on Linux, and words in the names of the objects that they stand
 * for. */
const SHORT: Record<string, string[]> = {
    cpu: ["processor"], mem: ["memory"], net: ["network"], load: ["load average"], disk: ["disk"],
    swap: ["swap", "paging"], io: ["disk", "i/o"],
};

const titles = new Map<string, string>();

/** The name of an object or counter in the page's language. */
export const titleOf = (name: string): string => titles.get(name) ?? name;

/** Reads the objects. While the server is still reading them, calls `take` repeatedly with those
 * that are there. */
export async function readObjects(machine: string, take: (objects: ObjectType[]) => void, wanted: () => boolean): Promise<void> {
    for (let pause = 200; wanted(); pause = Math.min(pause * 2, 5000)) {
        const answer = await request(ofMachine(`/api/objects?language=${getLanguage()}`, machine)).then((found) => found.json(), (error) => {
            if (error instanceof NoSession) throw error;
            return { complete: false }; /* the server is away */
        });
        if (!wanted()) return;
        for (const object of (answer.objects ?? []) as ObjectType[])
            for (const each of [object, ...object.counters]) titles.set(each.name, each.title);
        if (answer.objects) take(answer.objects);
        if (answer.complete) return;
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
}

export async function readInstances(object: string, machine: string): Promise<string[]> {
    return (await (await request(ofMachine(`/api/instances?object=${encodeURIComponent(object)}`, machine))).json()).instances;
}

const keyOf = (object: ObjectType, counter: Counter | null) => `${object.name}\n${counter?.name ?? ""}`;
/** Names and explanations in every language, by English names. */
let everywhere = new Map<string, string>(), searched: string | null = null;

/** Reads what a search in every language needs, once for each machine. Fails without a session. */
export async function readLanguages(machine: string): Promise<void> {
    if (searched === machine) return;
    searched = machine;
    const found = new Map<string, string>();
    try {
        const answers = await Promise.all(LANGUAGES.map(async ([language]) => (await request(ofMachine(`/api/objects?language=${language}`, machine))).json()));
        for (const object of answers.flatMap((answer) => answer.objects as ObjectType[]))
            for (const each of [null, ...object.counters]) found.set(keyOf(object, each), [found.get(keyOf(object, each)), object.title, each?.title, (each ?? object).explain].join(" ").toLowerCase());
        everywhere = found;
        if (!answers.every((answer) => answer.complete)) searched = null;
    } catch (error) {
        searched = null; /* the next search tries again */
        throw error;
    }
}

/** True if every word is in the names or explanations of the object or counter. */
export function matches(object: ObjectType, counter: Counter | null, words: string): boolean {
    const text = [object.name, object.title, counter?.name, counter?.title, counter ? counter.explain : object.explain].join(" ").toLowerCase()
        + (everywhere.get(keyOf(object, counter)) ?? "");
    return words.toLowerCase().split(/\s+/).every((word) =>
        text.includes(word) || (SHORT[word] ?? []).some((other) => text.includes(other)));
}

/** Splits \Object(instance)\Counter into its parts. */
export function parts(path: string): { object: string; instance: string | null; counter: string } {
    const last = path.lastIndexOf("\\"), front = path.slice(1, last), bracket = front.indexOf("(");
    return bracket < 0 || !front.endsWith(")")
        ? { object: front, instance: null, counter: path.slice(last + 1) }
        : { object: front.slice(0, bracket), instance: front.slice(bracket + 1, -1), counter: path.slice(last + 1) };
}

/** Finds the counter that a path names. */
export function counterOf(objects: ObjectType[], path: string): Counter | undefined {
    const { object, counter } = parts(path);
    return objects.find((each) => each.name === object)?.counters.find((each) => each.name === counter);
}
