# SPDX-License-Identifier: MIT
"""Shared by the tests of the page in a browser: a server, a browser, and what a user does with the page."""
import atexit
import base64  # noqa: F401
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote  # noqa: F401

import chromium

BUILD, SOURCE = os.environ["BUILD_ROOT"], os.environ["SOURCE_ROOT"]
if not shutil.which("chromium"):
    print("1..0 # SKIP chromium is not installed")
    sys.exit(0)
folder = tempfile.mkdtemp()
os.environ["OPENPERFLIB_ROOT"] = folder + "/root"
count = failed = 0
# find(what, name): the shown elements of a CSS selector that have this name or, with "*" at the end, begin with it
SCRIPT = """
window.nameOf = (each) => (each.getAttribute('aria-label') || each.textContent || each.placeholder || '').replace(/\\s+/g, ' ').trim();
window.find = (what, name) => [...document.querySelectorAll(what)].filter((each) => each.checkVisibility() && (name === undefined ||
    (name.endsWith('*') ? nameOf(each).startsWith(name.slice(0, -1)) : nameOf(each) === name)));
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));
"""


def check(name, good, *shown):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for each in () if good else shown:
        print(f"# {each!r}"[:2000], flush=True)


def schemes(tab):
    for scheme in ("light", "dark"):
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        yield scheme
    tab.call("Emulation.setEmulatedMedia", features=[])


def made_up():
    with open(os.path.join(SOURCE, "tests/tools/browser/made-up.js"), encoding="utf-8") as file:
        return file.read()


def axe():
    with open(os.path.join(SOURCE, "tests/tools/browser/vendor/axe.min.js"), encoding="utf-8") as file:
        return file.read()


def judge(tab, name):
    """The tab was made with axe() as a script."""
    for scheme in schemes(tab):
        found = tab.run("axe.run({resultTypes: ['violations']}).then((all) => all.violations.map((each) => "
                        "`${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(' | ')}`))")
        check(f"{name}, {scheme}: axe-core finds nothing", found == [], *found)


class Local(http.client.HTTPConnection):
    """HTTP on a Unix socket."""
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Server:
    numbers = iter(range(1, 1000))

    def __init__(self, *options, port=0, interval="0.2", env=None, before=(), place=folder):
        """`before`: a command that runs it, such as setpriv; `place`: the folder of its socket."""
        self.path, self.options, self.interval, self.env = f"{place}/socket{next(self.numbers)}", options, interval, env
        self.before = before
        self.begin(port)
        atexit.register(lambda: self.process.kill())

    def begin(self, port):
        self.process = subprocess.Popen([*self.before, sys.argv[1], "--port", str(port), "--socket", self.path, "--interval", self.interval, *self.options],
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **(self.env or {})})
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1].strip().rstrip("/"))
        self.address = f"http://127.0.0.1:{self.port}/"

    def link(self):
        connection = Local(self.path)
        connection.request("POST", "/api/link")
        return json.loads(connection.getresponse().read())["secret"]

    def ask(self, method, path, secret=None, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body=body, headers={**headers, **({"Authorization": "Bearer " + secret} if secret else {})})
        return connection.getresponse()

    def session(self):
        return json.loads(self.ask("POST", "/api/session", self.link()).read())["secret"]

    def wakeups(self):
        """How often its threads have waited for something."""
        tasks = f"/proc/{self.process.pid}/task"
        return sum(int(line.split()[1]) for task in os.listdir(tasks) for line in open(f"{tasks}/{task}/status", encoding="utf-8")
                   if line.startswith("voluntary_ctxt"))

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(60)


class Page(chromium.Tab):
    """A tab of the page as its user sees it: elements are found by what they are and their names."""

    def __init__(self, browser, server, state=None, script="", link=None):
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        super().__init__(browser, self.context, SCRIPT + script)
        self.server = server
        self.go(server.address + "#" + (link or server.link()))
        if state is not None:
            self.until_live()
            self.show(state)

    def go(self, address):
        self.call("Page.navigate", url=address)

    def show(self, state):
        self.run(f"location.hash = {json.dumps(state)}")

    def until(self, expression, seconds=60):
        """Waits until the JavaScript is true, and returns its value; None: it has not become so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                value = self.run(expression)
            except RuntimeError: # between two documents
                value = None
            if value:
                return value
            self.browser.read(0.05)
        return None

    def until_live(self, seconds=60):
        return self.until("find('[role=status]', 'live').length", seconds)

    def until_text(self, text, seconds=60):
        return self.until(f"document.body && document.body.innerText.includes({json.dumps(text)})", seconds)

    def click(self, what, name=None, seconds=60):
        """By the mouse, at the element's middle; the element must not be covered by another one."""
        element = f"find({json.dumps(what)}{', ' + json.dumps(name) if name else ''})[0]"
        place = self.until(f"(() => {{ const e = {element}; if (!e) return; e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect(),"
                           "x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);"
                           "return top && (e.contains(top) || top.contains(e)) && [x, y]; })()", seconds)
        if not place:
            raise LookupError(f"{what} {name} cannot be clicked: {self.run('document.body.innerText')[:500]}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def fill(self, what, name, text):
        self.click(what, name)
        self.press("Control+a", "Delete")
        if text:
            self.call("Input.insertText", text=text)

    def texts(self, what):
        return self.run(f"find({json.dumps(what)}).map((each) => each.innerText.trim())")

    def check_clean(self, name, allowed=(), address=None):
        """No error of the page, nothing against its policy, and no request to another place."""
        bad = [each for each in self.messages if each[0] not in ("log", "info", "debug", "rendering") and not each[0] in allowed]
        own = address or self.server.address
        away = [url for _, url in self.requests if not url.startswith((own, self.server.address, "data:", "blob:" + own)) and url != "about:blank"]
        check(f"{name}: no error, no violation of the policy, no request to another place",
              not bad and not away and not self.run("violations"), bad, away, self.run("violations"))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


def start(*flags):
    browser = chromium.Browser(folder, *flags)
    atexit.register(browser.end)
    return browser


def finish(browser):
    atexit.unregister(browser.end)
    browser.end()
    shutil.rmtree(folder)
    print(f"1..{count}")
    sys.exit(failed != 0)
