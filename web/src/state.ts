// SPDX-License-Identifier: MIT
// What the page shows, kept in the address, so that a link opens the same view. Contains no secret.

import { Language, LANGUAGES, preferred } from "./texts";

export type View = "machines" | "overview" | "processes" | "chart" | "report" | "compare";
export type Form = "line" | "bars" | "heat" | "values";
/** `one`: all lines share one axis; `legend`, `order`: by what the legend and the heat map are
 * sorted. */
export interface State { view: View; paths: string[]; object: string; sort: string; filter: string; form: Form; one: boolean; hidden: string[]; marked: string; legend: string; order: string; group: string; tree: boolean; process: string; keys: boolean; language: Language; machine: string; range: string; capture: string; second: string; }

const VIEWS: View[] = ["machines", "overview", "processes", "chart", "report", "compare"];

const FORMS: Form[] = ["line", "bars", "heat", "values"];

export function readState(): State {
    const words = new URLSearchParams(location.hash.slice(1));
    const view = words.get("view") as View;
    return {
        view: VIEWS.includes(view) ? view : "overview",
        paths: words.getAll("c"),
        object: words.get("object") ?? "",
        sort: words.get("sort") ?? "",
        filter: words.get("filter") ?? "",
        form: FORMS.find((form) => form === words.get("form")) ?? "line",
        one: words.get("axes") === "one",
        hidden: words.getAll("hide"),
        marked: words.get("mark") ?? "",
        legend: words.get("legend") ?? "",
        order: words.get("order") ?? "",
        group: words.get("group") ?? "",
        tree: words.has("tree"),
        process: words.get("process") ?? "",
        keys: words.get("keys") !== "off",
        machine: words.get("machine") ?? "",
        range: words.get("range") ?? "",
        capture: words.get("capture") ?? "",
        second: words.get("second") ?? "",
        language: LANGUAGES.find(([key]) => key === words.get("language"))?.[0] ?? preferred(),
    };
}

export function writeState(state: State): void {
    const words = new URLSearchParams();
    if (state.view !== "overview") words.set("view", state.view);
    for (const path of state.paths) words.append("c", path);
    for (const name of state.hidden) words.append("hide", name);
    if (state.form !== "line") words.set("form", state.form);
    if (state.one) words.set("axes", "one");
    for (const [word, value] of [["mark", state.marked], ["legend", state.legend], ["order", state.order], ["group", state.group], ["tree", state.tree ? "1" : ""], ["process", state.process], ["keys", state.keys ? "" : "off"]]) if (value) words.set(word, value);
    for (const key of ["object", "sort", "filter", "machine", "range", "capture", "second"] as const) if (state[key]) words.set(key, state[key]);
    if (state.language !== preferred()) words.set("language", state.language);
    history.replaceState(null, "", `${location.pathname}#${words}`);
}
