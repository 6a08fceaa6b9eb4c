// SPDX-License-Identifier: MIT
// Numbers as people read them, with the unit of their counter.

import type { Unit } from "./live";
import { decimal, tag } from "./texts";

const STEPS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
const FACTORS: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 * 1024 };

function digits(value: number, least: number): string {
    const size = Math.abs(value);
    if (size >= 1e15) return decimal(value.toExponential(3));
    if (Number.isInteger(value)) return value.toLocaleString("en").replace(/,/g, "\u202f");
    if (size < 0.01) return decimal(String(Number(value.toPrecision(Math.max(2, least))))); /* disks answer within 0.0002 s */
    return decimal(value.toFixed(Math.max(least, size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3)));
}

export function bytes(value: number, suffix = "", least = 0): string {
    let step = 0; /* 1023.96 would be written as 1024.0 */
    while (Math.abs(value) >= 1023.95 && step < STEPS.length - 1) {
        value /= 1024;
        step++;
    }
    return `${step ? decimal(value.toFixed(Math.max(least, value < 10 ? 2 : 1))) : digits(value, least)} ${STEPS[step]}B${suffix}`;
}

export function duration(seconds: number): string {
    const days = Math.floor(seconds / 86400), rest = new Date(Math.floor(seconds % 86400) * 1000);
    return (days ? `${days} d ` : "") + rest.toISOString().slice(11, 19);
}

/** Returns the factor by which a value is multiplied, so that counters of bytes, KiB and MiB have the same
 * scale. */
export const factorOf = (counter: Unit | undefined): number => (counter?.unit ? FACTORS[counter.unit] : 1);

/** Returns the unit of a counter's values. Counters with the same unit share an axis. */
export function unitOf(counter: Unit | undefined): string {
    return counter ? (counter.unit ? "B" : "") + counter.suffix.trim() : "";
}

/** `least`: the minimum number of digits after the point, unless the number is whole. */
export function number(value: number | null | undefined, counter?: Unit, least = 0): string {
    if (value === null || value === undefined) return "–";
    const suffix = counter?.suffix.trim() ?? "";
    if (counter?.unit) return bytes(value * factorOf(counter), suffix, least);
    if (suffix === "secs" && value >= 60) return duration(value);
    return digits(value, least) + (suffix ? (suffix.startsWith("/") ? "" : "\u202f") + suffix : "");
}

/** Returns the labels of an axis, with as many digits as are needed to distinguish them. */
export function labels(values: number[], counter?: Unit): string[] {
    let texts: string[] = [];
    for (let least = 0; least < 6 && new Set(texts).size < values.length; least++)
        texts = values.map((value) => number(value, counter, least));
    return texts;
}

const TIME: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const SECOND: Intl.DateTimeFormatOptions = { ...TIME, second: "2-digit" };
const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };

/** Formats a time: the time of day, with the date if it is not today. */
export function clock(time: number): string {
    const date = new Date(time), today = date.toDateString() === new Date().toDateString();
    return date.toLocaleString(tag(), today ? SECOND : { ...DAY, ...SECOND });
}

/** Returns the labels of a time axis, whose times are seconds since 1970. The first label of each
 * day is its date. null has no label. */
export function timeLabels(times: (number | null)[], step: number): string[] {
    let day = "";
    return times.map((time) => {
        if (time === null) return "";
        const date = new Date(time * 1000), today = date.toLocaleDateString(tag(), DAY), first = today !== day;
        day = today;
        if (step >= 86400) return today;
        return date.toLocaleTimeString(tag(), step < 60 ? SECOND : TIME) + (first ? `\n${today}` : "");
    });
}
