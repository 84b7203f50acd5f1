"""Names, archive and deletion from the page: each deletion says what goes with it, and asks first."""

from typing import Any

from playwright.sync_api import Route, expect

from .conftest import PASSWORD, Visit

TABLE = b"port,ships\nKiel,4\nBari,7\nOslo,9\n"


def upload(visitor: Visit) -> str:
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": TABLE}
    return str(visitor.call("POST", "/datasets", multipart={"file": file})["id"])


def test_a_session_is_named_found_archived_and_deleted(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    dataset = upload(visitor)
    for goal in ("asdf qwer", "Mean ships by port"):
        body = {"goal": goal, "dataset_ids": [dataset], "preferences": {"clarify": "never"}}
        session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    visitor.open(f"/sessions/{session}")
    # Until it has ended: what runs is stopped before it is deleted.
    expect(page.get_by_role("link", name="Read the report")).to_be_visible()
    page.get_by_role("button", name="Options…").click()
    options = page.get_by_role("dialog", name="Options of the session")
    visitor.check_access()
    options.get_by_label("Name").fill("Harbours, first look")
    options.get_by_role("button", name="Save the name").click()
    expect(page.get_by_role("heading", level=1, name="Harbours, first look")).to_be_visible()
    expect(page.get_by_text("Mean ships by port", exact=True)).to_be_visible()

    visitor.open("/sessions")
    rows = page.get_by_role("list", name="Sessions").get_by_role("listitem")
    expect(rows).to_have_count(2)
    page.get_by_label("Order").select_option("oldest first")
    expect(rows.first).to_contain_text("asdf qwer")
    page.get_by_role("searchbox").fill("look harbours")
    expect(rows).to_have_count(1)
    visitor.check_access()
    visitor.check_width()
    rows.get_by_role("link").click()
    page.get_by_role("button", name="Options…").click()
    options.get_by_role("button", name="Archive it").click()
    expect(options).to_be_hidden()
    visitor.open("/sessions")
    expect(rows).to_have_count(1)
    page.get_by_label("Archived").check()
    expect(rows).to_contain_text("Harbours, first look")

    rows.get_by_role("link").click()
    page.get_by_role("button", name="Options…").click()
    expect(options).to_contain_text("Its report, models, files, messages and journal go with it")
    options.get_by_role("button", name="Delete the session").click()
    page.wait_for_url("**/sessions")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("asdf qwer")
    assert visitor.call("GET", "/lab/agent/sessions?archived=true")["items"] == []
    visitor.check_rules()


def test_the_past_events_of_an_ended_session_read_it_no_more(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    body = {"goal": "Mean ships by port", "dataset_ids": [upload(visitor)], "preferences": {"clarify": "never"}}
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    visitor.open(f"/sessions/{session}")
    expect(page.get_by_role("link", name="Read the report")).to_be_visible()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith(session) else None)
    page.clock.install()
    page.reload()
    expect(page.get_by_role("link", name="Read the report")).to_be_visible()
    expect(page.get_by_role("button", name="Writes the report")).to_be_visible()
    # Whatever waits for its time does so now: read again, a session that is being deleted answers 404.
    page.clock.run_for(5_000)
    # What was asked before this answer has been seen by then.
    page.evaluate("fetch('/api/v1/config')")
    assert [url for url in asked if "/api/" in url] == [
        f"{visitor.address}/api/v1/lab/agent/sessions/{session}"
    ]


def test_a_table_is_deleted_while_its_rows_are_on_their_way(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    dataset = upload(visitor)
    held: list[Route] = []
    page.route("**/tables/query", lambda route: held.append(route))
    visitor.open(f"/data/{dataset}")
    page.get_by_role("button", name="Delete the table").click()
    dialog = page.get_by_role("dialog", name="Delete harbours")
    # The rows of a table that is gone cannot be read: they are asked for no longer.
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/tables/query")):
        dialog.get_by_role("button", name="Delete the table", exact=True).click()
    page.wait_for_url("**/data")
    expect(page.get_by_text("No table yet.")).to_be_visible()
    assert held
    # Its address says that it is gone, where somebody goes back to it.
    visitor.ignored.append("404")
    page.go_back()
    expect(page.get_by_role("heading", name="There is no such table")).to_be_visible()


def test_a_key_a_conversation_and_the_account_are_deleted_only_after_a_question(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    visitor.open("/account")
    page.get_by_label("Name").first.fill("nightly")
    page.get_by_role("button", name="Make a key").click()
    expect(page.get_by_role("button", name="Copy the key")).to_be_visible()
    page.get_by_role("button", name="Revoke nightly").click()
    question = page.get_by_role("dialog", name="Revoke nightly?")
    expect(question).to_contain_text("It cannot be brought back.")
    visitor.check_access()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Revoke nightly")).to_be_visible()
    page.get_by_role("button", name="Revoke nightly").click()
    question.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("button", name="Revoke nightly")).to_have_count(0)

    thread = visitor.call("POST", "/chat", data={"message": "hello"})["thread_id"]
    visitor.open(f"/chat/{thread}")
    page.get_by_text("Options…").click()
    page.get_by_role("button", name="Delete the conversation…").click()
    expect(page.get_by_role("dialog")).to_contain_text(
        "Uploaded tables, sessions and workflows that it started stay."
    )
    visitor.check_access()
    page.get_by_role("dialog").get_by_role("button", name="Delete the conversation").click()
    page.wait_for_url("**/chat")
    assert visitor.call("GET", "/threads")["items"] == []

    visitor.ignored.append("401")
    visitor.open("/account")
    page.get_by_role("button", name="Delete the account…").click()
    question = page.get_by_role("dialog", name=f"Delete {visitor.account}?")
    question.get_by_label("Your password").fill("not it, surely")
    question.get_by_role("button", name="Delete everything").click()
    expect(question.get_by_role("alert")).to_be_visible()
    visitor.check_access()
    question.get_by_label("Your password").fill(PASSWORD)
    question.get_by_role("button", name="Delete everything").click()
    page.wait_for_url("**/sign-in**")
    login = {"email": visitor.account, "password": PASSWORD}
    refused = visitor.context.request.post(f"{visitor.address}/api/v1/auth/session", data=login)
    assert refused.status in (401, 403)
    visitor.check_rules()


def test_a_deleted_table_of_a_conversation_is_said_to_be_deleted_and_asked_for_once(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    message = {"message": "mean ships by port", "dataset_ids": [dataset]}
    thread = visitor.call("POST", "/chat?wait=60", data=message)["thread_id"]
    visitor.call("DELETE", f"/datasets/{dataset}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if dataset in request.url else None)
    visitor.ignored.append("404 (Not Found)")
    visitor.open(f"/chat/{thread}")
    deleted = page.get_by_text(
        "A table of this conversation was deleted. The answers stay; add a table to ask on."
    )
    expect(deleted).to_be_visible()
    visitor.check_access()
    for _ in range(2):
        page.get_by_role("link", name="New conversation").click()
        expect(page.get_by_role("heading", name="Ask your tables")).to_be_visible()
        page.get_by_role("link", name="mean ships by port").click()
        expect(deleted).to_be_visible()
    assert len(asked) == 1
    visitor.check_rules()
