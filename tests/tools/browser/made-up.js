// SPDX-License-Identifier: MIT
// One font, one clock, and a machine whose values depend on nothing but their names, for tests of looks and speed.
const NOW = Date.UTC(2026, 0, 15, 12, 0, 0), SAMPLES = window.SAMPLES ?? 240, Real = Date, usual = window.fetch;
window.Date = class extends Real { constructor(...words) { if (words.length) super(...words); else super(NOW); } static now() { return NOW; } };
const sheet = new CSSStyleSheet(), font = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, 'font');
sheet.replaceSync('* { font-family: "DejaVu Sans" !important; caret-color: transparent !important; }');
document.adoptedStyleSheets = [sheet];
Object.defineProperty(CanvasRenderingContext2D.prototype, 'font', {...font, set(text) { font.set.call(this, text.replace(/(px) .*/, '$1 "DejaVu Sans"')); }});
const many = (count, name) => Array.from({length: count}, (_, i) => name(i));
const INSTANCES = {'Processor Information': ['0,0', '0,1', '0,2', '0,3', '0,_Total', '_Total'], 'Pressure': ['cpu', 'memory', 'io'], 'PhysicalDisk': ['sda', 'nvme0n1', '_Total'],
    'LogicalDisk': ['/', '/srv', '_Total'], 'Network Interface': ['lo', 'eth0'], 'Process': many(window.PROCESSES ?? 120, (i) => ['postgres', 'nginx', 'php-fpm', 'cron', 'sshd'][i % 5] + '#' + i)};
const COUNTERS = {'Memory': ['Available Bytes', 'Cache Bytes', 'Committed Bytes'], 'Processor Information': ['% Processor Time', '% User Time', '% Privileged Time', 'Interrupts/sec'],
    'PhysicalDisk': ['% Idle Time', 'Disk Read Bytes/sec', 'Disk Write Bytes/sec'], 'Process': ['% Processor Time', 'Working Set'], 'System': ['Context Switches/sec', 'Processes', 'Threads'],
    'Network Interface': ['Bytes Received/sec', 'Bytes Sent/sec'], 'Pressure': ['% Some Time', '% Full Time'], 'LogicalDisk': ['% Free Space', 'Free Megabytes']};
const unit = (name) => ({suffix: name.startsWith('%') ? '%' : name.endsWith('/sec') ? '/sec' : '', unit: /bytes|set/i.test(name) ? 'B' : '', scale: 0, type: name.startsWith('%') ? 'PERF_100NSEC_TIMER' : 'PERF_COUNTER_BULK_COUNT'});
const OBJECTS = Object.keys(COUNTERS).sort().map((name) => ({name, title: name, why: null, single: !INSTANCES[name], instances: INSTANCES[name]?.length ?? 1, explain: `The object ${name} of a machine that is made up.`,
    counters: COUNTERS[name].map((counter) => ({name: counter, title: counter, text: false, raw: false, explain: `${counter} is the share of time, or the number in each second, that a made-up machine has: the same one in each run of the test.`, ...unit(counter)}))}));
const seed = (text) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7);
const level = (text, k) => { const n = seed(text); return 0.5 + 0.3 * Math.sin(n + k / (9 + n % 30)) + 0.2 * Math.sin(n * 3 + k / 5) * Math.cos(k / (3 + n % 7)); };
const value = (counter, instance, k) => Math.round(level(counter + instance, k) * (counter.startsWith('%') ? 80 : /set/i.test(counter) ? 3e8 : /Bytes/.test(counter) ? 6e9 / (counter.endsWith('sec') ? 1000 : 1) : 900) * 100) / 100;
const processes = many(60, (i) => { const name = ['postgres', 'nginx', 'php-fpm', 'systemd', 'sshd'][i % 5], share = (k) => level(name + i, k);
    return [name, String(i), 1, [700 + i, share(1) * 30, share(2) * 9000, share(3) * 4e8, share(4) * 1e6, share(5) * 1e5, 1 + i % 9, 3600 * (i + 1), 1, null, null, null, null, null, null],
        [['www', 'root', 'postgres'][i % 3], 'sleeping', `${name}.service`, '/system.slice', `/usr/sbin/${name} --number ${i}`]]; });
function stream(events) {
    return new Response(new ReadableStream({start(out) { const send = (event) => out.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)); events.forEach(send); if (events[events.length - 1].event === 'end') out.close(); else window.push = send; }}));
}
function live(lists) {
    const front = (path) => path.replace(/\\[^\\]*$/, ''), tables = [];
    for (const path of lists) if (tables.length && front(tables[tables.length - 1][0]) === front(path)) tables[tables.length - 1].push(path); else tables.push([path]);
    return [{event: 'source', state: 'good', seconds: 1, tick: 9, lost: 0}, ...tables.flatMap((paths, table) => {
        if (paths[0].startsWith('#')) return [{event: 'rows', table, tick: 9, time: NOW, lines: processes}];
        const [, object, wanted] = /^\\([^\\(]*)(?:\((.*)\))?$/.exec(front(paths[0]).replace(/^[+=@]/, '')), names = paths.map((path) => path.replace(/^.*\\/, ''));
        const instances = wanted === undefined ? [''] : wanted === '*' ? INSTANCES[object] ?? [] : [wanted], times = many(SAMPLES, (k) => NOW - (SAMPLES - k) * 1000);
        const columns = names.map((name, i) => ({path: paths[i].replace(/^[+=@]/, ''), status: 0, raw: false, explain: null, why: null, ...unit(name)}));
        const born = (i) => (i % 4 === 3 ? 60 : 0), at = (name, instance, i, k) => (k < born(i) || (k > 140 && k < 150) ? null : value(name, instance, k));
        return [...(paths[0].startsWith('+') ? [{event: 'history', table, times, histories: instances.map((instance, i) => ({name: instance, identity: [instance], ...(born(i) && SAMPLES > born(i) ? {born: times[born(i)]} : {}), columns: names.map((name) => ({average: times.map((_, k) => at(name, instance, i, k)), least: [], most: []}))}))}] : []),
            {event: 'columns', table, columns}, {event: 'rows', table, tick: 9, time: NOW, rows: instances.map((name) => [name, name]), values: instances.map((instance) => names.map((name) => value(name, instance, SAMPLES))), reasons: []}];
    })];
}
window.fetch = async (path, options) => {
    const {pathname, searchParams} = new URL(path, location.href), answer = (value) => new Response(JSON.stringify(value));
    if (pathname === '/api/machine') return answer({name: 'web1', seconds: 1, root: true, machines: ['web1']});
    if (pathname === '/api/objects') return answer({complete: true, objects: OBJECTS});
    if (pathname === '/api/instances') return answer({why: null, instances: INSTANCES[searchParams.get('object')]});
    if (pathname === '/api/history') return stream([{event: 'marks', marks: [{time: new Real(NOW - 30000).toISOString(), source: 'PLA', id: 2031, level: 'warning', service: 'night', text: 'an alert'}], why: null}, {event: 'end', why: null, lost: ''}]);
    return pathname === '/api/live' ? stream(live(options.body.trim().split('\n'))) : usual(path, options);
};
