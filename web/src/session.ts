// SPDX-License-Identifier: MIT
// The secret of this page. A link brings one in the address, which works once; it is exchanged for
// that of a session, which stays in this tab. Afterwards the address holds the page's state only.

const KEY = "openperflib-session";
const found = /^#([A-Za-z0-9_-]{43})$/.exec(location.hash);
let exchanged: Promise<void> | null = null;
if (found) history.replaceState(null, "", location.pathname);

export class NoSession extends Error {}

/** Browsers describe a broken connection in words of their own, in English: this is for people. */
export const unreachable = (error: Error): never => { throw error.name === "AbortError" ? error : new Error("the server does not answer"); };

async function exchange(secret: string): Promise<void> {
    const answer = await fetch("/api/session", { method: "POST", headers: { Authorization: `Bearer ${secret}` } }).catch(unreachable);
    if (!answer.ok) throw new NoSession((await answer.text()).trim());
    sessionStorage.setItem(KEY, (await answer.json()).secret);
}

/** Returns the path of a request about a machine; "": the machine that the server shows first. */
export function ofMachine(path: string, machine: string): string {
    return machine ? `${path}${path.includes("?") ? "&" : "?"}machine=${encodeURIComponent(machine)}` : path;
}

/** Sends a request with the session's secret. Throws NoSession if there is none or it has ended. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
    /* the page's first requests all wait for one exchange of the secret; after a network error it
     * can be tried again */
    if (found) await (exchanged ??= exchange(found[1]).catch((error) => { if (!(error instanceof NoSession)) exchanged = null; throw error; }));
    const secret = sessionStorage.getItem(KEY);
    if (!secret) throw new NoSession("");
    const answer = await fetch(path, { ...options, headers: { Authorization: `Bearer ${secret}` } }).catch(unreachable);
    if (answer.status === 401) {
        sessionStorage.removeItem(KEY);
        throw new NoSession((await answer.text()).trim());
    }
    /* a proxy's errors are pages of HTML */
    if (!answer.ok) throw new Error(answer.headers.get("Content-Type")?.includes("html") ? `HTTP ${answer.status} ${answer.statusText}` : (await answer.text()).trim());
    return answer;
}
