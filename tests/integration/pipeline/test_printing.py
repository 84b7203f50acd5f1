"""Reports of whole sessions: the answer first, in units, and few pages on paper."""

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.patience import HANG_GUARD_S

from app.reporting.document.inline_elements import plain_text
from app.reporting.document.json_form import load_report
from app.reporting.document.layout import lay_out

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MAX_PAGES = 6
"""Two pages for a reader, and an appendix that somebody may still carry."""


async def written(lab: Any, table: Path, goal: str, folder: Path, **preferences: Any) -> tuple[Any, Path]:
    """The report of a session as its document, and its page as a file."""
    lab.shelf.datasets.clear()
    await lab.upload(table)
    drive = lab.drive(goal, {"time_budget_s": 12, "clarify": "never", "seed": 1, **preferences})
    result = drive.spec.result(await drive.run())
    newest = {artifact.name: artifact.digest for artifact in drive.journal.artifacts}
    for name in ("report.html", "report.json"):
        (folder / name).write_bytes(b"".join([piece async for piece in lab.blobs.open(newest[name])]))
    report = load_report(json.loads((folder / "report.json").read_text()))
    sentence = plain_text(report.blocks[1].text)
    # Results begin their sentences with a capital letter, reports with the name of a column as it is.
    assert sentence.casefold() == result["headline"].casefold() == result["conclusion"]["text"].casefold()
    assert all(lay_out(block).elements for block in report.blocks)
    return report, folder / "report.html"


def count_pages(page: Path) -> int:
    if BROWSER is None:
        pytest.skip("No Chromium is installed, which prints the page; the rest of the test passed.")
    pdf = page.with_suffix(".pdf")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    subprocess.run(
        [*command, f"--user-data-dir={page.parent / 'browser'}", f"--print-to-pdf={pdf}", page.as_uri()],
        check=True,
        capture_output=True,
        timeout=HANG_GUARD_S,
    )
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


async def test_the_demo_counts_hits_in_a_hundred(lab, tmp_path):
    report, page = await written(lab, DATA / "titanic_all.csv", "Predict which passengers survived.", tmp_path)
    kinds = [block.kind for block in report.blocks]
    assert kinds[:5] == ["understanding", "answer", "drivers", "evidence", "actions"]
    assert re.match(r"Right for \d+ of 100 passengers that it names", plain_text(report.blocks[1].text))
    assert "Chat model calls" not in page.read_text()
    assert count_pages(page) <= MAX_PAGES


async def test_a_regression_is_wrong_by_so_many_dollars(lab, tmp_path):
    chance = np.random.default_rng(2)
    area = chance.normal(140, 40, 500).clip(40, 320).round()
    price = (area * 950 * np.exp(chance.normal(0, 0.12, 500))).round(-2)
    table = tmp_path / "houses.csv"
    cells = [f"${value:,.0f}" for value in price]
    pd.DataFrame({"area_m2": area, "rooms": chance.integers(1, 7, 500), "price": cells}).to_csv(
        table, index=False
    )
    report, page = await written(lab, table, "Predict the price of a house", tmp_path)
    sentence = plain_text(report.blocks[1].text)
    assert re.fullmatch(
        r"Predictions of price are typically wrong by [\d,]+ dollars \([\d.]+\s%\); "
        r"half of the houses are within [\d,]+\.",
        sentence,
    )
    assert {figure.name for figure in report.blocks[1].figures} == {
        "typical_error",
        "typical_error_percent",
        "median_error",
    }
    assert count_pages(page) <= MAX_PAGES


async def test_a_forecast_begins_with_the_next_month(lab, tmp_path):
    chance, steps = np.random.default_rng(5), np.arange(120)
    sales = 800 + 4 * steps + 120 * np.sin(2 * np.pi * steps / 12) + chance.normal(0, 35, 120)
    months = pd.date_range("2012-01-01", periods=120, freq="MS").strftime("%Y-%m")
    table = tmp_path / "shop.csv"
    pd.DataFrame({"month": months, "sales_eur": sales.round()}).to_csv(table, index=False)
    report, page = await written(lab, table, "Forecast the sales of the next 6 months", tmp_path)
    assert re.match(
        r"sales_eur in January 2022: [\d,]+ euros \([\d,]+ to [\d,]+\); in June 2022: ",
        plain_text(report.blocks[1].text),
    )
    assert len(report.blocks[1].tables[0].rows) == 6
    assert count_pages(page) <= MAX_PAGES


async def test_a_question_is_answered_by_its_figure(lab, tmp_path):
    table = tmp_path / "orders.csv"
    pd.DataFrame({"region": ["North", "South"] * 20, "revenue_eur": [10.25, 7.5] * 20}).to_csv(
        table, index=False
    )
    report, page = await written(lab, table, "What is the total revenue per region?", tmp_path)
    assert plain_text(report.blocks[1].text) == "total revenue_eur: North 205.00 euros; South 150.00 euros."
    assert [block.kind for block in report.blocks][:3] == ["understanding", "answer", "evidence"]
    assert count_pages(page) <= MAX_PAGES
