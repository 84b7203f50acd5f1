"""The process of a host that draws charts: no network, no files, bounded time and memory.

Started by exec as `python -m app.charts.drawing_process SOCKET_FD` with an allow-listed environment. The socket
listens for the host's workers, or is connected to one process and ends with it. Requests and answers are JSON
behind their length (4 bytes, big-endian):

    to it    {"specification": {...}, "scale": 2.0}
    from it  {"svg": text, "png": base64} or {"problem": sentence}

The server does nothing but listen; a child of it, forked at the first chart and forked again when it has died,
holds the JavaScript engine. It reserves 64 GiB of address space, so RLIMIT_AS cannot bound it: the server
watches its resident memory instead, and kills it above the limit or after the time of a chart.
"""

import base64
import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from app.sandbox.kernel.calls import die_with_parent, unshare
from app.sandbox.kernel.isolation import CellView, Confinement, Tier, tier_failure
from app.sandbox.kernel.namespaces import NEWIPC, NEWNET, NEWUSER, NEWUTS
from app.sandbox.kernel.seccomp import ALLOW, ArgumentTest, Rule

MAX_CHART_S = 5.0
"""Processor seconds of one chart, however busy the host is: those with 5,000 marks took less than 1 s."""
MAX_START_S = 15.0
"""Processor seconds of the first chart of a child, which starts the engine: 1.0 to 1.4 s measured."""
MAX_WALL_S = 60.0
"""Seconds of one chart by the clock: below what a client waits."""
MAX_MEMORY_BYTES = 640 << 20
"""Resident memory of the child: 100 MB after small charts, 220 MB after those with 5,000 marks."""
MAX_MESSAGE_BYTES = 32 << 20
"""Bytes of a request or an answer: a drawing of 5,000 marks has 2 MB."""
_LOOK_S = 0.02
"""Seconds between looks at the memory of the child."""
_CLIENT_S = 5.0
"""Seconds for a client to send the rest of its request."""
VEGA_LITE = "6.4"
"""Version of Vega-Lite: that of the page (frontend/package.json), too."""
_FONTS = ("/usr/share/fonts", "/usr/share/zoneinfo", "/etc/localtime", "/dev/null", "/dev/urandom")
_AF_UNIX = 1  # of <sys/socket.h>
_ENGINE_RULES = (
    # The runtime of the engine wakes its threads by a pair of sockets, and asks for the size of their stacks.
    Rule("socketpair", ALLOW, (ArgumentTest(0, _AF_UNIX),)),
    Rule("sched_getaffinity", ALLOW),
)
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

Receive = Callable[[int], bytes]


class ChartRefused(Exception):
    """The child could not draw a chart; the message is for its user."""


class DrawingServer:
    """Answers requests one after the other by a child that is confined."""

    def __init__(self) -> None:
        self._child: _Child | None = None

    def serve(self, listener: socket.socket) -> None:
        """Serve until the connection ends; a listening socket is served for ever."""
        if not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            self._serve_client(listener)
            return
        while True:
            client, _ = listener.accept()
            client.settimeout(_CLIENT_S)
            # A client that leaves in the middle harms nobody else.
            with client, contextlib.suppress(OSError, ValueError):
                self._serve_client(client)

    def _serve_client(self, client: socket.socket) -> None:
        while request := read_message(client.recv):
            client.sendall(frame_message(self._answer(request)))

    def _answer(self, request: bytes) -> bytes:
        try:
            is_new = self._child is None
            if self._child is None:
                self._child = _Child.fork()
            return self._child.draw(request, MAX_START_S if is_new else MAX_CHART_S)
        except ChartRefused as refused:
            self._end_child()
            return json.dumps({"problem": str(refused)}).encode()

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None


