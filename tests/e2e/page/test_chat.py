"""Conversations in the page: questions, tables, the SQL and the calls behind them, and stopping."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from .conftest import OWN_PAGE, PHONE


def _say(page: Page, message: str) -> None:
    page.get_by_label("Message").fill(message)
    page.keyboard.press("Enter")


def test_an_answer_shows_its_table_its_sql_and_the_call_behind_it(visit: Any, titanic: Path) -> None:
    visitor = visit(PHONE, "dark")
    page = visitor.page
    visitor.open("/chat")
    page.get_by_role("button", name="Add a table").click()
    page.get_by_label("Upload a file").set_input_files(titanic)
    expect(page.get_by_role("checkbox", name="titanic_all")).to_be_checked()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Mean age by class").click()
    expect(page.get_by_role("cell", name="39.6678")).to_be_visible()
    expect(page.get_by_text("based on 756 of 1,313 rows", exact=True)).to_be_visible()
    page.get_by_role("tab", name="SQL").press("Enter")
    expect(page.get_by_text("GROUP BY")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Runs a query").click()
    drawer = page.get_by_role("dialog", name="Evidence")
    expect(drawer.get_by_text("39.66778761061947")).to_be_visible()
    visitor.check_access()
    page.keyboard.press("Escape")

    page.get_by_role("tab", name="Table").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    assert Path(saved.value.path()).read_text().splitlines()[0] == "class,mean age"
    page.get_by_role("group", name="Say next").get_by_role("button", name="as a bar chart").click()
    chart = page.get_by_role("img", name="Mean age by class")
    expect(chart).to_be_visible()
    bars = chart.locator("path[aria-roledescription='bar']")
    expect(bars).to_have_count(3)
    bars.first.hover()
    expect(chart.locator("dd").first).to_be_visible()
    visitor.check_access()

    page.evaluate("window.scrollTo(0, 0)")
    _say(page, "What is the weather like?")
    offered = page.get_by_role("group", name="Say next")
    expect(offered.get_by_role("button", name="the number of rows", exact=True)).to_be_in_viewport()
    offered.get_by_role("button", name="the number of rows", exact=True).click()
    expect(page.get_by_text("1,313", exact=False).last).to_be_in_viewport()
    visitor.check_access()

    _say(page, "SQL: select name, age from titanic_all")
    expect(page.get_by_text("1,313 rows, the first")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").last.click()
    assert len(Path(saved.value.path()).read_text().splitlines()) == 1314
    page.get_by_role("button", name="Sort and filter").last.click()
    rows = page.get_by_role("region", name="Rows")
    expect(rows.get_by_role("status")).to_have_text("1,313 rows")
    visitor.check_access()
    rows.get_by_role("button", name="Only rows with this").click()
    expect(rows.get_by_role("status")).to_have_text("1 of 1,313 rows")
    # The address is that of the conversation, which has other tables too.
    assert "filter" not in page.url
    page.get_by_role("button", name="As it was answered").click()
    expect(page.get_by_text("1,313 rows, the first")).to_be_visible()

    _say(page, "PYTHON: while True: pass")
    # No agent reads what is run as it stands, before and after the page is loaded anew.
    running = page.get_by_role("status").filter(has_text="Running it")
    expect(running).to_be_visible()
    page.reload()
    expect(running).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    _say(page, "SQL: select nothing from titanic_all")
    expect(page.get_by_text("It failed.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("It failed.")).to_be_visible()
    visitor.check_access()
    visitor.check_width()

    # Signed out elsewhere: what was written stays, beside the way back in.
    visitor.ignored += ["401"]
    assert visitor.context.request.delete(f"{visitor.address}/api/v1/auth/session", headers=OWN_PAGE).ok
    _say(page, "how many rows?")
    expect(page.get_by_role("link", name="Sign in again in a new tab")).to_be_visible()
    expect(page.get_by_label("Message")).to_have_value("how many rows?")
    visitor.check_access()


def test_a_table_is_copied_and_saved_with_whole_cells(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open("/chat")
    _say(page, "SQL: select '=1+1' as formula, 9007199254740993 as count, repeat('word', 1000) as words")
    expect(page.get_by_text("1 row", exact=True)).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    words = "word" * 1000
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines == ["formula,count,words", f"'=1+1,9007199254740993,{words}"]
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == ["formula\tcount\twords", f"'=1+1\t9007199254740993\t{words}"]
