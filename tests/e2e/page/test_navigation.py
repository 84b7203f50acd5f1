"""What was begun in the page survives a look at another screen: uploads, drafts, and the place of the focus."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

SLOW_LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 20_000}
"""Bytes a second: the file below takes longer than a claim about the page may take to come true."""
LARGE_ROWS = 600_000
"""8 MB of CSV."""


def _go(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def _small(name: str) -> Any:
    return {"name": name, "mimeType": "text/csv", "buffer": b"day,sales\n1,2\n2,3\n"}


def test_an_upload_goes_on_while_another_screen_is_shown_and_can_be_cancelled(
    visit: Any, tmp_path: Path
) -> None:
    large = tmp_path / "visits.csv"
    large.write_text("visit,page\n" + "".join(f"{n},page{n % 97}\n" for n in range(LARGE_ROWS)))
    visitor = visit()
    page = visitor.page
    visitor.open("/")
    line = visitor.context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", SLOW_LINE)
    page.get_by_label("Data file").set_input_files(large)
    expect(page.get_by_role("progressbar", name="Progress of visits.csv")).to_be_visible()
    _go(page, "Chat")
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads.get_by_role("progressbar", name="Progress of visits.csv")).to_be_visible()
    visitor.check_access()
    with page.expect_request(lambda request: request.method == "DELETE" and "/uploads/" in request.url):
        uploads.get_by_role("button", name="Cancel visits.csv").click()
    expect(uploads.get_by_text("visits.csv, cancelled")).to_be_visible()
    uploads.get_by_role("button", name="Dismiss visits.csv").press("Enter")
    expect(uploads).to_have_count(0)
    # The button is gone with its line: the next Tab goes on in the screen.
    expect(page.locator("main :focus, nav :focus, header :focus")).to_have_count(1)

    line.send("Network.emulateNetworkConditions", {**SLOW_LINE, "uploadThroughput": -1})
    _go(page, "Data")
    page.get_by_label("Upload a table").set_input_files([_small("north.csv"), _small("south.csv")])
    for name in ("north", "south"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    assert len(visitor.call("GET", "/datasets")["items"]) == 2


def test_drafts_are_there_again_and_go_with_who_signs_out(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.open("/")
    goal = page.get_by_label("What do you want to know or predict?")
    goal.fill("Predict which customers leave")
    _go(page, "Chat")
    message = page.get_by_label("Message", exact=True)
    message.fill("mean age by class")
    _go(page, "Home")
    expect(goal).to_have_value("Predict which customers leave")
    goal.fill("")
    _go(page, "Chat")
    expect(message).to_have_value("mean age by class")
    _go(page, "Home")
    expect(goal).to_have_value("")
    stored = page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")
    assert "mean age" not in stored


def test_an_answer_that_comes_late_calls_nobody_back(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    held: list[Route] = []
    page.route("**/api/v1/chat?*", lambda route: held.append(route))
    visitor.open("/chat")
    with page.expect_request("**/api/v1/chat?*"):
        page.get_by_label("Message", exact=True).fill("hello")
        page.keyboard.press("Enter")
    _go(page, "Data")
    expect(page.get_by_text("No table yet.")).to_be_visible()
    with page.expect_response("**/api/v1/chat?*"):
        held[0].continue_()
    # By keys, which come after what the answer has begun: another navigation would be on its way.
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")
    _go(page, "Chat")
    conversations = page.get_by_role("navigation", name="Conversations")
    expect(conversations.get_by_role("link", name="hello")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


def test_the_focus_is_near_where_a_button_vanished(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    dataset = visitor.call("POST", "/datasets", multipart={"file": _small("sales.csv")})["id"]
    visitor.open("/")
    page.get_by_role("button", name="sales", exact=True).press("Enter")
    page.get_by_role("button", name="Another table").press("Enter")
    form = page.locator("form.panel")
    expect(form.locator(":focus")).to_have_count(1)
    visitor.open(f"/data/{dataset}")
    note = page.get_by_role("region", name="Note")
    note.get_by_role("button").first.press("Enter")
    note.get_by_role("button", name="Cancel").press("Enter")
    expect(note.locator(":focus")).to_have_count(1)
    expect(page.get_by_text("2 rows, 2 columns").first).to_be_visible()
