"""A headless Chromium, driven through its debugging socket with nothing but the standard library.

    with Browser() as browser:
        page = browser.open("report.html", width=1280, height=900)
        page.run("document.title")

Speaks as much of the WebSocket protocol (RFC 6455) and of the DevTools protocol as that takes.
"""

import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 30


def find():
    """The program, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Socket:
    """Messages of text to and from one target."""

    def __init__(self, url):
        host, _, path = url.removeprefix("ws://").partition("/")
        name, _, port = host.partition(":")
        self.stream = socket.create_connection((name, int(port)), timeout=PATIENCE_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.stream.recv(4096)
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"no WebSocket: {head!r}")

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.stream.sendall(head + mask + masked)

    def take(self, size):
        while len(self.rest) < size:
            more = self.stream.recv(1 << 16)
            if not more:
                raise ConnectionError("the browser closed the socket")
            self.rest += more
        data, self.rest = self.rest[:size], self.rest[size:]
        return data

    def receive(self):
        """The next message of text; pings and the like are passed over."""
        text = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.take(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.take(8))
            data = self.take(size)
            if first & 0x0F in (0, 1):
                text += data
                if first & 0x80:
                    return text.decode()


class Page:
    """One tab."""

    def __init__(self, url):
        self.socket = Socket(url)
        self.number = 0
        self.requests, self.messages = [], []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        """What happened besides: requests, and whatever went to the console."""
        method, about = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.messages.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.messages.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.messages.append(about["entry"]["text"])

    def run(self, script):
        """The value of an expression; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            about = found["exceptionDetails"]
            raise RuntimeError(about.get("exception", {}).get("description") or about["text"])
        return found["result"].get("value")

    def wait(self, script, what):
        """Until an expression holds."""
        end = time.monotonic() + PATIENCE_S
        while not self.run(script):
            if time.monotonic() > end:
                raise TimeoutError(f"waited for {what}")
            time.sleep(0.02)

    def settle(self):
        """Until what was asked for has been drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")

    def size(self, width, height, phone=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def load(self, path):
        self.requests.clear()
        self.call("Page.navigate", url=pathlib.Path(path).absolute().as_uri())
        self.wait("document.readyState === 'complete' && 'ok' in document.documentElement.dataset", f"{path} to load")
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def press(self, key, text=None):
        """A key of the keyboard by its name, or a letter."""
        text = key if len(key) == 1 else text
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


class Browser:
    """Starts the browser with a profile of its own, and ends it."""

    def __enter__(self):
        program = find()
        if program is None:
            raise FileNotFoundError("no Chromium")
        self.profile = tempfile.mkdtemp(prefix="vestal-browser-")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions",
                   "--no-first-run", "--disable-background-networking", "--remote-debugging-port=0",
                   f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen([program, *options], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = pathlib.Path(self.profile, "DevToolsActivePort")
        end = time.monotonic() + PATIENCE_S
        while not (port.exists() and port.read_text().count("\n") >= 1):
            if time.monotonic() > end or self.process.poll() is not None:
                self.__exit__()
                raise TimeoutError("the browser did not start")
            time.sleep(0.05)
        self.port = int(port.read_text().split("\n")[0])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        shutil.rmtree(self.profile, ignore_errors=True)

    def page(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return Page(json.load(answer)["webSocketDebuggerUrl"])
