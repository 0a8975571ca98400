"""The window in a browser: who may see it, and a real browser that asks a question."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from assistant.tui.serve import is_loopback, problem_of
from tests.conftest import ROOT, run_cli

NEEDED = os.environ.get("ASKNPU_NEED_TOOLS") == "1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOKEN = "correct-horse"
pytestmark = pytest.mark.enable_socket


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(home: Path, *arguments: str, **environment: str) -> Iterator[int]:
    """Run `asknpu serve` and give its port."""
    port = _free_port()
    settings = {**os.environ, "ASKNPU_HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "assistant", "serve", "--port", str(port), *arguments],
        env=settings, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert str(port) in line, line
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stderr.close()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:  # type: ignore[override]
        return None


def get(port: int, path: str, **headers: str) -> Reply:
    """Return the reply to a request, redirections not followed."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=given)
    try:
        with opener.open(request, timeout=20) as reply:
            return Reply(reply.status, dict(reply.headers), reply.read().decode("utf-8", "replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, dict(error.headers), error.read().decode("utf-8", "replace"))


UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
           "Sec_WebSocket_Version": "13"}  # fmt: skip
PATHS = ["/", "/ws", "/static/js/textual.js", "/static/", "/download/x", "/no-such"]


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("LOCALHOST", True), ("::1", True),
        ("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("example.org", False), ("", False),
        ("127.0.0.1.example.org", False), ("localhost.example.org", False),
    ],
)  # fmt: skip
def test_only_loopback_needs_no_token(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    assert (problem_of(host, None) is None) is loopback
    assert problem_of(host, TOKEN) is None


@pytest.mark.parametrize("token", ["", "short", "        \n", "密码密码密码密码"])
def test_a_poor_token_is_refused(token: str) -> None:
    assert "token" in (problem_of("127.0.0.1", token) or "")


@pytest.mark.parametrize(
    "arguments", [("--host", "0.0.0.0"), ("--host", "0.0.0.0", "--token", "short"), ("--port", "0")], ids=" ".join
)
def test_serve_refuses_with_one_sentence(home: Path, arguments: tuple[str, ...]) -> None:
    done = run_cli("serve", *arguments, home=home)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1


def test_a_port_in_use_is_named(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_cli("serve", "--port", str(port), home=home)
    assert done.returncode == 2
    assert str(port) in done.stderr.decode() and "Traceback" not in done.stderr.decode()


def _listening(port: int) -> set[str]:
    """Return the local addresses, in hex, that listen on a port."""
    rows = [
        line.split() for table in ("tcp", "tcp6") if (path := Path("/proc/net") / table).exists()
        for line in path.read_text("ascii").splitlines()[1:]
    ]  # fmt: skip
    places = [row[1].split(":") for row in rows if row[3] == "0A"]
    return {address for address, number in places if int(number, 16) == port}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_the_default_listens_on_this_machine_only(home: Path) -> None:
    with serving(home) as port:
        assert _listening(port) == {"0100007F"}


def test_without_a_token_only_this_machine_by_its_name_gets_in(home: Path) -> None:
    with serving(home) as port:
        assert get(port, "/").status == 200
        assert get(port, "/", Host=f"localhost:{port}").status == 200
        assert get(port, "/", Host=f"evil.example:{port}").status == 403
        assert get(port, "/", Host='a"><script>').status == 400
        assert get(port, "/ws", Origin="https://evil.example", **UPGRADE).status == 403
        assert get(port, "/ws", Origin=f"http://evil.example:{port}", **UPGRADE).status == 403
        page = get(port, "/")
        assert f"ws://127.0.0.1:{port}/ws" in page.text
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_with_a_token_every_request_needs_it(home: Path) -> None:
    with serving(home, "--token", TOKEN) as port:
        for path in PATHS:
            assert get(port, path).status == 401, path
            for wrong in ("x", TOKEN + "x", "%FF", ""):
                assert get(port, f"{path}?token={wrong}").status == 401, (path, wrong)
            assert get(port, path, Cookie=f"asknpu-{port}={TOKEN}").status == 401, path
            assert TOKEN not in get(port, path).text
        assert get(port, "/ws", **UPGRADE).status == 401

        entered = get(port, f"/?token={TOKEN}&fontsize=20")
        assert (entered.status, entered.headers["Location"]) == (303, "/?fontsize=20")
        cookie = entered.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and TOKEN not in cookie
        pair = cookie.partition(";")[0]
        assert get(port, "/", Cookie=pair).status == 200
        assert get(port, "/static/js/textual.js", Cookie=pair).status == 200
        assert get(port, "/no-such", Cookie=pair).status == 404
        assert get(port, "/ws", Cookie=pair, Origin="https://evil.example", **UPGRADE).status == 403


def test_the_token_may_come_from_the_environment(home: Path) -> None:
    with serving(home, ASKNPU_TOKEN=TOKEN) as port:
        assert get(port, "/").status == 401


# What the page's terminal holds: textual.js keeps it to itself, so the property it sets next is caught.
CATCH = """
Object.defineProperty(Object.prototype, 'fitAddon', {configurable: true, set(value) {
    window.shown = this.terminal;
    Object.defineProperty(this, 'fitAddon', {value, writable: true});
}})
"""
READ = """
(() => {
    if (!window.shown) return '';
    const lines = window.shown.buffer.active;
    return Array.from({length: window.shown.rows}, (_, i) => lines.getLine(i).translateToString(true)).join('\\n');
})()
"""


class Page:
    """A page of a browser, driven by the DevTools protocol."""

    def __init__(self, socket_: object) -> None:
        self.socket = socket_
        self.number = 0

    async def call(self, method: str, **parameters: object) -> dict[str, object]:
        """Call a method and return its result."""
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": parameters})  # type: ignore[attr-defined]
        while True:
            message = await self.socket.receive_json(timeout=60)  # type: ignore[attr-defined]
            if message.get("id") == self.number:
                assert "error" not in message, message
                result: dict[str, object] = message["result"]
                return result

    async def text(self) -> str:
        """Return the characters that the page's terminal shows."""
        result = await self.call("Runtime.evaluate", expression=READ)
        return str(result["result"].get("value", ""))  # type: ignore[attr-defined]

    async def until(self, condition: Callable[[str], object], seconds: float = 60) -> str:
        """Wait until the page shows something."""
        end = time.monotonic() + seconds
        while not condition(now := await self.text()):
            if time.monotonic() > end:
                raise AssertionError(f"never came true; the page:\n{now}")
            await asyncio.sleep(0.1)
        return now

    async def key(self, name: str, code: int, *, control: bool = False) -> None:
        """Press and release a key that types nothing."""
        for kind in ("rawKeyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                modifiers=2 if control else 0,
            )  # fmt: skip


async def _browse(url: str, journey: Callable[[Page], Awaitable[None]]) -> None:
    import aiohttp

    assert CHROMIUM is not None, "needs chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-proxy-server", "--remote-debugging-port=0", f"--user-data-dir={profile}",
                "--window-size=1100,700", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            active = Path(profile) / "DevToolsActivePort"
            end = time.monotonic() + 60
            while not (active.exists() and len(active.read_text("ascii").splitlines()) == 2):
                assert time.monotonic() < end and process.poll() is None, "chromium did not start"
                await asyncio.sleep(0.1)
            port = active.read_text("ascii").split()[0]
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json") as reply:
                    targets = json.loads(await reply.text())
                address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
                async with session.ws_connect(address, max_msg_size=0) as connection:
                    page = Page(connection)
                    await page.call("Page.enable")
                    await page.call("Page.addScriptToEvaluateOnNewDocument", source=CATCH)
                    await page.call("Page.navigate", url=url)
                    await journey(page)
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.skipif(CHROMIUM is None and not NEEDED, reason="needs chromium")
@pytest.mark.parametrize(
    ("lang", "question", "answer"),
    [
        ("en", "Which opset versions does Nano support", "opset 11 to 15"),
        ("zh", "Nano 支持的 ONNX 算子集版本", "opset 11"),
    ],
)
def test_a_browser_asks_and_reads_the_answer(home: Path, lang: str, question: str, answer: str) -> None:
    async def journey(page: Page) -> None:
        await page.until(lambda text: "F2 Ask" in text)
        for kind in ("mousePressed", "mouseReleased"):
            await page.call("Input.dispatchMouseEvent", type=kind, x=300, y=45, button="left", clickCount=1)
        if lang == "zh":
            await page.key("l", 76, control=True)
            await page.until(lambda text: "F2 提问" in text)
        await page.call("Input.insertText", text=question)
        await page.until(lambda text: question[:10] in text)
        await page.key("Enter", 13)
        await page.until(lambda text: answer in text)
        await page.key("F3", 114)
        await page.until(lambda text: answer not in text)

    with serving(home, "--token", TOKEN) as port:
        asyncio.run(_browse(f"http://127.0.0.1:{port}/?token={TOKEN}", journey))
