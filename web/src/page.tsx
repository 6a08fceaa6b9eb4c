// SPDX-License-Identifier: MIT
import { render } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { NoSession, request } from "./session";
import { Chart, linesOf } from "./chart";
import { Bars, Values } from "./forms";
import { Heat } from "./heat";
import { Legend } from "./legend";
import { Live } from "./live";
import { Missing } from "./missing";
import { ObjectType, readObjects } from "./objects";
import { Overview, OVERVIEW_LISTS } from "./overview";
import { Form, readState, State, View, writeState } from "./state";
import { ProcessDetails, processLists, ProcessList } from "./processes";
import { Report, reportLists } from "./tables";
import { Language, LANGUAGES, setLanguage, t, Text, told } from "./texts";
import { Tree } from "./tree";

const VIEWS: [View, Text][] = [["overview", "Overview"], ["processes", "Processes"], ["chart", "Chart"], ["report", "Table"]];
const STATES: Record<string, Text> = {
    starting: "starting", good: "live", away: "the machine does not answer, trying again", lost: "no connection, trying again", silent: "a provider does not answer", complete: "complete",
};

function listsOf(state: State, objects: ObjectType[]): string[] {
    if (state.view === "overview") return OVERVIEW_LISTS;
    if (state.view === "processes") return processLists(state);
    if (state.view === "chart") return state.paths.map((path) => `+${path}`);
    const object = objects.find((each) => each.name === state.object);
    return object ? reportLists(object) : [];
}

function NoEntry({ why }: { why: string }) {
    return <main class="entry"><h1>perfmon</h1>
        <p>{why ? told(why) : t("This page needs a link with a secret, which works once.")}</p>
        <p>{t("Get one on the machine by {}.", "perfmon open")}</p></main>;
}

const FORMS: [Form, Text][] = [["line", "Line"], ["bars", "Bars"], ["heat", "Heat map"], ["values", "Values"]];
const MOST_LINES = 100;

/** In which form the selection is shown. */
function Toolbar({ state, change }: { state: State; change(part: Partial<State>): void }) {
    return (
        <div class="toolbar">
            <fieldset><legend class="spoken">{t("Form")}</legend>{FORMS.map(([form, title]) => (
                <label key={form}><input type="radio" name="form" checked={state.form === form} onChange={() => change({ form })} />{t(title)}</label>))}</fieldset>
            {state.form === "line" && <label>{t("Scale")} <select value={state.one ? "one" : "unit"} onChange={(event) => change({ one: event.currentTarget.value === "one" })}>
                <option value="unit">{t("an axis for each unit")}</option><option value="one">{t("one axis, scaled by powers of ten")}</option></select></label>}
        </div>
    );
}

function Page() {
    const [, redraw] = useReducer((count: number) => count + 1, 0);
    const live = useMemo(() => new Live(() => redraw(0)), []);
    const [state, setState] = useState(readState), [objects, setObjects] = useState<ObjectType[]>([]);
    const [machine, setMachine] = useState<{ name: string; root: boolean; machines: string[]; missing?: string } | null>(null);
    const [entry, setEntry] = useState<string | null>(null);
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
    useEffect(() => { if (machine) live.watch(listsOf(state, objects), state.machine); }, [state.view, state.paths, state.object, state.machine, state.group, state.process, objects, machine]);
    setLanguage(state.language);
    const why = entry ?? live.noSession;
    if (why !== null) return <NoEntry why={why} />;
    const lines = state.view === "chart" ? linesOf(live, state.hidden, state.marked, state.one && state.form === "line") : [];
    const toggle = (name: string) => change({ hidden: state.hidden.includes(name) ? state.hidden.filter((each) => each !== name) : [...state.hidden, name] });
    const mark = (name: string) => change({ marked: state.marked === name ? "" : name });
    const remove = (path: string) => change({ paths: state.paths.filter((each) => each !== path) });
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
                    <button key={view} role="tab" aria-selected={state.view === view} onClick={() => change({ view, sort: "", process: "" })}>{t(title)}</button>)}</div>
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
                {state.view === "processes" && (state.process
                    ? <ProcessDetails live={live} state={state} change={change} />
                    : <ProcessList live={live} state={state} machine={state.machine || (machine?.name ?? "")} change={change} />)}
                {state.view === "chart" && (state.paths.length
                    ? <><Toolbar state={state} change={change} />
                        {state.form === "line" && <Chart live={live} lines={lines.slice(0, MOST_LINES)} one={state.one} />}
                        {state.form === "line" && lines.length > MOST_LINES && <p class="note">{t("the first {} of {} lines are drawn; the heat map shows all", MOST_LINES, lines.length)}</p>}
                        {state.form === "bars" && <Bars live={live} lines={lines} />}
                        {state.form === "heat" && <Heat live={live} lines={lines} order={state.order} setOrder={(order) => change({ order })} />}
                        {state.form === "values" && <Values live={live} lines={lines} />}
                        <Legend live={live} lines={lines} sort={state.legend} setSort={(legend) => change({ legend })} toggle={toggle} mark={mark} remove={remove} /></>
                    : <p class="note">{t("Choose counters in the tree: open an object, then a counter, then an instance.")}</p>)}
                {state.view === "report" && (object ? <Report {...table} object={object} /> : <p class="note">{t("Choose an object in the tree by its button ▦.")}</p>)}
            </main>
        </>
    );
}

render(<Page />, document.getElementById("page")!);
