"""The page's view of a table of 5 million rows in a real browser: frames of a scroll, jumps, sorts, a search.

    python -m benchmarks.page.table --address http://127.0.0.1:8000/sign-in#CODE [--rows 5000000]

The address is one that `labcrew sign-in` prints. The table is made, uploaded through the page and left there.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import duckdb
from playwright.sync_api import Locator, Page, sync_playwright
from tests.chromium import find_chromium

ROWS_SQL = """
SELECT i AS id, TIMESTAMP '2026-01-01' + to_seconds(i * 6) AS time, round(exp(random() * 5), 1) AS amount,
  CASE WHEN random() < 0.004 THEN NULL ELSE random() * 100 END AS score, 'region ' || (i * 7) % 5 AS region,
  'C-' || lpad(((random() * 200000)::int)::varchar, 6, '0') AS customer, (random() * 40)::int AS items,
  random() < 0.3 AS returned, (random() * 1000)::int / 10 AS discount, 'channel ' || i % 3 AS channel,
  (random() * 1e9)::bigint AS code, 'order note ' || (random() * 1000)::int AS note
FROM range({rows}) r(i)
"""
OBSERVE_FRAMES = """() => {
  globalThis.frames_ms = [];
  let last = performance.now();
  const next = (now) => { frames_ms.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
WHEEL_TURNS = 120
"""Turns of the wheel in a measured scroll."""
GUARD_MS = 600_000
"""Far beyond any step: the conversion of 5 million rows takes 20 s, a sort 3 s."""


def main() -> None:
    """Print one line for each thing that somebody does with the table."""
    parser = argparse.ArgumentParser(description="Measure the page's view of a large table.")
    parser.add_argument(
        "--address", required=True, help="address that signs in, as `labcrew sign-in` prints it"
    )
    parser.add_argument("--rows", type=int, default=5_000_000)
    options = parser.parse_args()
    chromium = find_chromium()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "large.parquet"
        with duckdb.connect() as database:
            database.execute(f"COPY ({ROWS_SQL.format(rows=options.rows)}) TO '{file}' (COMPRESSION zstd)")
        browser = playwright.chromium.launch(
            executable_path=chromium.program, env=dict(chromium.environment), args=list(chromium.switches)
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(GUARD_MS)
        open_table(page, options.address, file)
        measure(page, options.rows)
        browser.close()


def open_table(page: Page, address: str, file: Path) -> None:
    """Sign in, upload the table, and wait for its first rows."""
    page.goto(address)
    page.get_by_role("navigation", name="Main").wait_for()
    page.goto("{0.scheme}://{0.netloc}/data".format(urlsplit(address)))
    page.locator("input[type=file]").set_input_files(file)
    find_grid(page).get_by_role("gridcell").first.wait_for()
    find_grid(page).scroll_into_view_if_needed()


def measure(page: Page, rows: int) -> None:
    """Do with the table what somebody does who looks for a row."""
    frames = measure_frames(page)
    print(f"scroll: median frame {median(frames):.0f} ms, worst of {len(frames)} {max(frames):.0f} ms")
    places = [rows, rows // 2, rows // 3, 1, rows * 4 // 5]
    print_times("jumps in file order", [lambda row=row: jump(page, row) for row in places])
    print_times("first sort", [lambda: sort(page, "amount")])
    print_times("jumps in a sorted table", [lambda row=row: jump(page, row) for row in places])
    print_times("further sorts", [lambda name=name: sort(page, name) for name in ("time", "customer", "items")])
    print_times("search", [lambda: search(page, "C-0001")])


def measure_frames(page: Page) -> list[float]:
    """Return the milliseconds of each frame while the wheel turns."""
    find_grid(page).hover()
    page.evaluate(OBSERVE_FRAMES)
    for _ in range(WHEEL_TURNS):
        page.mouse.wheel(0, 120)
    frames: list[float] = page.evaluate("frames_ms")
    return frames


def print_times(label: str, actions: list[Callable[[], None]]) -> None:
    durations_s = []
    for act in actions:
        started = time.perf_counter()
        act()
        durations_s.append(time.perf_counter() - started)
    print(f"{label}: {', '.join(f'{1000 * duration_s:.0f}' for duration_s in durations_s)} ms")


def jump(page: Page, row: int) -> None:
    page.get_by_label("Row", exact=True).fill(str(row))
    page.get_by_label("Row", exact=True).press("Enter")
    find_grid(page).locator(f"[role=row][aria-rowindex='{row + 1}']:not(.waiting)").wait_for()


def sort(page: Page, column: str) -> None:
    with reopening(page):
        find_grid(page).get_by_role("columnheader", name=column).get_by_role("button").click()


def search(page: Page, text: str) -> None:
    page.get_by_placeholder("Search in all columns").fill(text)
    with reopening(page):
        page.get_by_role("button", name="Apply").click()


@contextmanager
def reopening(page: Page) -> Iterator[None]:
    """Wait until the grid has begun to read other rows, and until the first are there."""
    yield
    page.locator("[role=grid][aria-busy=true]").wait_for()
    page.locator("[role=grid][aria-busy=false]").wait_for()


def find_grid(page: Page) -> Locator:
    return page.get_by_role("grid", name="Rows of the table")


if __name__ == "__main__":
    main()
