"""Every screen, light and dark, wide and on a telephone, with names of 80 characters without a break."""

import random
import re
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.fast_families import FAST_FAMILIES
from tests.patience import HANG_GUARD_S, wait_until

from ..conftest import run_command
from .conftest import DESKTOP, OWN_PAGE, PASSWORD, PHONE, Visit

LONG = "longname" * 10
"""As long as a generated identifier or a path, and nowhere to be broken."""
USER = f"{'longlocal' * 7}@example.com"
"""63 characters before the sign, of which addresses may have 64."""
ROWS = 120
SCREENS: dict[str, str] = {
    "/": "What shall the crew work on?",
    "/account": "Account",
    "/admin": "Admin",
    "/branches": "Branches",
    "/chat": "Ask your tables",
    "/chat/{thread}": "longname",
    "/compare": "Compare",
    "/compare?sessions={session},{branch}": "Compare",
    "/data": "Data",
    "/data/{dataset}": LONG,
    "/examples": "Components",
    "/inbox": "Inbox",
    "/models": "Models",
    "/models/{model}": "Predict",
    "/more": "More",
    "/runs": "Runs",
    "/search?q=longname": "Search",
    "/sessions": "Sessions",
    "/sessions/{session}": "Predict",
    "/sessions/{session}/report": "longname",
    "/sign-in": "Sign in to Labcrew",
    "/workflows": "Workflows",
    "/workflows/{workflow}": LONG,
    "/nowhere": "There is no such page",
}
"""Path -> a part of its title."""
BUSY = re.compile("^(Loading|Reading|Opening)")


def _table() -> str:
    chance = random.Random(1)
    rows = [(chance.gauss(0, 1), chance.choice([LONG, "short"])) for _ in range(ROWS)]
    lines = [f"{x:.3f},{name},{2 * x + chance.gauss(0, 1):.3f}" for x, name in rows]
    return "\n".join([f"{LONG}x,{LONG}kind,{LONG}y", *lines, ""])


class Owner:
    """The API as the owner of the long names calls it."""

    def __init__(self, address: str) -> None:
        self._client = httpx.Client(
            base_url=f"{address}/api/v1", headers=OWN_PAGE, timeout=HANG_GUARD_S, follow_redirects=True
        )
        signed_in = self._client.post("/auth/session", json={"email": USER, "password": PASSWORD})
        signed_in.raise_for_status()
        name, value = next(iter(signed_in.cookies.items()))
        # The name of the cookie asks for TLS, which this client does not see on loopback.
        self._client.headers["Cookie"] = f"{name}={value}"

    def close(self) -> None:
        self._client.close()

    def call(self, method: str, path: str, **request: Any) -> Any:
        return self._client.request(method, path, **request).raise_for_status().json()

    def has_ended(self, session: str) -> bool:
        return self.call("GET", f"/lab/agent/sessions/{session}")["status"] in ("completed", "failed")


# As long as its service: workers that share tests come back to this module, and the account exists once.
@pytest.fixture(scope="package")
def places(studio: Any) -> dict[str, str]:
    """Something on each screen, named as long as names become: noun -> its id."""
    made = run_command(studio.home, "user", "add", USER, "--admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr
    with closing(Owner(studio.addresses.api)) as owner:
        return _make_places(owner)


def _make_places(owner: Owner) -> dict[str, str]:
    dataset = owner.call("POST", "/datasets", files={"file": (f"{LONG}.csv", _table().encode())})["id"]
    quick = {"deterministic": True, "time_budget_s": 5, "model": "single", **FAST_FAMILIES}
    body = {
        "goal": f"Predict {LONG}y",
        "dataset_ids": [dataset],
        "preferences": {"clarify": "never", **quick},
    }
    session = owner.call("POST", "/lab/agent/sessions", json=body)["id"]
    wait_until(partial(owner.has_ended, session), every_s=0.5)
    fork = {"at": {"step": 1}}
    branch = owner.call("POST", f"/lab/agent/sessions/{session}/fork", json=fork)["id"]
    wait_until(partial(owner.has_ended, branch), every_s=0.5)
    said = {"message": f"SQL: select * from {LONG} limit 3", "dataset_ids": [dataset]}
    thread = owner.call("POST", "/chat", json=said)["thread_id"]
    nodes = [{"id": f"{LONG}"[:60], "type": "read_dataset", "config": {"dataset_id": dataset}}]
    workflow = owner.call("POST", "/workflows", json={"name": LONG, "nodes": nodes, "edges": []})["id"]
    return {
        "dataset": dataset,
        "session": session,
        "branch": branch,
        "thread": thread,
        "workflow": workflow,
        "model": owner.call("GET", "/models")["items"][0]["id"],
    }


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_is_usable_by_everybody_and_never_wider_than_its_window(
    visit: Callable[..., Visit], places: dict[str, str], screen: str
) -> None:
    visitor = visit(signed_in=False) if screen == "/sign-in" else visit(account=USER)
    visitor.ignored += ["404"] if screen == "/nowhere" else ["401"] if screen == "/sign-in" else []
    page = visitor.page
    visitor.open(screen.format(**places))
    expect(page.get_by_role("heading", level=1).first).to_contain_text(SCREENS[screen])
    expect(page.get_by_role("status").filter(has_text=BUSY)).to_have_count(0)
    for width, height in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        visitor.check_width()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            visitor.check_access()
    visitor.check_rules()
