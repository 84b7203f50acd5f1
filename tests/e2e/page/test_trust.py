"""The page says what a score rests on: rows left out, conditions, and openings of the hold-out."""

import random
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import expect
from tests.fast_families import FAST_FAMILIES

STORMS = 30
ROWS_PER_STORM = 12
BLANK_ROWS = 10


def _rows() -> Iterator[str]:
    """Winds of storms, each of which has a level of its own; then blank rows, and a total."""
    chance = random.Random(3)
    yield "storm,pressure,hour,wind"
    total = 0.0
    for storm in range(STORMS):
        level = chance.uniform(20, 90)
        for hour in range(ROWS_PER_STORM):
            pressure = 1000 + chance.gauss(0, 8)
            wind = level + chance.gauss(0, 2) - 0.2 * (pressure - 1000)
            total += round(wind, 2)
            yield f"storm{storm},{pressure:.1f},{hour},{wind:.2f}"
            if hour == 0 and storm < BLANK_ROWS:
                yield ",,,"
    yield f"Total,,,{total:.2f}"


def test_the_answer_says_its_rows_its_conditions_and_its_openings(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.open("/")
    table = "\n".join(_rows()).encode()
    file = {"name": "storms.csv", "mimeType": "text/csv", "buffer": table}
    page.get_by_label("Data file").set_input_files(file)
    expect(page.get_by_text(f"{BLANK_ROWS} empty", exact=False)).to_be_visible()
    expect(page.get_by_text("1 total", exact=False)).to_be_visible()
    dataset = visitor.call("GET", "/datasets")["items"][0]["id"]
    visitor.open(f"/data/{dataset}")
    notes = page.get_by_role("list", name="When the file was read")
    expect(notes.get_by_role("listitem")).to_have_count(1)
    visitor.check_access()

    quick = {"deterministic": True, "time_budget_s": 5, "model": "single", **FAST_FAMILIES}
    body = {"goal": "Predict wind", "dataset_ids": [dataset], "preferences": {"clarify": "never", **quick}}
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    visitor.open(f"/sessions/{session}")
    answer = page.get_by_role("region", name="Answer")
    condition = answer.get_by_role("list", name="Conditions of the score")
    expect(condition).to_contain_text("if the model learned from the same values of storm")
    expect(condition).to_contain_text("for new ones")
    expect(page.get_by_role("region", name="Hold-out")).to_contain_text("that nobody saw before, opened once")
    expect(page.get_by_role("list", name="Honesty")).to_contain_text("Hold-out opened once")
    visitor.check_access()

    visitor.open(f"/sessions/{session}/report")
    data = page.get_by_role("article")
    expect(data).to_contain_text("When the files were read:")
    expect(data).to_contain_text(f"{BLANK_ROWS} empty")
    expect(data).to_contain_text("No row was dropped at the split")

    visitor.open(f"/sessions/{session}")
    page.get_by_role("link", name="Predict new rows").click()
    card = page.get_by_role("region", name="Card")
    expect(card.get_by_role("list", name="Conditions of the score")).to_contain_text("for new ones")
    expect(card).to_contain_text("opened once")
    expect(card).to_contain_text(f"{BLANK_ROWS} empty")
    visitor.check_access()
    visitor.check_width()
