"""A session of 5,000 events: its page stays responsive, and draws a bounded part of them."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
from playwright.sync_api import Page, expect
from tests.patience import wait_until

EVENTS = 5_000
STEPS = 20
MAX_NODES = 4_000
"""Elements of the page; with an entry in the document for each event it has 20,000."""


async def _add_events(database_url: str, session: str) -> None:
    """Add calls to a session that has ended, as its driver would have written them."""
    database = await asyncpg.connect(database_url)
    try:
        last = await database.fetchval("SELECT event_seq FROM sessions WHERE id = $1", session)
        rows = [(session, last + n + 1, "tool_returned", json.dumps(_call(n))) for n in range(EVENTS)]
        await database.executemany(
            "INSERT INTO events (session_id, n, kind, body) VALUES ($1, $2, $3, $4::json)", rows
        )
        await database.execute("UPDATE sessions SET event_seq = $2 WHERE id = $1", session, last + EVENTS)
    finally:
        await database.close()


def _call(n: int) -> dict[str, Any]:
    return {
        "kind": "tool_returned",
        "step": n * STEPS // EVENTS + 1,
        "call": f"tool:{n}.0",
        "agent": "data_analyst",
        "tool": "profile",
        "summary": f"Looked at column {n}.",
        "duration_ms": 3.0,
        "failed": False,
        "artifacts": [],
    }


def _count_nodes(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def test_a_session_of_thousands_of_events_is_read_in_parts(studio: Any, visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    body = {"goal": "Look at a long day of work", "dataset_ids": []}
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    # Without data it ends by itself.
    wait_until(lambda: visitor.call("GET", f"/lab/agent/sessions/{session}")["ended_at"], every_s=0.1)
    # In another thread: in this one runs the loop of Playwright.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _add_events(studio.addresses.database_url, session)).result()
    visitor.open(f"/sessions/{session}")
    expect(page.get_by_text(f"Looked at column {EVENTS - 1}.")).to_be_visible()
    assert _count_nodes(page) < MAX_NODES
    page.get_by_label("Show").select_option("all")
    expect(page.get_by_role("button", name="230 earlier entries")).to_have_count(STEPS)
    assert _count_nodes(page) < MAX_NODES
    expect(page.get_by_text("Looked at column 4750.")).to_have_count(0)
    page.get_by_role("button", name="230 earlier entries").last.click()
    page.get_by_role("button", name="30 earlier entries", exact=True).click()
    expect(page.get_by_text("Looked at column 4750.")).to_be_visible()
    visitor.check_access()
