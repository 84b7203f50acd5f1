"""Requests in words that are carried out once: followed, stopped, and kept as workflows."""

from typing import Any

from playwright.sync_api import expect

from .conftest import PHONE

FLIGHTS = b"flight,price,city\n" + b"".join(
    b"F%d,%d,%s\n" % (n, 100 + n % 40, (b"Bern", b"Thun")[n % 2]) for n in range(90)
)


def test_an_answer_is_kept_as_a_workflow_under_a_name(visit: Any) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    file = {"name": "flights.csv", "mimeType": "text/csv", "buffer": FLIGHTS}
    visitor.call("POST", "/datasets", multipart={"file": file})
    visitor.open("/workflows")
    words = page.get_by_role("textbox", name="In your words")
    words.fill("mean price by city")
    # What is written and not sent is there again.
    page.get_by_role("link", name="Home").first.click()
    expect(page.get_by_role("heading", level=1, name="What shall the crew work on?")).to_be_visible()
    page.go_back()
    expect(words).to_have_value("mean price by city")
    page.get_by_role("button", name="Send", exact=True).click()
    answer = page.get_by_role("region", name="mean price by city")
    expect(answer.get_by_role("cell", name="Bern", exact=True)).to_be_visible()
    answer.get_by_label("Name of a workflow").fill("Prices of cities")
    visitor.check_access()
    visitor.check_width()
    answer.get_by_role("button", name="Keep as workflow").press("Enter")
    answer.get_by_role("link", name="Open Prices of cities").click()
    expect(page.get_by_role("heading", level=1, name="Prices of cities")).to_be_visible()


def test_a_chart_that_is_asked_for_is_shown_with_its_rows(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    file = {"name": "flights.csv", "mimeType": "text/csv", "buffer": FLIGHTS}
    visitor.call("POST", "/datasets", multipart={"file": file})
    visitor.open("/workflows")
    page.get_by_role("textbox", name="In your words").fill("mean price by city as a bar chart")
    page.get_by_role("button", name="Send", exact=True).click()
    answer = page.get_by_role("region", name="mean price by city as a bar chart")
    tabs = answer.get_by_role("tablist", name="Parts of the answer")
    expect(tabs.get_by_role("tab")).to_have_text(["Chart", "Table", "SQL"])
    expect(answer.get_by_role("img", name="Mean price by city").first).to_be_visible()
    visitor.check_access()
    tabs.get_by_role("tab", name="Table").click()
    expect(answer.get_by_role("cell", name="Bern", exact=True)).to_be_visible()
    expect(answer.get_by_role("link", name="CSV")).to_be_visible()


def test_a_request_that_still_runs_is_stopped(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.open("/workflows")
    page.get_by_role("textbox", name="In your words").fill("PYTHON: while True: pass")
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("region", name="PYTHON: while True: pass").get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    visitor.check_access()


def test_all_of_the_inbox_is_marked_as_seen(visit: Any) -> None:
    visitor = visit(PHONE, "dark")
    page = visitor.page
    nodes = [{"id": "rows", "type": "python", "config": {"code": "keep['rows'] = 1 / 0"}}]
    for name in ("Nightly", "Hourly"):
        saved = visitor.call("POST", "/workflows", data={"name": name, "nodes": nodes, "edges": []})
        visitor.call("POST", f"/workflows/{saved['id']}/run", data={"by_node": True})
    visitor.open("/inbox")
    failed = page.get_by_role("list", name="Runs of workflows to look at").get_by_role("listitem")
    expect(failed).to_have_count(2)
    visitor.check_access()
    visitor.check_width()
    page.get_by_role("button", name="Mark all as seen").press("Enter")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.get_by_role("heading", name="Inbox")).to_be_focused()
    page.reload()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