class _Child:
    """The confined process with the JavaScript engine. `pid`, and both ends of its pipes."""

    def __init__(self, pid: int, to_child: int, from_child: int) -> None:
        self._pid, self._to_child, self._from_child = pid, to_child, from_child

    @classmethod
    def fork(cls) -> "_Child":
        """Raises ChartRefused on a host that cannot confine it."""
        missing = tier_failure(Tier.LSM)
        if missing is not None:
            raise ChartRefused(f"This host cannot isolate the drawing of charts: {missing}.")
        requests, to_child = os.pipe()
        from_child, answers = os.pipe()
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.close(to_child)
            os.close(from_child)
            _become_child(server, requests, answers)
        os.close(requests)
        os.close(answers)
        # The server must not wait in a write: it watches the child's time and memory meanwhile.
        os.set_blocking(to_child, False)
        return cls(pid, to_child, from_child)

    def draw(self, request: bytes, time_s: float) -> bytes:
        """Return the answer of the child. Raises ChartRefused after its end or at a limit."""
        deadline, last_s = time.monotonic() + MAX_WALL_S, self._processor_s() + time_s
        rest, answer = memoryview(frame_message(request)), bytearray()
        while len(answer) < 4 or len(answer) < 4 + _read_length(answer):
            self._check(deadline, last_s, answer)
            writable = [self._to_child] if rest else []
            readable, writable, _ = select.select([self._from_child], writable, [], _LOOK_S)
            if writable:
                with contextlib.suppress(BrokenPipeError):  # the end of its answers says so
                    rest = rest[os.write(self._to_child, rest[:65_536]) :]
            if readable:
                chunk = os.read(self._from_child, 1 << 20)
                if not chunk:
                    raise ChartRefused("The chart could not be drawn: its process died.")
                answer += chunk
        return bytes(answer[4:])

    def _check(self, deadline: float, last_s: float, answer: bytearray) -> None:
        """`deadline`: by the clock. `last_s`: of the child's processor time."""
        if time.monotonic() > deadline or self._processor_s() > last_s:
            raise ChartRefused(f"The chart took longer than {MAX_CHART_S:g} s to draw.")
        if self._resident_bytes() > MAX_MEMORY_BYTES:
            raise ChartRefused(f"The chart needed more than {MAX_MEMORY_BYTES >> 20} MB of memory.")
        if len(answer) > MAX_MESSAGE_BYTES:
            raise ChartRefused(f"The drawing has more than {MAX_MESSAGE_BYTES >> 20} MB.")

    def _processor_s(self) -> float:
        try:
            # The name in brackets may hold spaces; user and system time are the 14th and 15th field of all.
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    def _resident_bytes(self) -> int:
        try:
            pages = Path(f"/proc/{self._pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * _PAGE_BYTES

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._to_child)
        os.close(self._from_child)


def _become_child(server: int, requests: int, answers: int) -> NoReturn:
    """Confine this process and draw until the server closes the pipe."""
    try:
        die_with_parent(server)
        _close_others(requests, answers)
        import vl_convert  # noqa: PLC0415 - 88 MB that the server never maps

        # After the import: the confined process can read no packages.
        _leave_network()
        confinement = Confinement(Tier.LSM, map(Path, _FONTS))
        confinement.confine(CellView((), Path("/dev/null")), _ENGINE_RULES)
        while request := read_message(lambda size: os.read(requests, size)):
            _write_all(answers, frame_message(_draw(vl_convert, json.loads(request))))
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the child ends here; its log is the server's
        os.write(2, f"The drawing of charts ended: {error!r}\n".encode())
        os._exit(1)


def _close_others(*own: int) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - names of descriptors, not paths
        if descriptor > 2 and descriptor not in own:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _leave_network() -> None:
    """Leave the host's network. Where the kernel refuses, the filter of system calls has no socket either."""
    user = 0 if os.getuid() == 0 else NEWUSER
    with contextlib.suppress(OSError):
        unshare(user | NEWNET | NEWIPC | NEWUTS)


def _draw(engine: Any, request: dict[str, Any]) -> bytes:
    """Draw one chart as SVG, and the same drawing as PNG."""
    specification = json.dumps(request["specification"])
    try:
        svg = engine.vegalite_to_svg(specification, vl_version=VEGA_LITE, allowed_base_urls=[])
        # From the SVG, so that both images are the same drawing.
        png = engine.svg_to_png(svg, scale=request["scale"])
    except ValueError as error:
        lines = [line.strip() for line in str(error).splitlines() if not line.rstrip().endswith(":")]
        sentence = lines[0][:300] if lines else "its specification is not valid"
        return json.dumps({"problem": f"The chart could not be drawn: {sentence}"}).encode()
    return json.dumps({"svg": svg, "png": base64.b64encode(png).decode()}).encode()


def frame_message(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def read_message(receive: Receive) -> bytes:
    """Read one message; empty at the end. Raises ValueError for one that is too long or cut off."""
    head = _read_exactly(receive, 4)
    if not head:
        return b""
    length = _read_length(head)
    if length > MAX_MESSAGE_BYTES:
        raise ValueError(f"A message of {length} bytes is too long.")
    return _read_exactly(receive, length)


def _read_length(head: bytes | bytearray) -> int:
    return int.from_bytes(head[:4], "big")


def _read_exactly(receive: Receive, size: int) -> bytes:
    """Read `size` bytes, or none at the end of the stream."""
    body = bytearray()
    while len(body) < size:
        chunk = receive(min(size - len(body), 1 << 20))
        if not chunk and not body:
            return b""
        if not chunk:
            raise ValueError("The message is cut off.")
        body += chunk
    return bytes(body)


def _write_all(descriptor: int, body: bytes) -> None:
    rest = memoryview(body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


if __name__ == "__main__":
    DrawingServer().serve(socket.socket(fileno=int(sys.argv[1])))
