// SPDX-License-Identifier: MIT
// Numbers as people read them, with the unit of their counter.

import type { Unit } from "./live";
import { decimal } from "./texts";

const STEPS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
const FACTORS: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 * 1024 };

function digits(value: number): string {
    const size = Math.abs(value);
    if (size >= 1e15) return decimal(value.toExponential(3));
    if (Number.isInteger(value)) return value.toLocaleString("en").replace(/,/g, "\u202f");
    return decimal(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3));
}

export function bytes(value: number, suffix = ""): string {
    let step = 0;
    while (Math.abs(value) >= 1024 && step < STEPS.length - 1) {
        value /= 1024;
        step++;
    }
    return `${step ? decimal(value.toFixed(value < 10 ? 2 : 1)) : digits(value)} ${STEPS[step]}B${suffix}`;
}

export function duration(seconds: number): string {
    const days = Math.floor(seconds / 86400), rest = new Date(Math.floor(seconds % 86400) * 1000);
    return (days ? `${days} d ` : "") + rest.toISOString().slice(11, 19);
}

/** The unit of a counter's values: counters with the same one share an axis. */
export function unitOf(counter: Unit | undefined): string {
    return counter ? (counter.unit ? "B" : "") + counter.suffix.trim() : "";
}

export function number(value: number | null | undefined, counter?: Unit): string {
    if (value === null || value === undefined) return "–";
    const suffix = counter?.suffix.trim() ?? "";
    if (counter?.unit) return bytes(value * FACTORS[counter.unit], suffix);
    if (suffix === "secs" && value >= 60) return duration(value);
    return digits(value) + (suffix ? (suffix.startsWith("/") ? "" : "\u202f") + suffix : "");
}
