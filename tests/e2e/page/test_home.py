"""Home without any data: one click leads to a session on the table that Labcrew ships."""

from collections.abc import Callable

from playwright.sync_api import expect

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
