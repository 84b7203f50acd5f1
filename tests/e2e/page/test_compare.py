"""Comparison of sessions: they are called by their names."""

import re
from typing import Any

from playwright.sync_api import expect

from .conftest import Visit

UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def test_sessions_that_cannot_be_compared_are_named_and_no_id_is_read(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    ids = [
        visitor.call("POST", "/lab/agent/sessions", data={"goal": goal})["id"]
        for goal in ("Predict the depth of harbours", "Predict the length of piers")
    ]
    visitor.call("PATCH", f"/lab/agent/sessions/{ids[0]}", data={"name": "Harbours"})
    for session in ids:
        # The stream of a session ends with it: one that still runs has another reason, until it has ended.
        events = visitor.context.request.get(f"{visitor.address}/api/v1/lab/agent/sessions/{session}/events")
        assert events.ok
    visitor.open(f"/compare?sessions={','.join(ids)}")
    pair = page.get_by_role("region", name="A and B")
    reason = pair.get_by_text("“Harbours” has no outputs for the rows of a hold-out")
    expect(reason).to_be_visible()
    expect(reason).to_have_attribute("title", ids[0])
    expect(page.get_by_role("link", name="Harbours")).to_have_attribute("title", ids[0])
    expect(page.get_by_role("main")).not_to_contain_text(UUID_TEXT)
    visitor.check_access()
    visitor.check_rules()
