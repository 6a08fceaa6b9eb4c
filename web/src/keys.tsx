// SPDX-License-Identifier: MIT
// Keys for what is used often. Single letters only, without Ctrl or Alt and not while a text is typed,
// so that none is taken from the browser; they can be switched off, for users who dictate or mistype.

import { useEffect, useRef } from "preact/hooks";
import { t, Text } from "./texts";

const KEYS: [string, Text][] = [
    ["1", "Overview"], ["2", "Processes"], ["3", "Chart"], ["4", "Table"],
    ["s", "Search objects and counters"], ["f", "Filter rows"], ["l", "Line"], ["b", "Bars"], ["h", "Heat map"], ["v", "Values"], ["?", "this list of keys"]];

function isTyping(target: EventTarget | null): boolean {
    const element = target as HTMLElement;
    return element.isContentEditable || element.tagName === "SELECT" || element.tagName === "TEXTAREA"
        || (element.tagName === "INPUT" && !["checkbox", "radio"].includes((element as HTMLInputElement).type));
}

/** Calls `act` when a key of the list above is pressed. */
export function useKeys(on: boolean, act: (key: string) => void): void {
    useEffect(() => {
        const pressed = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event.target)) return;
            if (document.querySelector("dialog[open]") || !(on || event.key === "?") || !KEYS.some(([key]) => key === event.key)) return;
            event.preventDefault();
            act(event.key);
        };
        addEventListener("keydown", pressed);
        return () => removeEventListener("keydown", pressed);
    });
}

export function Keys({ on, setOn, close }: { on: boolean; setOn(on: boolean): void; close(): void }) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => { dialog.current!.showModal(); }, []);
    return (
        <dialog ref={dialog} onClose={close} aria-labelledby="keys">
            <h2 id="keys">{t("Keys")}</h2>
            <table class="data"><tbody>{KEYS.map(([key, what]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{t(what)}</td></tr>)}
                <tr><th scope="row"><kbd>Tab</kbd>, <kbd>Enter</kbd>, <kbd>←↑→↓</kbd></th><td>{t("move through the page; in tabs and heat maps use the arrow keys")}</td></tr></tbody></table>
            <p><label><input type="checkbox" checked={on} onChange={() => setOn(!on)} /> {t("single keys are on")}</label></p>
            <p><button class="link" onClick={() => dialog.current!.close()}>{t("Close")}</button></p>
        </dialog>
    );
}
