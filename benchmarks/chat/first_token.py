"""First words of an answer: `python -m benchmarks.chat.first_token [--times 20]`.

A service of its own, whose chat model answers at once, so that all of the time is the service's: from the
POST to `/chat/stream` to its first event, to the first `token`, and to `done`. Beside it the model alone,
asked the last of these questions over the same HTTP.
"""

import argparse
import asyncio
import json
import statistics
import time

import httpx
from benchmarks.service import STEPS, UNMETERED, Load, service, sign_in
from tests.scripted_chat import ScriptedChat, serving

PLACES = ("first event", "token", "done")


def time_turn(http: httpx.Client, message: str) -> dict[str, float]:
    """Send a message in a conversation of its own; return the milliseconds to each place of its events."""
    began, taken_ms = time.perf_counter(), dict[str, float]()
    with http.stream("POST", "/chat/stream", json={"message": message}) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if not line.startswith("event:"):
                continue
            now_ms = 1e3 * (time.perf_counter() - began)
            taken_ms.setdefault(PLACES[0], now_ms)
            taken_ms.setdefault(line.removeprefix("event:").strip(), now_ms)
    return taken_ms


def time_model(chat: ScriptedChat) -> float:
    """Return the milliseconds of the last request that the service made, a new connection included."""
    began = time.perf_counter()
    httpx.post(f"{chat.base_url}/chat/completions", json=chat.asked[-1]).raise_for_status()
    return 1e3 * (time.perf_counter() - began)


def report(name: str, values: list[float]) -> None:
    print(f"{name:<28} median {statistics.median(values):8.1f} ms, worst {max(values):8.1f} ms")


def run(times: int) -> None:
    chat = ScriptedChat()
    with serving(chat):
        model = {"LLM_MODEL": "openai:scripted", "LLM_BASE_URL": chat.base_url, "OPENAI_API_KEY": "none"}
        with service(**UNMETERED, **model) as running, Load() as load:
            running.start("steps", STEPS)
            token = asyncio.run(sign_in(running.port))
            address = f"http://127.0.0.1:{running.port}/api/v1"
            with httpx.Client(base_url=address, timeout=60) as http:
                http.headers["Authorization"] = f"Bearer {token}"
                # The first prepares what is prepared once.
                turns = [time_turn(http, "hello") for _ in range(times + 1)][1:]
            alone_ms = [time_model(chat) for _ in range(times)]
    missing = [json.dumps(turn) for turn in turns if "token" not in turn]
    if missing:
        raise SystemExit(f"A turn had no words: {missing[0]}")
    for place in PLACES:
        report(place, [turn[place] for turn in turns])
    report("the model alone", alone_ms)
    print(load.summary)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    run(parser.parse_args().times)
