// SPDX-License-Identifier: MIT
import { render } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { NoSession, request } from "./session";
import { Marks, RangeBar, rangeText } from "./axis";
import { Chart, linesOf, NoValues } from "./chart";
import { Bars, Values } from "./forms";
import { Heat } from "./heat";
import { Legend } from "./legend";
import { Live } from "./live";
import { Keys, useKeys } from "./keys";
import { Machines, STATES } from "./machines";
import { Missing } from "./missing";
import { counterOf, ObjectType, readObjects } from "./objects";
import { Overview, overviewLists } from "./overview";
import { Past, rangeOf, Shown } from "./past";
import { ChartType, readState, State, View, writeState } from "./state";
import { ProcessDetails, processLists, ProcessList, processPaths } from "./processes";
import { Report, reportLists } from "./tables";
import { Language, LANGUAGES, setLanguage, t, Text, translated } from "./texts";
import { objectsOf } from "./captures";
import { Comparison, Save, SourceChoice, SourceNotes, useRecording, useSources } from "./sources";
import { Tree } from "./tree";

const VIEWS: [View, Text][] = [["machines", "Machines"], ["overview", "Overview"], ["processes", "Processes"], ["chart", "Chart"], ["report", "Table"], ["compare", "Comparison"]];

function listsOf(state: State, objects: ObjectType[]): string[] {
    if (state.view === "overview") return overviewLists(state);
    if (state.view === "processes") return processLists(state);
    if (state.view === "chart") return state.paths.map((path) => `+${path}`);
    const object = objects.find((each) => each.name === state.object);
    return object ? reportLists(object) : [];
}

function NoEntry({ why }: { why: string }) {
    return <main class="entry"><h1>perfmon</h1>
        <p>{why ? translated(why) : t("This page needs a link with a secret, which works once.")}</p>
        <p>{t("Get a link on the machine with {}.", "perfmon open")}</p></main>;
}

const CHART_TYPES: [ChartType, Text][] = [["line", "Line"], ["bars", "Bars"], ["heat", "Heat map"], ["values", "Values"]];
const MOST_LINES = 100;

/** Buttons that choose how the selected counters are shown: as lines, bars, heat map or values. */
function Toolbar({ state, change }: { state: State; change(part: Partial<State>): void }) {
    return (
        <div class="toolbar">
            <fieldset><legend class="spoken">{t("Chart type")}</legend>{CHART_TYPES.map(([chart, title]) => (
                <label key={chart}><input type="radio" name="chart" checked={state.chart === chart} onChange={() => change({ chart })} />{t(title)}</label>))}</fieldset>
            {state.chart === "line" && <label>{t("Scale")} <select value={state.one ? "one" : "unit"} onChange={(event) => change({ one: event.currentTarget.value === "one" })}>
                <option value="unit">{t("an axis for each unit")}</option><option value="one">{t("one axis, scaled by powers of ten")}</option></select></label>}
        </div>
    );
}

