"""Who may do what: the accounts of a service as their admin sees and limits them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
from playwright.sync_api import expect

from ..conftest import run_command
from .conftest import PASSWORD, PHONE, Visit

ADMIN = "operator@example.com"
PAGE_USERS = 50
"""Users of one page of the list."""


async def _add_users(database_url: str) -> None:
    """Add accounts to more than a page, which nobody signs in to: a password takes long to hash."""
    database = await asyncpg.connect(database_url)
    try:
        await database.execute(
            "INSERT INTO users (id, email, password_hash, role)"
            " SELECT gen_random_uuid(), 'crowd' || n || '@example.com', '', 'user'"
            " FROM generate_series(1, $1) n",
            PAGE_USERS,
        )
    finally:
        await database.close()


def test_an_admin_limits_an_account_and_sees_what_was_done_to_whom(
    studio: Any, visit: Callable[..., Visit]
) -> None:
    user = visit()
    user.open("/admin")
    expect(user.page.get_by_text("labcrew user add you@example.com --admin")).to_be_visible()
    added = run_command(studio.home, "user", "add", ADMIN, "--admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    assert added.returncode == 0, added.stderr

    admin = visit(size=PHONE, theme="dark", account=ADMIN)
    page = admin.page
    # In another thread: in this one runs the loop of Playwright.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _add_users(studio.addresses.database_url)).result()
    admin.open("/admin")
    accounts = page.get_by_role("list", name="Users").get_by_role("listitem")
    total = admin.call("GET", "/admin/users")["total"]
    assert total > PAGE_USERS
    for place in range(PAGE_USERS, total, PAGE_USERS):
        expect(accounts).to_have_count(place)
        page.get_by_role("region", name="Users").get_by_role("button", name="Show more").press("Enter")
    expect(accounts).to_have_count(total)
    account = accounts.filter(has_text=user.account)
    account.get_by_text("Quotas", exact=True).press("Enter")
    quotas = page.get_by_role("form", name=f"Quotas of {user.account}")
    quotas.get_by_label("Requests").fill("many")
    quotas.get_by_role("button", name="Save the quotas").click()
    expect(quotas.get_by_role("alert")).to_be_visible()
    quotas.get_by_label("Requests").fill("5000/minute")
    quotas.get_by_label("Stored MiB").fill("7")
    quotas.get_by_role("button", name="Save the quotas").click()
    expect(quotas.get_by_text("Saved.")).to_be_visible()
    expect(account).to_contain_text("quotas of its own")
    assert user.call("GET", "/auth/me/usage")["max_stored_bytes"] == 7 * 2**20
    admin.check_access()
    admin.check_width()
    page.reload()
    actions = page.get_by_role("table", name="Actions").get_by_role("row").filter(has_text=user.account)
    expect(actions.first).to_be_visible()
    # Identifiers of families of tokens tell nobody anything.
    expect(page.get_by_role("cell", name="family")).to_have_count(0)
    admin.ignored += ["422"]
