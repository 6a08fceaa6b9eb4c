// SPDX-License-Identifier: MIT
// What the page shows, kept in the address, so that a link opens the same view. Contains no secret.

import { Language, LANGUAGES, preferred } from "./texts";

export type View = "overview" | "processes" | "chart" | "report";
export interface State { view: View; paths: string[]; object: string; sort: string; filter: string; language: Language; machine: string; }

const VIEWS: View[] = ["overview", "processes", "chart", "report"];

export function readState(): State {
    const words = new URLSearchParams(location.hash.slice(1));
    const view = words.get("view") as View;
    return {
        view: VIEWS.includes(view) ? view : "overview",
        paths: words.getAll("c"),
        object: words.get("object") ?? "",
        sort: words.get("sort") ?? "",
        filter: words.get("filter") ?? "",
        machine: words.get("machine") ?? "",
        language: LANGUAGES.find(([key]) => key === words.get("language"))?.[0] ?? preferred(),
    };
}

export function writeState(state: State): void {
    const words = new URLSearchParams();
    if (state.view !== "overview") words.set("view", state.view);
    for (const path of state.paths) words.append("c", path);
    for (const key of ["object", "sort", "filter", "machine"] as const) if (state[key]) words.set(key, state[key]);
    if (state.language !== preferred()) words.set("language", state.language);
    history.replaceState(null, "", `${location.pathname}#${words}`);
}
