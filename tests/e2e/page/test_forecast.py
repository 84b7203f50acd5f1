"""A forecast in the page: its picture, and all of its rows as a file."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from tests.fast_families import FAST_FAMILIES

from .conftest import DESKTOP, PHONE


def test_a_forecast_is_seen_and_saved(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    days = [date(2025, 1, 1) + timedelta(days=day) for day in range(200)]
    rows = [f"{day},{100 + day.weekday() * 10 + place % 5}" for place, day in enumerate(days)]
    table = "\n".join(["day,visitors", *rows, ""]).encode()
    file = {"name": "museum.csv", "mimeType": "text/csv", "buffer": table}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    preferences = {"clarify": "never", "deterministic": True, "time_budget_s": 5, **FAST_FAMILIES}
    body = {
        "goal": "Forecast visitors for the next 14 days",
        "dataset_ids": [dataset],
        "preferences": preferences,
    }
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]

    visitor.open(f"/sessions/{session}")
    answer = page.get_by_role("region", name="Answer")
    expect(answer.get_by_role("img", name="Known values and forecasts")).to_be_visible()
    # On a phone it keeps the size in which its words are read, and scrolls in its own box.
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    box = answer.get_by_role("img", name="Known values and forecasts").bounding_box()
    assert box is not None
    assert box["width"] > PHONE[0]
    visitor.check_width()
    visitor.check_access()
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    visitor.check_access()
    tabs = answer.get_by_role("tablist", name="Parts of the answer")
    expect(tabs.get_by_role("tab")).to_have_text(["Chart", "Table", "Evidence"])
    tabs.get_by_role("tab", name="Table").click()
    expect(answer.get_by_role("table", name="Table").get_by_role("row")).to_have_count(15)
    visitor.check_access()
    with page.expect_download() as saved:
        answer.get_by_role("link", name="CSV").click()
    assert len(Path(saved.value.path()).read_text().splitlines()) == 15

    tabs.get_by_role("tab", name="Evidence").click()
    answer.get_by_role("button", name="Forecasts", exact=True).click()
    # In words above, by its name in the record.
    drawer = page.get_by_role("dialog", name="Evidence")
    expect(drawer.get_by_text("forecast_future", exact=True)).to_be_visible()
    page.keyboard.press("Escape")

    visitor.open(f"/sessions/{session}/report")
    expect(page.get_by_role("heading", name="Forecasting visitors")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="forecasts.csv").first.click()
    assert len(Path(saved.value.path()).read_text().splitlines()) == 15
    visitor.check_access()
