// SPDX-License-Identifier: MIT
// What the server's user may not read, with the command that changes it: shown once for each command.
import { useState } from "preact/hooks";
import { t } from "./texts";

const KEY = "openperflib-missing";

export function Missing({ command }: { command?: string }) {
    const [seen, setSeen] = useState(() => localStorage.getItem(KEY));
    if (!command || seen === command) return null;
    const hide = () => { localStorage.setItem(KEY, command); setSeen(command); };
    return <p class="missing" role="note">{t("Counters of other users' processes are missing, such as the bytes that they read and write. This command adds them:")} <code>{command}</code>
        {command.includes("adduser") && " " + t("Then log in again, and start the server again.")} <button onClick={hide}>{t("Do not show this again")}</button></p>;
}
