"""The lines between clients, API, workers and servers, which can be cut, slowed or silenced: one process.

`python -m tests.chaos.links LINKS`, with LINKS as JSON: name -> [where to listen, where to go on to], each a
path of a unix socket or a port of this host. It says `ready`, then obeys one JSON object a line:
`{"link", "do": "cut" | "slow" | "silence", "for_s", "size"}`. It ends when its standard input does.
"""

import asyncio
import json
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

import uvloop

_CHUNK_BYTES = 1 << 16

Place = str | int


@dataclass(eq=False)
class Link:
    """`late_s`: added to each piece, until `slow_until`. While silent, nothing is read and nobody let in."""

    listen: Place
    target: Place
    lines: "set[asyncio.Task[None]]" = field(default_factory=set)
    late_s: float = 0.0
    slow_until: float = 0.0
    silent_until: float = 0.0
    server: asyncio.Server | None = None

    async def open(self) -> None:
        if isinstance(self.listen, int):
            self.server = await asyncio.start_server(self._join, "127.0.0.1", self.listen, backlog=512)
        else:
            self.server = await asyncio.start_unix_server(self._join, self.listen, backlog=512)

    def slow(self, late_s: float, for_s: float) -> None:
        self.late_s, self.slow_until = late_s, time.monotonic() + for_s

    def silence(self, for_s: float) -> None:
        """Nothing passes; when it is over, every line that was silent is cut."""
        self.silent_until = time.monotonic() + for_s
        asyncio.get_running_loop().call_later(for_s, self.cut)

    def cut(self) -> None:
        for line in self.lines:
            line.cancel()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a line is a task")
        self.lines.add(task)
        try:
            await self._silence()
            await self._carry(reader, writer)
        except (OSError, asyncio.CancelledError):
            return  # it was cut, on purpose or not
        finally:
            self.lines.discard(task)
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one side hangs up."""
        forward, back = await _connect(self.target)
        pumps = {
            asyncio.create_task(self._pump(reader, back)),
            asyncio.create_task(self._pump(forward, writer)),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            back.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while piece := await source.read(_CHUNK_BYTES):
            await self._silence()
            if time.monotonic() < self.slow_until:
                await asyncio.sleep(self.late_s)
            to.write(piece)
            await to.drain()
        with suppress(OSError):
            to.close()  # what was written last still goes out
            await to.wait_closed()

    async def _silence(self) -> None:
        while (left_s := self.silent_until - time.monotonic()) > 0:  # noqa: ASYNC110 - it may be prolonged
            await asyncio.sleep(left_s)


async def _connect(target: Place) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(target, int):
        return await asyncio.open_connection("127.0.0.1", target)
    return await asyncio.open_unix_connection(target)


def _obey(links: dict[str, Link], line: str) -> None:
    order = json.loads(line)
    link = links[order["link"]]
    match order["do"]:
        case "cut":
            link.cut()
        case "slow":
            link.slow(order["size"], order["for_s"])
        case "silence":
            link.silence(order["for_s"])


async def main(raw: str) -> None:
    links = {name: Link(*places) for name, places in json.loads(raw).items()}
    for link in links.values():
        await link.open()
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while line := await orders.readline():
        _obey(links, line.decode())


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
