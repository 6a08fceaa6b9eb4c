// SPDX-License-Identifier: MIT
// All objects, counters and instances, with a search and their explanations.

import { useEffect, useState } from "preact/hooks";
import { t } from "./texts";
import { Counter, matches, ObjectType, readInstances, readLanguages } from "./objects";

const MOST_SHOWN = 500;

function Instances({ object: { name: object, names: recorded }, counter, machine, add }: { object: ObjectType; counter: string; machine: string; add(path: string): void }) {
    const [names, setNames] = useState<string[] | null>(null), [filter, setFilter] = useState("");
    useEffect(() => { if (recorded) setNames(recorded); else readInstances(object, machine).then(setNames, () => setNames([])); }, [object, recorded, machine]);
    if (!names) return <div class="note">{t("reading…")}</div>;
    const found = names.filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
    return (
        <div class="instances">
            {names.length > 20 && <input type="search" placeholder={t("{} instances", names.length)} value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />}
            <button onClick={() => add(`\\${object}(*)\\${counter}`)}>{t("all (*)")}</button>
            {found.slice(0, MOST_SHOWN).map((name) => <button key={name} onClick={() => add(`\\${object}(${name})\\${counter}`)}>{name}</button>)}
            {found.length > MOST_SHOWN && <div class="note">{t("{} more: type a part of the name", found.length - MOST_SHOWN)}</div>}
        </div>
    );
}

/** `open`: it is shown in a narrow window, too. */
export function Tree({ objects, open: shown, machine, add, show }: { objects: ObjectType[]; open: boolean; machine: string; add(path: string): void; show(object: string): void }) {
    const [words, setWords] = useState(""), [open, setOpen] = useState(""), [counter, setCounter] = useState("");
    const [explain, setExplain] = useState<[object: string, counter?: string] | null>(null), [, redraw] = useState({});
    useEffect(() => { if (words) readLanguages(machine).then(() => redraw({}), () => {}); }, [words, machine]);
    const found = objects
        .map((object) => ({ object, counters: object.counters.filter((each) => matches(object, each, words)) }))
        .filter(({ object, counters }) => counters.length || matches(object, null, words));
    const object = objects.find(({ name }) => name === explain?.[0]);
    const explained: ObjectType | Counter | undefined = explain?.[1] ? object?.counters.find(({ name }) => name === explain[1]) : object; /* in the present language */
    return (
        <nav class={shown ? "tree open" : "tree"} aria-label={t("Objects and counters")}>
            <input type="search" placeholder={t("Search: cpu, disk, page faults…")} aria-label={t("Search objects and counters")} value={words} onInput={(event) => setWords(event.currentTarget.value)} />
            <ul>{found.map(({ object, counters }) => {
                const opened = open === object.name || (words !== "" && found.length < 6);
                return (
                    <li key={object.name}>
                        <button class="object" aria-expanded={opened} onFocus={() => setExplain([object.name])}
                            onClick={() => { setOpen(open === object.name ? "" : object.name); setCounter(""); }}>
                            {object.title}{object.single ? "" : ` (${object.instances})`}{object.costly && <small> {t("costly")}</small>}
                        </button>
                        <button class="table" title={t("Show as a table")} aria-label={`${t("Show as a table")}: ${object.title}`} onClick={() => show(object.name)}>▦</button>
                        {object.why && <div class="note">{object.why}</div>}
                        {opened && <ul>{(words ? counters : object.counters).map((each) => (
                            <li key={each.name}>
                                <button disabled={each.text} aria-expanded={object.single ? undefined : counter === `${object.name}\\${each.name}`} onFocus={() => setExplain([object.name, each.name])}
                                    onClick={() => object.single ? add(`\\${object.name}\\${each.name}`) : setCounter(counter === `${object.name}\\${each.name}` ? "" : `${object.name}\\${each.name}`)}>{each.title}</button>
                                {counter === `${object.name}\\${each.name}` && <Instances object={object} counter={each.name} machine={machine} add={add} />}
                            </li>))}</ul>}
                    </li>);
            })}</ul>
            {words && objects.length > 0 && !found.length && <p class="note" role="status">{t("Nothing has this in its name or explanation.")}</p>}
            <div class="explain" aria-live="polite">{explained ? <><b>{explained.title}</b><p>{explained.explain ?? t("There is no explanation.")}</p>
                {object?.costly && explained === object && <p>{t("Costly: it takes longer to read than other objects, and is read only while something of it is shown.")}</p>}
                {object && explained === object && !object.single && <p>{t("Instances have {} different names. Of several with one name, the name stands for the first, and “name#1” for the second.", object.instances)}</p>}</> : <p>{t("What a counter means is shown here.")}</p>}</div>
        </nav>
    );
}
