"""The rows of a large table: 30 lines in the page, whatever the table holds."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.patience import HANG_GUARD_S

from .conftest import OWN_PAGE, PHONE, Visit

ROWS = 2_000_000
"""60 million pixels of lines, more than an element can have: a pixel of the scrollbar is six of the table."""


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("large") / "visits.parquet"
    query = (
        f"SELECT i AS visit, {ROWS} - i AS rest, TIMESTAMP '2024-01-01' + to_hours(i // 100000 * 12) AS time,"
        f" CASE WHEN i % 500000 = 7 THEN 'closed' ELSE 'open' END AS state FROM range({ROWS}) r(i)"
    )
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{file}' (PARQUET_VERSION V2, COMPRESSION zstd)")
    return file


@pytest.fixture
def open_table(visit: Callable[..., Visit], large_file: Path) -> Callable[..., Visit]:
    def open_visit(**window: Any) -> Visit:
        visitor = visit(**window)
        cookies = {cookie["name"]: cookie["value"] for cookie in visitor.context.cookies()}
        address = f"{visitor.address}/api/v1/datasets"
        query = {"filename": large_file.name}
        content = large_file.read_bytes()
        made = httpx.post(
            address, params=query, content=content, headers=OWN_PAGE, cookies=cookies, timeout=HANG_GUARD_S
        ).raise_for_status()
        visitor.open(f"/data/{made.json()['id']}")
        expect(cell(visitor.page, 1, 0)).to_have_text("0")
        return visitor

    return open_visit


def grid(page: Page) -> Locator:
    return page.get_by_role("grid", name="Rows of the table")


def cell(page: Page, row: int, column: int) -> Locator:
    """Return a cell by its row, from 1, and its column, from 0."""
    return grid(page).locator(f"[role=row][aria-rowindex='{row + 1}'] [role=gridcell]").nth(column)


def jump(page: Page, row: int) -> None:
    page.get_by_label("Row", exact=True).fill(str(row))
    page.get_by_label("Row", exact=True).press("Enter")


def _filter(page: Page, column: str, comparison: str, value: str) -> None:
    page.get_by_role("combobox", name="Column", exact=True).select_option(column)
    page.get_by_label("Comparison").select_option(comparison)
    page.get_by_role("textbox", name="Value", exact=True).fill(value)
    page.keyboard.press("Enter")


def test_every_row_of_a_large_table_is_reached(open_table: Callable[..., Visit]) -> None:
    page = open_table().page
    for row in (ROWS, 1_234_567, 1):
        jump(page, row)
        expect(cell(page, row, 0)).to_have_text(str(row - 1))
        assert grid(page).get_by_role("row").count() < 60
    # The wheel moves by its pixels there too, in the midst of the table.
    jump(page, 1_000_000)
    expect(cell(page, 1_000_000, 0)).to_be_visible()
    grid(page).hover()
    page.mouse.wheel(0, 300)
    expect(cell(page, 1_000_010, 0)).to_have_text("1000009")
    jump(page, 500_001)
    expect(cell(page, 500_001, 2)).to_have_text("2024-01-03 12:00:00")
    jump(page, 1)
    expect(cell(page, 1, 2)).to_have_text("2024-01-01")


def test_a_large_table_is_sorted_and_filtered_by_keyboard_alone(open_table: Callable[..., Visit]) -> None:
    visitor = open_table()
    page, keys = visitor.page, visitor.page.keyboard
    grid(page).focus()
    keys.press("Control+End")
    keys.press("ArrowUp")
    expect(cell(page, ROWS - 1, 1)).to_have_text("2")
    keys.press("Control+Home")
    keys.press("ArrowRight")
    keys.press("ArrowUp")
    keys.press("Enter")
    expect(grid(page).get_by_role("columnheader", name="rest")).to_have_attribute("aria-sort", "ascending")
    expect(cell(page, 1, 0)).to_have_text(str(ROWS - 1))
    keys.press("End")
    keys.press("ArrowDown")
    expect(cell(page, 1, 3)).to_have_text("open")
    expect(grid(page)).to_have_attribute("aria-activedescendant", re.compile("-0-3$"))
    active = cell(page, 1, 3).get_attribute("id")
    assert grid(page).get_attribute("aria-activedescendant") == active
    page.get_by_role("combobox", name="Column", exact=True).select_option("state")
    page.get_by_role("textbox", name="Value", exact=True).fill("closed")
    keys.press("Enter")
    expect(page.get_by_role("status").filter(has_text="4 of 2,000,000 rows")).to_be_visible()
    assert [cell(page, row, 0).inner_text() for row in (1, 2, 3, 4)] == ["1500007", "1000007", "500007", "7"]
    visitor.check_access()
    page.reload()
    expect(page.get_by_role("status").filter(has_text="4 of 2,000,000 rows")).to_be_visible()
    expect(cell(page, 1, 0)).to_have_text("1500007")
    expect(page.get_by_role("textbox", name="Value", exact=True)).to_have_value("closed")


def test_heads_show_how_the_rows_are_distributed_and_move_nothing(open_table: Callable[..., Visit]) -> None:
    visitor = open_table()
    page = visitor.page
    head = {name: grid(page).get_by_role("columnheader", name=name) for name in ("visit", "time", "state")}
    expect(head["visit"]).to_contain_text(f"0 to {ROWS - 1:,}")
    expect(head["time"]).to_contain_text("2024-01-01 to 2024-01-10")
    expect(head["state"]).to_contain_text("100 % open")
    held: list[Route] = []
    page.route("**/tables/summary", lambda route: held.append(route))
    with page.expect_request("**/tables/summary"):
        _filter(page, "visit", "<=", "9")
    expect(page.get_by_role("status").filter(has_text="10 of 2,000,000 rows")).to_be_visible()
    place = cell(page, 1, 0).bounding_box()
    held[0].continue_()
    expect(head["visit"]).to_contain_text("0 to 9")
    expect(head["state"]).to_contain_text("90 % open")
    assert cell(page, 1, 0).bounding_box() == place
    grid(page).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    expect(page.get_by_text("90 % open, 10 % closed")).to_be_visible()
    visitor.check_access()


def test_a_value_becomes_the_filter_on_a_phone_too(open_table: Callable[..., Visit]) -> None:
    visitor = open_table(size=PHONE, theme="dark")
    page = visitor.page
    jump(page, 8)
    cell(page, 8, 3).click()
    expect(page.get_by_text("Row 8, state")).to_be_visible()
    page.get_by_role("button", name="Only rows with this").click()
    expect(page.get_by_role("status").filter(has_text="4 of 2,000,000 rows")).to_be_visible()
    expect(cell(page, 2, 0)).to_have_text("500007")
    visitor.check_width()
    visitor.check_access()


_TRANSFER = """() => {
    const data = new DataTransfer();
    data.items.add(new File(['a,b\\n1,2\\n'], 'small.csv'));
    return data;
}"""
_DROP = """(element, dataTransfer) =>
    element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))"""


def test_a_file_that_is_dropped_beside_its_place_is_no_way_out_of_the_page(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.page
    visitor.open("/models")
    heading = page.get_by_role("heading", name="Models")
    # False: the browser will not open the file in place of the page, as it does where nobody takes the event.
    assert heading.evaluate(_DROP, page.evaluate_handle(_TRANSFER)) is False
    visitor.open("/data")
    page.get_by_role("heading", name="Data").evaluate(_DROP, page.evaluate_handle(_TRANSFER))
    expect(page.get_by_role("heading", name="small", exact=True)).to_be_visible()
    expect(cell(page, 1, 1)).to_have_text("2")


def test_the_rows_of_a_wide_table_are_near_its_top_on_a_phone(visit: Callable[..., Visit]) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    names = [f"column{place}" for place in range(14)]
    table = "\n".join(
        [",".join(names), *[",".join(str(row * place) for place in range(14)) for row in range(9)]]
    )
    file = {"name": "wide.csv", "mimeType": "text/csv", "buffer": table.encode()}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    visitor.open(f"/data/{dataset}")
    rows = page.get_by_role("heading", name="Rows", exact=True)
    expect(rows).to_be_visible()
    place = rows.bounding_box()
    assert place
    assert place["y"] < 2 * PHONE[1]
    expect(cell(page, 1, 0)).to_have_text("0")
    visitor.check_access()
    visitor.check_width()
