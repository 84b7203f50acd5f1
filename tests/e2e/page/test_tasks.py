"""Five tasks with what is visible alone, by roles and names, each within a budget of clicks and choices."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.fast_families import FAST_FAMILIES

from .conftest import Visit

BUDGETS = {"drivers": 3, "left out": 3, "predict": 5, "branch": 6, "note": 4}
"""Clicks and choices from the first screen. Typing is not counted."""
LONG_S = 3600
"""Time budget of a session that is stopped: it never ends before."""


class Hand:
    """What a user does on a page, counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def choose(self, target: Locator, option: str) -> None:
        self.clicks += 1
        target.select_option(option)

    def give_file(self, target: Locator, file: Path) -> None:
        self.clicks += 1
        target.set_input_files(file)


@pytest.fixture
def owner(visit: Any, titanic: Path) -> Visit:
    """A user with one finished session that was told to leave a column out."""
    visitor: Visit = visit()
    visitor.ignored += ["422"]  # an address that names no session
    file = {"name": titanic.name, "mimeType": "text/csv", "buffer": titanic.read_bytes()}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    quick = {"deterministic": True, "time_budget_s": 5, "model": "single", **FAST_FAMILIES}
    preferences = {"clarify": "never", "exclude": ["name"], **quick}
    body = {"goal": "Predict survived", "dataset_ids": [dataset], "preferences": preferences}
    visitor.call("POST", "/lab/agent/sessions", data=body)
    visitor.open("/")
    expect(visitor.page.get_by_role("list", name="Recent sessions").get_by_text("completed")).to_be_visible()
    return visitor


def _open_session(hand: Hand) -> None:
    hand.page.get_by_role("link", name="Home").click()
    hand.clicks = 0
    hand.click(hand.page.get_by_role("list", name="Recent sessions").get_by_role("link").last)


def test_each_task_keeps_its_budget_of_clicks(owner: Visit, titanic: Path) -> None:
    hand = Hand(owner.page)
    clicks = {
        "drivers": _find_what_drives(hand),
        "left out": _find_why_a_column_was_left_out(hand),
        "predict": _predict_new_rows(hand, titanic),
        "branch": _branch_and_compare(hand),
        "note": _stop_and_go_on(owner, hand),
    }
    assert {task: count for task, count in clicks.items() if count > BUDGETS[task]} == {}


def test_a_budget_is_raised_by_the_number_that_is_typed(visit: Any, titanic: Path) -> None:
    owner: Visit = visit()
    file = {"name": titanic.name, "mimeType": "text/csv", "buffer": titanic.read_bytes()}
    dataset = owner.call("POST", "/datasets", multipart={"file": file})["id"]
    preferences = {"clarify": "ask", "deterministic": True, "model": "single", **FAST_FAMILIES}
    body = {
        "goal": "Predict survived",
        "dataset_ids": [dataset],
        "preferences": {**preferences, "budget": {"tool_calls": 3}},
    }
    session = owner.call("POST", "/lab/agent/sessions", data=body)["id"]
    owner.open(f"/sessions/{session}")
    page = owner.page
    page.get_by_label("A number").fill("500")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="A question for you")).to_have_count(0)
    expect(page.get_by_role("list", name="Columns used")).to_be_visible()


def test_a_branch_asks_for_its_price_once_whatever_its_note_says(owner: Visit) -> None:
    page = owner.page
    _open_session(Hand(page))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/fork?dry=true" in request.url else None)
    page.get_by_role("button", name="Branch", exact=True).first.click()
    dialog = page.get_by_role("dialog", name="Branch")
    expect(dialog.get_by_text("Takes over")).to_be_visible()
    dialog.get_by_label("A note to the crew").press_sequentially("Leave out the age.")
    expect(dialog.get_by_text("Takes over")).to_be_visible()
    assert len(asked) == 1
    with page.expect_request(re.compile(r"/fork\?dry=true")):
        dialog.get_by_label("Metric").select_option("F1 score")


def test_a_list_of_sessions_says_what_each_came_to(owner: Visit) -> None:
    ended = [
        each for each in owner.call("GET", "/lab/agent/sessions")["items"] if each["status"] == "completed"
    ]
    assert ended
    assert all(each["headline"] for each in ended)
    owner.open("/sessions")
    expect(owner.page.get_by_role("link").filter(has_text=ended[-1]["headline"]).first).to_be_visible()
    owner.check_width()


