"""Results outside conversations have the tabs that those of conversations have."""

from typing import Any

from playwright.sync_api import expect

from .conftest import Visit

TABLE = b"port,ships\nKiel,4\nBari,7\nKiel,6\n"


def upload(visitor: Visit) -> str:
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": TABLE}
    return str(visitor.call("POST", "/datasets", multipart={"file": file})["id"])


def test_the_answer_of_a_session_has_tabs_that_arrows_move_between(visit: Any) -> None:
    visitor: Visit = visit()
    page, keys = visitor.page, visitor.page.keyboard
    body = {
        "goal": "Mean ships by port",
        "dataset_ids": [upload(visitor)],
        "preferences": {"clarify": "never"},
    }
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    visitor.open(f"/sessions/{session}")
    tabs = page.get_by_role("tablist", name="Parts of the answer")
    expect(tabs.get_by_role("tab")).to_have_text(["Table", "SQL", "Evidence"])
    expect(page.get_by_role("cell", name="Kiel", exact=True)).to_be_visible()
    # All rows, as in a conversation.
    expect(page.get_by_role("link", name="Parquet")).to_be_visible()
    tabs.get_by_role("tab", name="Table").focus()
    keys.press("ArrowRight")
    expect(tabs.get_by_role("tab", name="SQL")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="SQL")).to_contain_text("SELECT")
    keys.press("End")
    expect(tabs.get_by_role("tab", name="Evidence")).to_be_focused()
    keys.press("ArrowRight")
    expect(tabs.get_by_role("tab", name="Table")).to_have_attribute("aria-selected", "true")
    keys.press("ArrowLeft")
    page.get_by_role("tabpanel", name="Evidence").get_by_role("button", name="Answers by a query").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    visitor.check_access()
    visitor.check_rules()


def test_the_result_of_a_run_has_tabs_and_evidence(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    body = {
        "language": "python",
        "code": "print('counted')\nresult = harbours.groupby('port').sum().reset_index()",
        "dataset_ids": [upload(visitor)],
    }
    visitor.call("POST", "/runs", data=body)
    visitor.open("/runs")
    page.get_by_role("list", name="Former runs").get_by_role("button").click()
    tabs = page.get_by_role("tablist", name="Parts of the result")
    expect(tabs.get_by_role("tab")).to_have_text(["Table", "Output", "Code", "Evidence"])
    expect(page.get_by_role("tabpanel", name="Table")).to_contain_text("Bari")
    tabs.get_by_role("tab", name="Output").click()
    expect(page.get_by_role("tabpanel", name="Output")).to_contain_text("counted")
    visitor.check_access()
    tabs.get_by_role("tab", name="Evidence").click()
    page.get_by_role("tabpanel", name="Evidence").get_by_role("button", name="Runs a program").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    visitor.check_rules()
