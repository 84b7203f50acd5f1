"""Long lists whose pages are numbered: older entries come when they are asked for, and each of them once."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
from playwright.sync_api import Locator, Page, expect

from ..conftest import run_command
from .conftest import PASSWORD, Visit

ADMIN = "pager@example.com"
PAGE_ITEMS = 50
"""Entries of one page of a list."""
MORE = 3
"""Entries beyond a page."""
NODE = {"id": "calls", "type": "trigger", "config": {"kind": "webhook"}}
ADD_RUNS = """
    INSERT INTO sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed, status, ended_at,
      created_at)
      SELECT gen_random_uuid(), owner_id, 'workflow', 'run', '{}', jsonb_build_object('workflow',
        jsonb_build_object('id', id, 'version', n, 'node', '')), '{}', 1, 'completed', now(),
        now() - interval '1 day' + n * interval '1 minute'
      FROM workflows, generate_series($2::int, $3::int) n WHERE id = $1::uuid"""
ADD_PROPOSALS = """
    INSERT INTO workflow_proposals (id, workflow_id, owner_id, version, message, summary, operations, document,
      created_at)
      SELECT gen_random_uuid(), id, owner_id, 1, 'change ' || n, '', '[]', '{"nodes": [], "edges": []}',
        now() - interval '1 day' + n * interval '1 minute'
      FROM workflows, generate_series($2::int, $3::int) n WHERE id = $1::uuid"""
ADD_ACTIONS = """
    INSERT INTO audit (owner_id, actor, action, detail)
      SELECT id, 'user', 'signed_in', jsonb_build_object('place', n)
      FROM users, generate_series($2::int, $3::int) n WHERE email = $1"""


def add_rows(studio: Any, statement: str, owner: str, first: int, last: int) -> None:
    """Add rows to the database of the service, numbered from `first` to `last`."""

    async def execute() -> None:
        database = await asyncpg.connect(studio.addresses.database_url)
        try:
            await database.execute(statement, owner, first, last)
        finally:
            await database.close()

    # In another thread: in this one runs the loop of Playwright.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, execute()).result()


def check_older(page: Page, entries: Locator, more: str, add_newer: Callable[[], None]) -> None:
    """Read the older entries of a list to which a newer one came meanwhile, so that its pages have moved."""
    expect(entries).to_have_count(PAGE_ITEMS)
    add_newer()
    page.get_by_role("button", name=more).press("Enter")
    expect(entries).to_have_count(PAGE_ITEMS + MORE)
    expect(page.get_by_role("button", name=more)).to_have_count(0)
    texts = [text.split(",")[0] for text in entries.all_inner_texts()]
    assert len(set(texts)) == PAGE_ITEMS + MORE, texts


def test_older_runs_come_once_each(studio: Any, visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.page
    workflow = visitor.call("POST", "/workflows", data={"name": "Often", "nodes": [NODE], "edges": []})["id"]
    add_rows(studio, ADD_RUNS, workflow, 1, PAGE_ITEMS + MORE)
    visitor.open(f"/workflows/{workflow}")
    runs = page.get_by_role("list", name="Earlier runs").get_by_role("listitem")
    expect(runs.first).to_contain_text(f"version {PAGE_ITEMS + MORE},")
    check_older(page, runs, "Older runs", lambda: add_rows(studio, ADD_RUNS, workflow, 60, 60))
    expect(runs.last).to_contain_text("version 1,")
    visitor.check_access()
    visitor.check_rules()


def test_older_proposals_come_once_each(studio: Any, visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.page
    workflow = visitor.call("POST", "/workflows", data={"name": "Changed", "nodes": [NODE], "edges": []})["id"]
    add_rows(studio, ADD_PROPOSALS, workflow, 1, PAGE_ITEMS + MORE)
    visitor.open(f"/workflows/{workflow}")
    proposals = page.get_by_role("region", name="Proposed changes").get_by_role("article")
    expect(proposals.first).to_contain_text(f"change {PAGE_ITEMS + MORE}")
    check_older(page, proposals, "Older proposals", lambda: add_rows(studio, ADD_PROPOSALS, workflow, 60, 60))
    # A decision reads again what was shown, from the newest on.
    proposals.last.get_by_role("button", name="Reject").click()
    expect(proposals.first).to_contain_text("change 60")
    expect(proposals.last).to_contain_text("rejected")
    visitor.check_rules()


def test_older_actions_come_once_each(studio: Any, visit: Callable[..., Visit]) -> None:
    added = run_command(studio.home, "user", "add", ADMIN, "--admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    assert added.returncode == 0, added.stderr
    admin = visit(account=ADMIN)
    page = admin.page
    add_rows(studio, ADD_ACTIONS, ADMIN, 1, 2 * PAGE_ITEMS)
    admin.open("/admin")
    actions = page.get_by_role("table", name="Actions").get_by_role("row").filter(has_text="place ")
    expect(actions).to_have_count(PAGE_ITEMS)
    add_rows(studio, ADD_ACTIONS, ADMIN, 2 * PAGE_ITEMS + 1, 2 * PAGE_ITEMS + 1)
    page.get_by_role("button", name="Older actions").press("Enter")
    # One fewer than two pages: the newer action moved it to the page before.
    expect(actions).to_have_count(2 * PAGE_ITEMS - 1)
    places = [text.rpartition("place ")[2].strip() for text in actions.all_inner_texts()]
    assert places == [str(place) for place in range(2 * PAGE_ITEMS, 1, -1)]
    expect(page.get_by_role("button", name="Older actions")).to_be_visible()
    admin.check_rules()
