"""A large file, whose upload outlives the API: it goes on where it was, by itself."""

import os
import re
import signal
from pathlib import Path
from typing import Any

from playwright.sync_api import Route, expect

ROWS = 900_000
"""12 MB of CSV: two pieces."""
PIECE = 8 << 20
LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
SLOW_BYTES_S = 20_000
"""Of the second piece: it has not arrived when the API is killed, however late the test sees its progress."""


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
    second = re.compile(rf"/uploads/.*offset={PIECE}$")
    page.on(
        "request", lambda request: sent.extend(map(int, re.findall(r"/uploads/.*offset=(\d+)", request.url)))
    )
    visitor.open("/data")
    line = visitor.context.new_cdp_session(page)
    line.send("Network.enable")

    def slow_down(route: Route) -> None:
        line.send("Network.emulateNetworkConditions", {**LINE, "uploadThroughput": SLOW_BYTES_S})
        route.continue_()

    page.route(second, slow_down, times=1)
    with page.expect_request(second):
        page.get_by_label("Upload a table").set_input_files(table)
    expect(page.get_by_text(re.compile(r"Uploading, [6789]\d %"))).to_be_visible()
    os.kill(studio.pid_of("api"), signal.SIGKILL)
    line.send("Network.emulateNetworkConditions", LINE)
    expect(page.get_by_role("heading", name="visits", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{ROWS:,} rows").first).to_be_visible()
    # The first piece was sent once. Where nothing of the second one was stored before the kill, the browser's
    # own second try sends it, of which Playwright tells no request; else the page goes on at what was stored.
    assert sent[:2] == [0, PIECE]
    assert all(offset >= PIECE for offset in sent[2:])


def test_a_file_that_cannot_be_read_is_named_beside_its_place(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    visitor.ignored += ["422"]
    visitor.open("/")
    head = b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml"
    broken = {"name": "sales.xlsx", "mimeType": "application/zip", "buffer": head}
    page.get_by_label("Data file").set_input_files(broken)
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("sales.xlsx: The Excel file is cut short")
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
