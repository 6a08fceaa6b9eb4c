# SPDX-License-Identifier: MIT
"""Chromium without a window, by its DevTools protocol over two pipes: JSON texts that end with a zero byte."""
import json
import os
import shutil
import signal
import select
import subprocess
import sys
import time

FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--password-store=basic",
         "--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text", "--window-size=1400,900",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
KEYS = {"Enter": (13, "\r"), "Space": (32, " "), "Tab": (9, ""), "Escape": (27, ""), "Backspace": (8, ""), "Delete": (46, ""), "Home": (36, ""),
        "End": (35, ""), "PageUp": (33, ""), "PageDown": (34, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}
MODIFIERS = {"Alt": 1, "Control": 2, "Shift": 8}


class Browser:
    """One process with its own profile below `folder`; it ends when its pipes do."""

    def __init__(self, folder, *flags):
        home = os.path.join(folder, "home")
        os.makedirs(home, exist_ok=True)
        places = {name: home for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR")}
        self.log = os.path.join(folder, "chromium.log")
        self.process = subprocess.Popen(
            ["sh", "-c", 'log=$1; shift; exec "$@" 3<&0 4>&1 </dev/null >"$log" 2>&1', "sh", self.log, shutil.which("chromium"), *FLAGS,
             "--user-data-dir=" + os.path.join(home, "profile"), *flags, "about:blank"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **places}, start_new_session=True)
        self.unread, self.number, self.answers, self.tabs = b"", 0, {}, {}

    def post(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.process.stdin.fileno(), json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, session=None, seconds=60, **parameters):
        number, end = self.post(method, session, **parameters), time.monotonic() + seconds
        while number not in self.answers:
            if not self.read(end - time.monotonic()):
                raise TimeoutError(f"chromium does not answer {method}")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self, seconds):
        """Takes what has arrived; waits for it so long. False: nothing has arrived."""
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return False
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            sys.exit("chromium has ended: " + open(self.log, encoding="utf-8", errors="replace").read()[-2000:])
        *texts, self.unread = (self.unread + data).split(b"\0")
        for message in map(json.loads, texts):
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.tabs:
                self.tabs[message["sessionId"]].take(message["method"], message["params"])
        return True

    def end(self):
        try:
            self.call("Browser.close", seconds=10)
            self.process.wait(10)
        except (OSError, TimeoutError, SystemExit, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Tab:
    def __init__(self, browser, context=None, script=""):
        self.browser, self.requests, self.messages = browser, [], []
        self.target = browser.call("Target.createTarget", url="about:blank", **({"browserContextId": context} if context else {}))["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.tabs[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take(self, method, event):
        """Keeps the addresses of all requests, and what the console says: (kind, text)."""
        if method == "Network.requestWillBeSent":
            self.requests.append((event["request"]["method"], event["request"]["url"]))
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.messages.append(("exception", details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled":
            self.messages.append((event["type"], " ".join(str(each.get("value", each.get("description"))) for each in event["args"])))
        elif method == "Log.entryAdded":
            self.messages.append((event["entry"]["source"], event["entry"]["text"]))

    def run(self, expression):
        """The value of JavaScript, also of a promise."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails'].get('exception', result['exceptionDetails'])}")
        return result["result"].get("value")

    def press(self, *keys):
        """Keys such as "a", "Enter", "Control+a"."""
        for key in keys:
            *held, name = key.split("+") if len(key) > 1 else [key]
            code, text = KEYS.get(name) or (ord(name.upper()), name)
            words = {"key": {"Space": " "}.get(name, name), "code": name if name in KEYS else "", "windowsVirtualKeyCode": code,
                     "modifiers": sum(MODIFIERS[each] for each in held)}
            self.call("Input.dispatchKeyEvent", type="keyDown", **words, **({"text": text} if text and not set(held) - {"Shift"} else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **words)
