"""The first two minutes with the page, as a newcomer lives them.

`PAGE_IMAGES=docs/images` has the screenshots of the README made.
"""

import csv
import os
import random
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from .conftest import PHONE, Visit

IMAGES = os.environ.get("PAGE_IMAGES")
SHORT = ". Take at most 5 seconds."
"""Typed behind a suggested goal: one fold of each family is fitted. By default four more rounds show the page
nothing new."""


@pytest.fixture
def passengers(titanic: Path, tmp_path: Path) -> Path:
    """The passengers with a column that is known too late: the boat, which says for 99 % who survived."""
    rows = list(csv.DictReader(titanic.read_text().splitlines()))
    chance = random.Random(4)
    for row in rows:
        is_saved = (row["survived"] == "1") != (chance.random() < 0.008)
        row["boat"] = chance.choice(["A", "B", "C", "D", "collapsible"]) if is_saved else "none"
    file = tmp_path / "passengers.csv"
    with file.open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_a_table_and_a_sentence_become_an_answer_with_evidence(
    studio: Any, visit: Any, passengers: Path
) -> None:
    visitor = visit()
    page = visitor.page
    _start(visitor, passengers)
    _review_the_plan(visitor)
    _answer_with_both_figures(visitor)
    _lose_and_find_the_service(studio, visitor)

    expect(page.get_by_role("heading", name="Hold-out")).to_be_visible()
    expect(page.get_by_role("list", name="Columns used")).to_contain_text("sex")
    expect(page.get_by_role("list", name="Columns left out")).to_contain_text("boat")
    _check_screen(visitor, "page-session")
    session = page.url.removeprefix(visitor.address)
    _open_the_call_behind_a_number(visitor)
    _see_it_on_a_phone(visit(PHONE, "dark", account=visitor.account), session)
    _see_the_price_of_a_branch(page)
    _see_the_best_so_far(visitor, session)


def _start(visitor: Visit, table: Path) -> None:
    page = visitor.page
    visitor.open("/")
    expect(page.get_by_role("heading", name="What shall the crew work on?")).to_be_visible()
    _check_screen(visitor)
    page.get_by_label("Data file").set_input_files(table)
    columns = page.get_by_role("list", name="Columns")
    expect(columns).to_contain_text("42 % missing")
    suggestions = page.get_by_role("group", name="Suggestions from this table").get_by_role("button")
    assert suggestions.all_text_contents() == [
        "Predict survived", "Mean age by class", "How many rows by sex?", "What is the maximum age?",
    ]  # fmt: skip
    suggestions.first.click()
    goal = page.get_by_label("What do you want to know or predict?")
    expect(goal).to_have_value("Predict survived")
    goal.press_sequentially(SHORT)
    page.get_by_label("Time").select_option("no clock, repeatable")
    _check_screen(visitor, "page-start")
    page.get_by_role("button", name="Go", exact=True).click()


def _review_the_plan(visitor: Visit) -> None:
    """What was understood stands there before anything is computed."""
    page = visitor.page
    # The next Tab is in the plan: nothing else has the focus in a screen that has just come.
    expect(page.get_by_role("region", name="Is this what you mean?")).to_be_focused()
    expect(page.get_by_text("I will predict survived (0 or 1) from passengers.")).to_be_visible()
    expect(page.get_by_text("0 fits")).to_be_visible()
    _check_screen(visitor, "page-plan")
    page.get_by_role("button", name="Carry it out").click()


def _answer_with_both_figures(visitor: Visit) -> None:
    page = visitor.page
    question = page.get_by_role("region", name="A question for you")
    expect(question.get_by_text("Will boat be known when the model is used?")).to_be_visible()
    expect(question).to_be_focused()
    figures = question.get_by_role("button", name="Show the evidence")
    expect(figures).to_have_count(2)
    shown = [figure.text_content() or "" for figure in figures.all()]
    assert all(figure in (question.text_content() or "").replace("".join(shown), "") for figure in shown)
    _check_screen(visitor, "page-question")
    question.get_by_role("button", name="leave them out", exact=True).click()
    # An answer that is cut off is sent again by the browser, and refused as it was taken.
    expect(question).to_be_hidden()


