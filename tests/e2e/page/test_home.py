"""Home without any data: one click leads to a session on the table that Labcrew ships."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from .conftest import PHONE, Visit


def test_who_has_no_table_starts_with_one_click(visit: Callable[..., Visit]) -> None:
    visitor = visit(size=PHONE, theme="dark")
    page = visitor.page
    visitor.open("/")
    expect(page.get_by_role("heading", name="No table at hand?")).to_be_visible()
    visitor.check_access()
    visitor.check_width()
    page.get_by_role("button", name="Try the example").click()
    expect(page.get_by_role("heading", name="Predict which passengers survived")).to_be_visible()
    expect(page.get_by_role("button", name="Carry it out")).to_be_visible()
    # The table is there for further goals, once.
    visitor.call("POST", "/datasets/example")
    assert [table["name"] for table in visitor.call("GET", "/datasets")["items"]] == ["titanic"]
    visitor.open("/")
    expect(page.get_by_role("button", name="titanic")).to_be_visible()
    expect(page.get_by_role("heading", name="No table at hand?")).to_have_count(0)
    _see_what_was_not_understood(visitor)


def _see_what_was_not_understood(visitor: Visit) -> None:
    """A goal that is no request is no failure: lists say so, and its session offers the same table again."""
    page = visitor.page
    table = visitor.call("GET", "/datasets")["items"][0]["id"]
    body = {"goal": "asdf qwer", "dataset_ids": [table], "preferences": {"clarify": "never"}}
    visitor.call("POST", "/lab/agent/sessions", data=body)
    recent = page.get_by_role("list", name="Recent sessions")
    expect(recent.get_by_text("not understood")).to_be_visible()
    hit = visitor.call("GET", "/search?q=asdf")["items"][0]
    assert hit["detail"] == "not_understood"
    recent.get_by_role("link", name="asdf qwer").click()
    expect(page.get_by_text("The goal was not understood.")).to_be_visible()
    expect(page.get_by_role("heading", name="Say it in other words")).to_be_visible()
    expect(page.get_by_role("textbox", name="What do you want to know or predict?")).to_have_value("asdf qwer")
    visitor.check_access()
    visitor.check_width()
    page.get_by_role("button", name="Mean age by class").click()
    page.get_by_label("Show me the plan first").uncheck()
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_role("heading", name="Mean age by class")).to_be_visible()
    page.get_by_role("link", name="Read the report").click()
    expect(page.get_by_role("columnheader", name="class")).to_be_visible()
    visitor.open("/sessions")
    page.get_by_label("Show").select_option(value="failed")
    expect(page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(1)


@pytest.mark.parametrize(("path", "title"), [("/", "What shall"), ("/chat", "Ask your tables")])
def test_a_screen_shows_its_frame_before_the_account_is_known(
    visit: Callable[..., Visit], path: str, title: str
) -> None:
    visitor = visit()
    page = visitor.page
    held: list[Route] = []
    page.route("**/api/v1/auth/me", lambda route: held.append(route))
    visitor.open(path)
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Chat")).to_be_visible()
    visitor.check_access()
    held[0].continue_()
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_contain_text(visitor.account)


def test_a_column_of_dates_stands_there_with_its_rows_over_time(visit: Callable[..., Visit]) -> None:
    visitor = visit(size=PHONE)
    page = visitor.page
    visitor.open("/")
    rows = [f"2024-{month:02}-01,{'Y' if month % 3 else 'N'}" for month in range(1, 13) for _ in range(month)]
    table = "day,open\n" + "\n".join(rows)
    page.get_by_label("Data file").set_input_files(
        {"name": "days.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    columns = page.get_by_role("list", name="Columns")
    expect(columns.get_by_role("img", name="Rows over time, 2024-01-01 to 2024-12-01")).to_be_visible()
    visitor.check_access()
    visitor.check_width()


def test_a_session_is_begun_by_keyboard_and_the_focus_is_never_lost(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.page
    visitor.call("POST", "/datasets/example")
    visitor.open("/")
    page.get_by_role("button", name="titanic").press("Enter")
    expect(page.get_by_role("textbox", name="What do you want to know or predict?")).to_be_focused()
    page.keyboard.type("Mean age by class")
    page.get_by_role("button", name="Go", exact=True).press("Enter")
    page.get_by_role("button", name="Carry it out").press("Enter")
    expect(page.get_by_role("heading", name="Mean age by class")).to_be_focused()
    page.get_by_role("link", name="Read the report").press("Enter")
    expect(page.get_by_role("link", name="Back to the session")).to_be_visible()


def test_an_address_that_signs_in_works_in_a_tab_that_asks_for_a_password(visit: Callable[..., Visit]) -> None:
    visitor = visit(signed_in=False)
    visitor.ignored.append("the server responded with a status of 422")
    visitor.open("/sign-in")
    expect(visitor.page.get_by_role("button", name="Sign in")).to_be_visible()
    # Only the part behind # changes, so nothing is loaded; a code of nobody shows that it is read.
    visitor.open("/sign-in#no-such-code")
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    assert visitor.page.evaluate("location.hash") == ""
