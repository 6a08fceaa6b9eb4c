// SPDX-License-Identifier: MIT
// What the page shows, kept in the address, so that a link opens the same view. Contains no secret.

import { Language, LANGUAGES, preferred } from "./texts";

export type View = "machines" | "overview" | "processes" | "chart" | "report" | "compare";
export type ChartType = "line" | "bars" | "heat" | "values";
/** `one`: all lines share one axis; `legend`, `order`: by what the legend and the heat map are
 * sorted. */
export interface State { view: View; paths: string[]; object: string; sort: string; filter: string; chart: ChartType; one: boolean; hidden: string[]; marked: string; legend: string; order: string; group: string; tree: boolean; process: string; keys: boolean; language: Language; machine: string; range: string; capture: string; second: string; }

const VIEWS: View[] = ["machines", "overview", "processes", "chart", "report", "compare"];

const CHART_TYPES: ChartType[] = ["line", "bars", "heat", "values"];

export function readState(): State {
    const address = new URLSearchParams(location.hash.slice(1));
    const view = address.get("view") as View;
    return {
        view: VIEWS.includes(view) ? view : "overview",
        paths: address.getAll("c"),
        object: address.get("object") ?? "",
        sort: address.get("sort") ?? "",
        filter: address.get("filter") ?? "",
        chart: CHART_TYPES.find((type) => type === (address.get("type") ?? address.get("form"))) ?? "line",
        one: address.get("axes") === "one",
        hidden: address.getAll("hide"),
        marked: address.get("mark") ?? "",
        legend: address.get("legend") ?? "",
        order: address.get("order") ?? "",
        group: address.get("group") ?? "",
        tree: address.has("tree"),
        process: address.get("process") ?? "",
        keys: address.get("keys") !== "off",
        machine: address.get("machine") ?? "",
        range: address.get("range") ?? "",
        capture: address.get("capture") ?? "",
        second: address.get("second") ?? "",
        language: LANGUAGES.find(([key]) => key === address.get("language"))?.[0] ?? preferred(),
    };
}

export function writeState(state: State): void {
    const address = new URLSearchParams();
    if (state.view !== "overview") address.set("view", state.view);
    for (const path of state.paths) address.append("c", path);
    for (const name of state.hidden) address.append("hide", name);
    if (state.chart !== "line") address.set("type", state.chart);
    if (state.one) address.set("axes", "one");
    for (const [key, value] of [["mark", state.marked], ["legend", state.legend], ["order", state.order], ["group", state.group], ["tree", state.tree ? "1" : ""], ["process", state.process], ["keys", state.keys ? "" : "off"]]) if (value) address.set(key, value);
    for (const key of ["object", "sort", "filter", "machine", "range", "capture", "second"] as const) if (state[key]) address.set(key, state[key]);
    if (state.language !== preferred()) address.set("language", state.language);
    history.replaceState(null, "", `${location.pathname}#${address}`);
}
