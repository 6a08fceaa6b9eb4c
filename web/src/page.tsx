// SPDX-License-Identifier: MIT
import { render } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { NoSession, request } from "./session";
import { Chart, Legend, linesOf } from "./chart";
import { Live } from "./live";
import { Missing } from "./missing";
import { ObjectType, readObjects } from "./objects";
import { Overview, OVERVIEW_LISTS } from "./overview";
import { readState, State, View, writeState } from "./state";
import { PROCESS_LISTS, Processes, Report, reportLists } from "./tables";
import { Language, LANGUAGES, setLanguage, t, Text, told } from "./texts";
import { Tree } from "./tree";

const VIEWS: [View, Text][] = [["overview", "Overview"], ["processes", "Processes"], ["chart", "Chart"], ["report", "Table"]];
const STATES: Record<string, Text> = {
    starting: "starting", good: "live", away: "the machine does not answer, trying again", lost: "no connection, trying again", silent: "a provider does not answer", complete: "complete",
};

function listsOf(state: State, objects: ObjectType[]): string[] {
    if (state.view === "overview") return OVERVIEW_LISTS;
    if (state.view === "processes") return PROCESS_LISTS;
    if (state.view === "chart") return state.paths.map((path) => `+${path}`);
    const object = objects.find((each) => each.name === state.object);
    return object ? reportLists(object) : [];
}

function NoEntry({ why }: { why: string }) {
    return <main class="entry"><h1>perfmon</h1>
        <p>{why ? told(why) : t("This page needs a link with a secret, which works once.")}</p>
        <p>{t("Get one on the machine by {}.", "perfmon open")}</p></main>;
}

function Page() {
    const [, redraw] = useReducer((count: number) => count + 1, 0);
    const live = useMemo(() => new Live(() => redraw(0)), []);
    const [state, setState] = useState(readState), [objects, setObjects] = useState<ObjectType[]>([]);
    const [machine, setMachine] = useState<{ name: string; root: boolean; machines: string[]; missing?: string } | null>(null);
    const [entry, setEntry] = useState<string | null>(null), [hidden, setHidden] = useState(new Set<string>());
    const change = (part: Partial<State>) => setState((old) => ({ ...old, ...part }));
    useEffect(() => {
        const failed = (error: unknown) => setEntry(error instanceof NoSession ? error.message : String(error));
        request("/api/machine").then(async (answer) => setMachine(await answer.json())).catch(failed);
        const moved = () => setState(readState());
        addEventListener("hashchange", moved);
        return () => removeEventListener("hashchange", moved);
    }, []);
    useEffect(() => { writeState(state); }, [state]);
    useEffect(() => setObjects([]), [state.machine]);
    useEffect(() => {
        let wanted = machine !== null;
        readObjects(state.machine, setObjects, () => wanted).catch((error) => { if (error instanceof NoSession) setEntry(error.message); });
        return () => { wanted = false; };
    }, [machine, state.machine, state.language]);
    useEffect(() => { if (machine) live.watch(listsOf(state, objects), state.machine); }, [state.view, state.paths, state.object, state.machine, objects, machine]);
    setLanguage(state.language);
    const why = entry ?? live.noSession;
    if (why !== null) return <NoEntry why={why} />;
    const lines = state.view === "chart" ? linesOf(live, hidden) : [];
    const toggle = (key: string) => setHidden((old) => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next; });
    const table = { live, sort: state.sort, setSort: (sort: string) => change({ sort }), filter: state.filter };
    const object = objects.find((each) => each.name === state.object);
    return (
        <>
            <header>
                {machine && machine.machines.length > 1
                    ? <h1><select aria-label={t("Machine")} value={state.machine || machine.name} onChange={(event) => change({ machine: event.currentTarget.value })}>
                        {machine.machines.map((name) => <option key={name}>{name}</option>)}</select></h1>
                    : <h1>{machine?.name ?? "perfmon"}</h1>}
                <div role="tablist" aria-label={t("Views")}>{VIEWS.map(([view, title]) =>
                    <button key={view} role="tab" aria-selected={state.view === view} onClick={() => change({ view, sort: "" })}>{t(title)}</button>)}</div>
                {state.view !== "chart" && <input type="search" placeholder={t("Filter rows")} aria-label={t("Filter rows")} value={state.filter} onInput={(event) => change({ filter: event.currentTarget.value })} />}
                <span class={`state ${live.state}`} role="status">{t(STATES[live.state])}{live.problem || live.why ? `: ${told(live.problem || live.why)}` : ""}</span>
                <select aria-label={t("Language")} value={state.language} onChange={(event) => change({ language: event.currentTarget.value as Language })}>
                    {LANGUAGES.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
                </select>
            </header>
            <Tree objects={objects} machine={state.machine} show={(name) => change({ view: "report", object: name, sort: "" })}
                add={(path) => change({ view: "chart", paths: state.paths.includes(path) ? state.paths : [...state.paths, path] })} />
            <main>
                <Missing command={machine?.missing} />
                {state.view === "overview" && <Overview {...table} />}
                {state.view === "processes" && <Processes {...table} />}
                {state.view === "chart" && (state.paths.length
                    ? <><Chart live={live} lines={lines} /><Legend live={live} lines={lines} toggle={toggle} remove={(path) => change({ paths: state.paths.filter((each) => each !== path) })} /></>
                    : <p class="note">{t("Choose counters in the tree: open an object, then a counter, then an instance.")}</p>)}
                {state.view === "report" && (object ? <Report {...table} object={object} /> : <p class="note">{t("Choose an object in the tree by its button ▦.")}</p>)}
            </main>
        </>
    );
}

render(<Page />, document.getElementById("page")!);
