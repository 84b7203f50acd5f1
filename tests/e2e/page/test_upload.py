"""A large file, whose upload outlives the API: it goes on where it was, by itself."""

import os
import re
import signal
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

ROWS = 900_000
"""12 MB of CSV: two pieces."""
PIECE = 8 << 20
SLOW_LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_000_000}
"""Bytes a second: six seconds for the file, so that the API dies in the middle of the second piece."""


def test_an_upload_goes_on_after_the_api_was_killed(studio: Any, visit: Any, tmp_path: Path) -> None:
    table = tmp_path / "visits.csv"
    table.write_text("visit,page\n" + "".join(f"{n},page{n % 97}\n" for n in range(ROWS)))
    visitor = visit()
    page = visitor.page
    # The browser itself sends a cut request again, at the place that has moved on: 409 says where it is.
    visitor.ignored += [
        "409 (Conflict)",
        "ERR_CONNECTION_REFUSED",
        "ERR_CONNECTION_RESET",
        "ERR_EMPTY_RESPONSE",
        "WebSocket",
    ]
    sent: list[int] = []
    page.on(
        "request", lambda request: sent.extend(map(int, re.findall(r"/uploads/.*offset=(\d+)", request.url)))
    )
    visitor.open("/data")
    line = visitor.context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", SLOW_LINE)
    page.get_by_label("Upload a table").set_input_files(table)
    expect(page.get_by_text(re.compile(r"Uploading, [789]\d %"))).to_be_visible()
    os.kill(studio.pid_of("api"), signal.SIGKILL)
    expect(page.get_by_role("heading", name="visits", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{ROWS:,} rows").first).to_be_visible()
    # The first piece was sent once. Of the second one, what had arrived was not sent again.
    assert sent[:2] == [0, PIECE]
    assert len(sent) > 2
    assert min(sent[2:]) >= PIECE


def test_a_file_that_cannot_be_read_is_named_beside_its_place(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.ignored += ["422"]
    visitor.open("/")
    head = b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml"
    broken = {"name": "sales.xlsx", "mimeType": "application/zip", "buffer": head}
    page.get_by_label("Data file").set_input_files(broken)
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("sales.xlsx: The Excel file is damaged")
    goal = page.get_by_label("What do you want to know or predict?")
    assert problem.bounding_box()["y"] < goal.bounding_box()["y"]
    visitor.check_access()
    table = {"name": "sales.csv", "mimeType": "text/csv", "buffer": b"day,sales\n1,2\n2,3\n"}
    page.get_by_label("Data file").set_input_files(table)
    expect(page.get_by_role("link", name="sales", exact=True)).to_be_visible()
    expect(problem).to_have_count(0)


def test_signing_out_in_one_tab_signs_the_others_out(visit: Any) -> None:
    visitor = visit()
    first, second = visitor.page, visitor.context.new_page()
    visitor.ignored += ["401", "WebSocket"]
    visitor.open("/data")
    second.goto(f"{visitor.address}/account")
    expect(second.get_by_role("heading", name="Usage")).to_be_visible()
    first.get_by_role("button", name="Sign out").click()
    expect(first.get_by_role("button", name="Sign in")).to_be_visible()
    expect(second.get_by_role("button", name="Sign in")).to_be_visible()
    expect(second.get_by_role("heading", name="Usage")).to_have_count(0)
