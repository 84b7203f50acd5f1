"""All tabs of a browser share one connection, over a socket or, without sockets, over server-sent events."""

import re
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import expect
from tests.patience import HANG_GUARD_S, wait_until

from .conftest import PHONE, Visit

TABS = 20
"""Over HTTP/1.1 a browser has six connections: with a stream per tab the seventh would hang."""
CUT_SOCKETS = """
delete globalThis.SharedWorker;
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 0;
  constructor() { queueMicrotask(() => this.onclose({ code: 1006 })); }
  close() {}
};
"""
"""A proxy that refuses sockets, and a browser without shared workers."""


def _waiting_session(visitor: Visit, table: Path) -> str:
    """Start a session that asks about its plan, and so changes only when the test says so."""
    file = {"name": table.name, "mimeType": "text/csv", "buffer": table.read_bytes()}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    body = {"goal": "Predict survived", "dataset_ids": [dataset], "preferences": {"review_plan": True}}
    return str(visitor.call("POST", "/lab/agent/sessions", data=body)["id"])


def _open_streams(address: str) -> tuple[int, ...]:
    """Return the numbers of open sockets and of open streams of server-sent events."""
    figures = httpx.get(f"{address}/api/v1/metrics", timeout=HANG_GUARD_S).text
    found = [
        re.search(rf'labcrew_streams_open{{transport="{transport}"}} (\d+)', figures)
        for transport in ("socket", "sse")
    ]
    return tuple(int(each[1]) if each else 0 for each in found)


def _running_turn(visitor: Visit) -> str:
    """Say something whose answer does not end by itself; returns the path of the conversation."""
    body = {"message": "while True: pass", "mode": "python"}
    return f"/chat/{visitor.call('POST', '/chat?wait=0', data=body)['thread_id']}"


def test_twenty_tabs_and_a_browser_without_sockets_see_the_same_at_once(visit: Any, titanic: Path) -> None:
    visitor = visit()
    paths = [f"/sessions/{_waiting_session(visitor, titanic)}", _running_turn(visitor)]
    cut = visit(PHONE, account=visitor.account)
    cut.context.add_init_script(CUT_SOCKETS)
    more = [visitor.context.new_page() for _ in range(TABS - 1)]
    tabs = [visitor.page, *more, cut.page, cut.context.new_page()]
    sessions, chats = tabs[::2], tabs[1::2]
    for tab in tabs:
        tab.goto(f"{visitor.address}{paths[tab in chats]}")
    for tab in sessions:
        expect(tab.get_by_role("heading", name="Is this what you mean?")).to_be_visible()
    for tab in chats:
        expect(tab.get_by_role("status").filter(has_text="Running it")).to_be_visible()
    # A page shows what it fetched before its stream stands. Without shared workers each tab has a stream.
    wait_until(lambda: _open_streams(visitor.address) == (1, 2), every_s=0.1)

    for tab in (sessions[0], chats[0]):
        tab.get_by_role("button", name="Stop").click()
    for tab in sessions:
        expect(tab.get_by_text("cancelled")).to_be_visible()
    for tab in chats:
        expect(tab.get_by_text("Stopped.")).to_be_visible()
