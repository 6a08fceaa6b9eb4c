// SPDX-License-Identifier: MIT
// The tree of all objects and counters, with explanations, and the search in it.

import type { Unit } from "./live";
import { request } from "./session";

export interface Counter extends Unit { name: string; explain: string | null; text: boolean; raw: boolean; }
export interface ObjectType {
    name: string; explain: string | null; why: string | null; single: boolean; instances: number;
    counters: Counter[];
}

/** Short names that Linux people use, and words of the objects that they mean. */
const SHORT: Record<string, string[]> = {
    cpu: ["processor"], mem: ["memory"], net: ["network"], load: ["load average"], disk: ["disk"],
    swap: ["swap", "paging"], io: ["disk", "i/o"],
};

export async function readObjects(): Promise<ObjectType[]> {
    for (;;) {
        const answer = await (await request("/api/objects")).json();
        if (answer.complete) return answer.objects;
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

export async function readInstances(object: string): Promise<string[]> {
    return (await (await request(`/api/instances?object=${encodeURIComponent(object)}`)).json()).instances;
}

/** True if every word is in the names or explanations of the object or counter. */
export function matches(object: ObjectType, counter: Counter | null, words: string): boolean {
    const text = [object.name, counter?.name, counter ? counter.explain : object.explain].join(" ").toLowerCase();
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