def _lose_and_find_the_service(studio: Any, visitor: Visit) -> None:
    """Kill the API while the crew works: the page says so, and goes on from its place by itself."""
    page = visitor.page
    visitor.ignored += ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_CONNECTION_RESET", "WebSocket"]
    expect(page.get_by_role("navigation", name="Stages").get_by_text("running")).to_be_attached()
    os.kill(studio.pid_of("api"), signal.SIGKILL)
    expect(page.get_by_text("Not connected since")).to_be_visible()
    expect(page.get_by_text("Not connected since")).to_be_hidden()
    expect(page.get_by_role("heading", name=re.compile("Best so far|Hold-out"))).to_be_visible()


def _open_the_call_behind_a_number(visitor: Visit) -> None:
    page = visitor.page
    drawer = page.get_by_role("dialog", name="Evidence")
    figure = page.get_by_role("region", name="Hold-out").get_by_role("button", name="ROC AUC").first
    shown = figure.text_content()
    figure.click()
    expect(drawer.get_by_text("final_evaluation", exact=True)).to_be_visible()
    recorded = drawer.get_by_text("recorded as").locator("code").text_content() or ""
    assert f"{float(recorded):.3f}" == shown
    marked = drawer.locator("mark")
    expect(marked).to_have_text(recorded)
    expect(marked).to_be_in_viewport()
    _check_screen(visitor, "page-evidence")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def _see_it_on_a_phone(phone: Visit, session: str) -> None:
    phone.open(session)
    expect(phone.page.get_by_role("heading", name="Columns")).to_be_visible()
    _check_screen(phone, "page-phone")
    phone.open(f"{session}/report")
    article = phone.page.get_by_role("article")
    picture = article.get_by_role("img", name="Confusion matrix")
    expect(picture).to_have_css("filter", "invert(1) hue-rotate(180deg)")
    article.get_by_role("button", name="of 100").first.press("Enter")
    expect(phone.page.get_by_role("dialog", name="Evidence").get_by_text("recorded as")).to_be_visible()
    _check_screen(phone)


def _see_the_price_of_a_branch(page: Page) -> None:
    page.get_by_role("button", name="Branch", exact=True).first.click()
    dialog = page.get_by_role("dialog", name="Branch")
    expect(dialog.get_by_text("Takes over 3 steps")).to_be_visible()
    # Of two classes, and of the columns of the table without the one that is predicted.
    metrics = dialog.get_by_label("Metric").get_by_role("option").all_text_contents()
    assert "F1 score" in metrics
    assert "RMSE" not in metrics
    expect(dialog.get_by_role("checkbox", name="survived")).to_have_count(0)
    dialog.get_by_role("checkbox", name="sex").check()
    expect(dialog.get_by_text("Columns to leave out, 1 chosen")).to_be_visible()
    dialog.get_by_label("Go on from").select_option("1. Planning")
    expect(dialog.get_by_text("Takes over 0 steps")).to_be_visible()
    page.keyboard.press("Escape")


def _see_the_best_so_far(visitor: Visit, session: str) -> None:
    """See the score of each round as it stood before the result, from the first fits on."""

    def hide_result(route: Route) -> None:
        answer = route.fetch()
        view = answer.json()
        # The usage of a step comes after it; the page counts the fits that it was told of.
        view["usage"]["fits"] = 0
        route.fulfill(response=answer, json={**view, "status": "running", "result": None})

    page = visitor.page
    page.route(re.compile(r"/lab/agent/sessions/[0-9a-f-]{36}$"), hide_result)
    visitor.open(session)
    expect(page.get_by_text(re.compile(r"^[1-9]\d* fits$"))).to_be_visible()
    best = page.get_by_role("region", name="Best so far")
    expect(best.get_by_role("img", name=re.compile(r"after each of [2-9]"))).to_be_visible()
    best.get_by_role("button", name="Show the evidence").click()
    expect(page.get_by_role("dialog", name="Evidence").locator("mark")).to_be_in_viewport()
    visitor.check_access()
    # A reading that is on its way ends before the page does.
    page.unroute_all(behavior="wait")


def _check_screen(visitor: Visit, image: str = "") -> None:
    visitor.check_access()
    visitor.check_width()
    if IMAGES and image:
        visitor.page.screenshot(path=Path(IMAGES) / f"{image}.png")
