"""Many streams on many conversations: `python -m benchmarks.chat.streams [--threads 100] [--streams 10]`.

Each user has one conversation and several browser streams. Turns are sent evenly over the conversations, and
each stream of a conversation watches each of its turns. Afterwards what came is compared with the rows: each
event once, in order, and its end.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, field

import uvloop
from benchmarks.client import Client
from benchmarks.service import STEPS, UNMETERED, Load, Service, service, sign_in
from benchmarks.sessions.watcher_socket import Socket

from app.db.pool import Database

_STREAM = "/api/v1/stream"
_MESSAGE = "hello"
_ROWS = "select session_id::text, array_agg(n order by n) as numbers from events group by 1"
_PATIENCE_S = 60.0
"""Seconds after the last turn in which its events may still come."""


@dataclass
class Conversation:
    """A user with a thread. `turns`: those sent, in order."""

    port: int
    token: str
    sockets: list[Socket]
    thread: str = ""
    turns: list[str] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """A message waits for the answer to the one before."""

    async def say(self) -> None:
        """Send a message, and have each stream watch its turn."""
        async with self.lock:
            body: dict[str, object] = {"message": _MESSAGE}
            if self.thread:
                body["thread_id"] = self.thread
            # A connection of its own: the service closes those that were silent for as long as a user thinks.
            client = await Client.connect(self.port, self.token)
            turn = await client.call("POST", "/api/v1/chat?wait=0", body)
            client.close()
        self.thread, name = str(turn["thread_id"]), str(turn["turn_id"])
        self.turns.append(name)
        for socket in self.sockets:
            socket.send(json.dumps({"type": "watch", "watch": name, "session": name}))


async def open_conversation(port: int, streams: int) -> Conversation:
    token = await sign_in(port)
    sockets = [await Socket.open(port, _STREAM, token) for _ in range(streams)]
    return Conversation(port, token, sockets)


async def say_evenly(conversations: list[Conversation], rate: float, seconds: float) -> float:
    """Send `rate` messages a second, one conversation after the other. Return the latest start in seconds."""
    started, latest = time.monotonic(), 0.0
    saying: set[asyncio.Task[None]] = set()
    for number in range(int(rate * seconds)):
        delay = started + number / rate - time.monotonic()
        latest = max(latest, -delay)
        await asyncio.sleep(max(0.0, delay))
        saying.add(asyncio.create_task(conversations[number % len(conversations)].say()))
    for task in saying:
        await task
    return latest


def read_frames(socket: Socket) -> tuple[dict[str, list[int]], set[str]]:
    """Return the numbers of the events by turn as they came, and the turns whose end came."""
    numbers, ended = defaultdict[str, list[int]](list), set[str]()
    for _, frame in socket.events():
        if frame.get("type") == "heartbeat":
            continue
        if frame["kind"] == "ended":
            ended.add(frame["watch"])
        elif frame["kind"] == "events":
            numbers[frame["watch"]] += [event["seq"] for event in frame["events"] if "seq" in event]
    return numbers, ended


async def until_ended(conversations: list[Conversation]) -> None:
    """Wait until every stream was told the end of every turn, or for a while."""
    deadline = time.monotonic() + _PATIENCE_S
    missing = True
    while missing and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
        missing = any(
            sum(piece.count(b'{"kind":"ended"') for _, piece in socket.pieces) < len(conversation.turns)
            for conversation in conversations
            for socket in conversation.sockets
        )


async def read_rows(database_url: str) -> dict[str, list[int]]:
    database = await Database.open(database_url)
    rows = {row["session_id"]: row["numbers"] for row in await database.rows(_ROWS)}
    await database.close()
    return rows


async def report(running: Service, threads: int, streams: int, rate: float, seconds: float) -> None:
    conversations = [await open_conversation(running.port, streams) for _ in range(threads)]
    with Load() as load:
        started = time.monotonic()
        latest_s = await say_evenly(conversations, rate, seconds)
        await until_ended(conversations)
        took_s = time.monotonic() - started
    rows = await read_rows(running.database_url)
    wrong = deliveries = turns = 0
    for conversation in conversations:
        turns += len(conversation.turns)
        for socket in conversation.sockets:
            numbers, ended = read_frames(socket)
            for turn in conversation.turns:
                deliveries += len(numbers[turn])
                wrong += numbers[turn] != rows[turn] or turn not in ended
    closed = sum(socket.is_closed for conversation in conversations for socket in conversation.sockets)
    print(f"{threads * streams:,} streams on {threads} conversations, {turns:,} turns, {rate:g} a second")
    print(f"  {deliveries:,} events delivered; turns that a stream did not get whole and in order: {wrong}")
    print(f"  streams closed: {closed}; the last end came {took_s - seconds:.1f} s after the last turn was due")
    print(f"  latest start of a turn: {latest_s:.2f} s behind its time")
    print(
        f"  events of a turn: {statistics.median(map(len, rows.values())):g}; load: {load.summary}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=100)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with service(MAX_CONCURRENT_SESSIONS="0", **UNMETERED) as running:
        running.start("steps", STEPS)
        uvloop.run(report(running, options.threads, options.streams, options.rate, options.seconds))


if __name__ == "__main__":
    main()