def _find_what_drives(hand: Hand) -> int:
    page = hand.page
    _open_session(hand)
    used = page.get_by_role("list", name="Columns used")
    expect(used).to_contain_text("sex")
    hand.click(used.get_by_role("button", name="sex"))
    expect(page.get_by_role("dialog", name="Evidence").get_by_text("explain_model", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    return hand.clicks


def _find_why_a_column_was_left_out(hand: Hand) -> int:
    _open_session(hand)
    left_out = hand.page.get_by_role("list", name="Columns left out")
    expect(left_out).to_contain_text("name")
    expect(left_out).to_contain_text("left out on request")
    return hand.clicks


def _predict_new_rows(hand: Hand, table: Path) -> int:
    page = hand.page
    _open_session(hand)
    hand.click(page.get_by_role("link", name="Predict new rows"))
    hand.give_file(page.get_by_label("Choose a file"), table)
    expect(page.get_by_text("1,313 rows of titanic_all predicted.")).to_be_visible()
    expect(page.get_by_role("link", name="Download predictions.csv")).to_be_visible()
    clicks = hand.clicks
    first = page.get_by_role("table", name="First predictions")
    expect(first.get_by_role("columnheader").first).to_have_text("predicted survived")
    expect(first.get_by_role("row")).to_have_count(21)

    page.get_by_role("button", name="Fill in a row of its table").click()
    one = page.get_by_role("region", name="One row")
    expect(one.get_by_label("sex")).not_to_have_value("")
    one.get_by_role("button", name="Predict").click()
    expect(one.get_by_role("status").get_by_role("listitem")).to_have_count(2)
    return clicks


def _branch_and_compare(hand: Hand) -> int:
    page = hand.page
    _open_session(hand)
    hand.click(page.get_by_role("button", name="Branch", exact=True).first)
    dialog = page.get_by_role("dialog", name="Branch")
    hand.choose(dialog.get_by_label("Metric"), "F1 score")
    hand.click(dialog.get_by_role("button", name="Branch", exact=True))
    hand.click(page.get_by_role("link", name="Compare"))
    expect(page.get_by_role("table", name="Differences")).to_contain_text("F1 score")
    clicks = hand.clicks
    # The branch may still work: its scores come by themselves when it has ended.
    # What tells nothing apart is folded away; the verdict on it stands in one sentence.
    expect(page.get_by_text("Equal on the same 263 rows", exact=False)).to_be_visible()
    alike = page.get_by_role("table", name="Scores that do not tell them apart")
    expect(alike).to_be_hidden()
    page.get_by_text("metrics that do not tell them apart").press("Enter")
    expect(alike.get_by_role("row")).to_have_count(10)
    expect(alike.get_by_role("columnheader")).to_have_text(
        ["On the same 263 rows", "A", "B", "B minus A", "95 % interval", "Verdict"]
    )
    scores = alike.get_by_role("row").last.get_by_role("cell")
    expect(scores.nth(1)).to_have_text(re.compile(r"^\d+\.\d+$"))
    expect(scores.nth(2)).to_have_text(scores.nth(1).inner_text())

    # Any two sessions are chosen here, by keys too, and also from an address that names none.
    page.goto(f"{page.url.split('?')[0]}?sessions=none")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    boxes = page.get_by_role("list", name="Sessions to compare").get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.press("Space")
    page.get_by_role("link", name="Compare 2").press("Enter")
    expect(page.get_by_role("table", name="Differences")).to_contain_text("F1 score")
    return clicks


def _stop_and_go_on(owner: Visit, hand: Hand) -> int:
    """Stop a session that runs, found in the list of sessions, and go on with a note."""
    page = hand.page
    dataset = owner.call("GET", "/datasets")["items"][0]["id"]
    preferences = {"clarify": "never", "time_budget_s": LONG_S}
    body = {"goal": "Predict age", "dataset_ids": [dataset], "preferences": preferences}
    owner.call("POST", "/lab/agent/sessions", data=body)
    page.get_by_role("link", name="Home").click()
    hand.clicks = 0
    hand.click(page.get_by_role("list", name="Running sessions").get_by_role("link", name="Predict age"))
    # It has planned, so that there is a step to go on from.
    expect(page.get_by_role("navigation", name="Stages").get_by_text("running")).to_be_attached()
    expect(page.get_by_role("navigation", name="Stages").get_by_text("done").first).to_be_attached()
    hand.click(page.get_by_role("button", name="Stop"))
    hand.click(page.get_by_role("button", name="Go on with a note"))
    dialog = page.get_by_role("dialog", name="Go on with a note")
    dialog.get_by_label("A note to the crew").fill("Write the report for newcomers.")
    hand.click(dialog.get_by_role("button", name="Go on", exact=True))
    expect(page.get_by_role("link", name="Branch of another session")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status").get_by_text("cancelled")).to_be_visible()
    return hand.clicks