function Page() {
    const [, redraw] = useReducer((count: number) => count + 1, 0);
    const machineLive = useMemo(() => new Live(() => redraw(0)), []), past = useMemo(() => new Past(() => redraw(0)), []);
    const [state, setState] = useState(readState), [machineObjects, setObjects] = useState<ObjectType[]>([]);
    const [machine, setMachine] = useState<{ name: string; root: boolean; seconds: number; machines: string[]; missing?: string } | null>(null);
    const [entry, setEntry] = useState<string | null>(null), [help, setHelp] = useState(false), [tree, setTree] = useState(false);
    const change = (part: Partial<State>) => setState((old) => ({ ...old, ...part }));
    useEffect(() => {
        const begin = () => request("/api/machine").then(async (answer) => setMachine(await answer.json())).catch((error) => {
            if (error instanceof NoSession) setEntry(error.message);
            else setTimeout(begin, 1000);
        });
        void begin();
        const moved = () => setState(readState());
        addEventListener("hashchange", moved);
        return () => removeEventListener("hashchange", moved);
    }, []);
    useEffect(() => { writeState(state); }, [state]);
    useEffect(() => setObjects([]), [state.machine]);
    const show = (capture: string, second: string) => change({ capture, second, range: "", view: second ? "compare" : state.view === "compare" ? "overview" : state.view });
    const sources = useSources([state.capture, state.second], machineObjects, show, (paths) => change({ view: "chart", paths }), (error) => setEntry(error.message));
    const recording = useRecording(sources.shown, () => redraw(0)), live: Live = recording ?? machineLive;
    const objects = useMemo(() => (recording ? objectsOf(recording.captures[0], machineObjects) : machineObjects), [recording, machineObjects]);
    const part = rangeOf(state.range), zoomed: [number, number] | null = recording && "from" in part ? [part.from, part.to] : null;
    useEffect(() => {
        if (live !== machineLive || state.capture) machineLive.watch([], state.machine);
        if (live !== machineLive || !state.capture) live.watch(listsOf(state, objects), state.machine, zoomed);
    }, [state.range, state.view, state.paths, state.object, state.machine, state.capture, state.group, state.process, state.filter, state.sort, objects, live]);
    useEffect(() => {
        let wanted = machine !== null;
        readObjects(state.machine, setObjects, () => wanted).catch((error) => { if (error instanceof NoSession) setEntry(error.message); });
        return () => { wanted = false; };
    }, [machine, state.machine, state.language]);
    setLanguage(state.language);
    const search = (place: string) => (document.querySelector(place) as HTMLInputElement | null)?.focus();
    const charts: Record<string, ChartType> = { l: "line", b: "bars", h: "heat", v: "values" }, views: Record<string, View> = { 1: "overview", 2: "processes", 3: "chart", 4: "report" };
    useKeys(state.keys, (key) => {
        if (key === "?") setHelp(true);
        else if (key === "s") { setTree(true); setTimeout(() => search(".tree input")); }
        else if (key === "f") search("header input[type=search]");
        else if (views[key]) change({ view: views[key], sort: "", process: "" });
        else change({ view: "chart", chart: charts[key] });
    });
    const turn = (event: KeyboardEvent) => {
        const step = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key], shown = tabs.findIndex(([view]) => view === state.view);
        if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const next = (shown + step + tabs.length) % tabs.length;
        change({ view: tabs[next][0], sort: "", process: "" });
        ((event.currentTarget as HTMLElement).children[next] as HTMLElement).focus();
    };
    const tabs = VIEWS.filter(([view]) => view === "machines" ? machine && machine.machines.length > 1 && !recording : view !== "compare" || sources.shown.length > 1);
    useEffect(() => { if (machine) past.read(recording || state.capture ? [] : state.view === "chart" ? state.paths : state.view === "processes" ? processPaths(state) : [], rangeOf(state.range), state.machine); });
    const why = entry ?? live.noSession ?? past.noSession;
    if (why !== null) return <NoEntry why={why} />;
    const joined = recording ? null : past.joined(live, rangeOf(state.range), (path) => live.tables.flatMap((each) => each.columns).find((each) => each.path === path && each.type) ?? counterOf(objects, path)), shown: Shown = joined ?? live, setRange = (range: string) => change({ range });
    const ends = recording ? { from: zoomed?.[0] ?? recording.captures[0].first, to: zoomed?.[1] ?? Math.max(recording.captures[0].last, ...live.times) } : joined;
    /* in lists for the details of a process are others of its program */
    const marks = joined?.marks.filter((each) => !state.process || !(each.kind === "birth" || each.kind === "death") || each.text === state.process) ?? (recording && state.view === "chart" ? recording.marks : []);
    const lines = state.view === "chart" ? linesOf(shown, state.hidden, state.marked, state.one && state.chart === "line") : [];
    const axis = ends ? { from: ends.from, to: ends.to, marks, zoom: (from: number, to: number) => setRange(rangeText(from, to)), back: () => setRange("") } : undefined;
    const rangeBar = ends && <RangeBar text={state.range} from={ends.from} to={ends.to} set={setRange} past={recording ? null : past} />;
    const markList = ends && <Marks marks={marks} set={setRange} past={joined && past} more={!!joined?.more} />;
    const toggle = (name: string) => change({ hidden: state.hidden.includes(name) ? state.hidden.filter((each) => each !== name) : [...state.hidden, name] });
    const mark = (name: string) => change({ marked: state.marked === name ? "" : name });
    const remove = (path: string) => change({ paths: state.paths.filter((each) => each !== path) });
    const add = (path: string) => { setTree(false); change({ view: "chart", paths: state.paths.includes(path) ? state.paths : [...state.paths, path] }); };
    const table = { live, sort: state.sort, setSort: (sort: string) => change({ sort }), filter: state.filter };
    const object = objects.find((each) => each.name === state.object);
    return (
        <>
            <header>
                <button class="skip" onClick={() => document.getElementById("view")!.focus()}>{t("Skip to the view")}</button>
                {machine && machine.machines.length > 1
                    ? <h1><select aria-label={t("Machine")} value={state.machine || machine.name} onChange={(event) => change({ machine: event.currentTarget.value })}>
                        {machine.machines.map((name) => <option key={name}>{name}</option>)}</select></h1>
                    : <h1>{machine?.name ?? "perfmon"}</h1>}
                <SourceChoice sources={sources} machine={state.machine || (machine?.name ?? "")} capture={state.capture} second={state.second} show={show} />
                <button class="narrow" aria-expanded={tree} onClick={() => setTree(!tree)}>{t("Objects and counters")}</button>
                <div role="tablist" aria-label={t("Views")} onKeyDown={turn}>{tabs.map(([view, title]) =>
                    <button key={view} role="tab" id={`tab-${view}`} aria-controls="view" tabIndex={state.view === view ? 0 : -1} aria-selected={state.view === view} onClick={() => change({ view, sort: "", process: "" })}>{t(title)}</button>)}</div>
                {state.view !== "chart" && state.view !== "machines" && <input type="search" placeholder={t("Filter rows")} aria-label={t("Filter rows")} value={state.filter} onInput={(event) => change({ filter: event.currentTarget.value })} />}
                <span class={`state ${live.state}`} role="status">{t(STATES[live.state])}{live.problem || live.why ? `: ${translated(live.problem || live.why)}` : ""}</span>
                <select aria-label={t("Language")} value={state.language} onChange={(event) => change({ language: event.currentTarget.value as Language })}>
                    {LANGUAGES.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
                </select>
                <button aria-haspopup="dialog" onClick={() => setHelp(true)}>{t("Keys")} <kbd>?</kbd></button>
            </header>
            {help && <Keys on={state.keys} setOn={(keys) => change({ keys })} close={() => setHelp(false)} />}
            <Tree objects={objects} open={tree} machine={state.machine} show={(name) => { setTree(false); change({ view: "report", object: name, sort: "" }); }}
                add={add} />
            <main id="view" aria-labelledby={`tab-${state.view}`} tabIndex={-1}>
                {!recording && <Missing command={machine?.missing} />}
                <SourceNotes sources={sources} recording={recording} />
                {state.view === "compare" && (sources.shown.length > 1
                    ? <Comparison captures={sources.shown} filter={state.filter} add={add} />
                    : <p class="note">{t("reading…")}</p>)}
                {state.view === "machines" && machine && <Machines names={machine.machines} choose={(name) => change({ machine: name, view: "overview" })} />}
                {state.view === "overview" && <Overview live={live} state={state} machine={state.machine || (machine?.name ?? "")} change={change} />}
                {state.view === "processes" && (state.process
                    ? <ProcessDetails live={shown} axis={axis} state={state} change={change}>{rangeBar}{markList}</ProcessDetails>
                    : <ProcessList live={live} state={state} machine={state.machine || (machine?.name ?? "")} change={change} />)}
                {state.view === "chart" && (state.paths.length
                    ? <><Toolbar state={state} change={change} />
                        {rangeBar}
                        {state.chart === "line" && <Chart live={shown} lines={lines.slice(0, MOST_LINES)} one={state.one} axis={axis} />}
                        {state.chart === "line" && lines.length > MOST_LINES && <p class="note">{t("the first {} of {} lines are drawn; the heat map shows all", MOST_LINES, lines.length)}</p>}
                        {state.chart === "bars" && <Bars live={shown} lines={lines} order={state.order} setOrder={(order) => change({ order })} />}
                        {state.chart === "heat" && <Heat live={shown} lines={lines} order={state.order} setOrder={(order) => change({ order })} />}
                        {state.chart === "values" && <Values live={shown} lines={lines} />}
                        <NoValues live={shown} lines={lines} />
                        {markList}
                        <Legend live={shown} lines={lines} sort={state.legend} setSort={(legend) => change({ legend })} toggle={toggle} mark={mark} remove={remove} />
                        <Save drawn={state.chart === "line" || state.chart === "heat"} live={shown} recording={recording} recorded={!!joined && past.tables.size > 0} lines={lines} paths={state.paths} machine={state.machine || (machine?.name ?? "")} seconds={machine?.seconds ?? 1} range={recording ? zoomed : joined ? [joined.from, joined.to] : null} /></>
                    : <p class="note">{t("Choose counters in the tree: open an object, then a counter, then an instance.")}</p>)}
                {state.view === "report" && (object ? <Report {...table} object={object} /> : <p class="note">{t("Choose an object in the tree by its button ▦.")}</p>)}
            </main>
        </>
    );
}

render(<Page />, document.getElementById("page")!);
