"""Markup that users, tables and programs write is text on every screen, and a signed-out page shows nothing."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Visit

SCRIPT = "<img src=x onerror=window.ran=1><script>window.ran=1</script><svg onload=window.ran=1>"
"""Would run, or ask another address, wherever text became markup."""
ELSEWHERE = "https://elsewhere.example/secret.png"
MARKDOWN = f"![picture]({ELSEWHERE}) [here](javascript:window.ran=1) {SCRIPT} **bold** | # title"
FILE = f"{SCRIPT.replace('/', '')}.csv"
TABLE = f'"{SCRIPT}",value\n"{SCRIPT}",1\n"{MARKDOWN}",2\n"{SCRIPT}",3\n'


@pytest.fixture
def author(visit: Any) -> Visit:
    return visit()  # type: ignore[no-any-return]  # a fixture's function has no type


TURNED = "annual\u202egpj"
"""Reads as `annualjpg` where its control character is carried out."""
KINDS = "kind,value\n" + f'"{SCRIPT}",1\n"{ELSEWHERE}",2\n' * 4
DRAWING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=1"><script>window.ran=1</script>{SCRIPT}</svg>'
)


def _upload(visitor: Visit) -> str:
    file = {"name": FILE, "mimeType": "text/csv", "buffer": TABLE.encode()}
    return str(visitor.call("POST", "/datasets", multipart={"file": file})["id"])


def _say(visitor: Visit, message: str, dataset: str, thread: str | None = None) -> str:
    body = {"message": message, "dataset_ids": [dataset], **({"thread_id": thread} if thread else {})}
    return str(visitor.call("POST", "/chat", data=body)["thread_id"])


def _start(visitor: Visit, dataset: str) -> str:
    body = {
        "goal": f"Count the rows. {MARKDOWN}",
        "dataset_ids": [dataset],
        "preferences": {"clarify": "never"},
    }
    return str(visitor.call("POST", "/lab/agent/sessions", data=body)["id"])


def check_nothing_ran(visitor: Visit) -> None:
    page = visitor.page
    assert page.evaluate("window.ran") is None
    assert page.locator("main img:not([src^='/']), main script, main svg[onload]").count() == 0
    visitor.check_rules()


def test_nothing_that_was_written_runs_or_leaves(author: Visit, visit: Any) -> None:
    dataset = _upload(author)
    session = _start(author, dataset)
    thread = _say(author, MARKDOWN, dataset)
    _say(author, f"PYTHON: print({MARKDOWN!r})", dataset, thread)
    _say(author, f"PYTHON: raise ValueError({MARKDOWN!r})", dataset, thread)
    _say(author, f"SQL: select '{MARKDOWN}' as \"{SCRIPT}\"", dataset, thread)

    page = author.page
    places = {
        "/": "Count the rows.",
        "/data": "window.ran",
        f"/data/{dataset}": "window.ran",
        "/sessions": "Count the rows.",
        f"/sessions/{session}": "Count the rows.",
        f"/chat/{thread}": "ValueError",
    }
    for path, text in places.items():
        author.open(path)
        expect(page.get_by_role("main")).to_contain_text(text)
        check_nothing_ran(author)
    expect(page.get_by_role("columnheader")).to_have_text(SCRIPT)
    page.get_by_role("tab", name="Evidence").last.click()
    page.get_by_role("tabpanel").last.get_by_role("button").last.click()
    expect(page.get_by_role("dialog")).to_contain_text("onerror")
    check_nothing_ran(author)

    _check_files(author)
    author.open(f"/chat/{thread}")
    _check_signed_out(
        author, visit(signed_in=False), [f"/sessions/{session}", f"/chat/{thread}", f"/data/{dataset}"]
    )


def _check_files(author: Visit) -> None:
    """Open the report, a chart of hostile names and a drawing of a program by their addresses."""
    page = author.page
    file = {"name": "kinds.csv", "mimeType": "text/csv", "buffer": KINDS.encode()}
    dataset = author.call("POST", "/datasets", multipart={"file": file})["id"]
    body = {"goal": "Mean value by kind", "dataset_ids": [dataset], "preferences": {"clarify": "never"}}
    session = author.call("POST", "/lab/agent/sessions", data=body)["id"]
    author.open(f"/sessions/{session}")
    page.get_by_role("link", name="Read the report").click()
    expect(page.get_by_role("article")).to_contain_text("onerror")
    check_nothing_ran(author)

    thread = _say(author, "Mean value by kind", dataset)
    _say(author, "as a bar chart", dataset, thread)
    _say(author, f"SQL: select '{TURNED}' as name", dataset, thread)
    _say(author, f"PYTHON: open('drawing.svg', 'w').write({DRAWING!r})", dataset, thread)
    author.open(f"/chat/{thread}")
    expect(page.get_by_role("img", name="Mean value by kind")).to_contain_text("onerror")
    expect(page.get_by_role("cell").last).to_have_text("annual[U+202E]gpj")
    check_nothing_ran(author)

    # The browser says that it did not run them.
    author.ignored += ["sandboxed", "Content Security Policy"]
    artifacts = author.call("GET", "/artifacts?limit=100")["items"]
    by_name = {artifact["name"]: artifact["id"] for artifact in artifacts}
    charts = [artifact["id"] for artifact in artifacts if artifact["kind"] == "chart"]
    assert charts
    addresses = [f"/api/v1/charts/{charts[0]}/svg"]
    addresses += [f"/api/v1/artifacts/{by_name[name]}" for name in ("report.html", "drawing.svg")]
    for address in addresses:
        author.open(address)
        assert page.evaluate("window.ran") is None
    author.check_rules()


def _check_signed_out(author: Visit, stranger: Visit, paths: list[str]) -> None:
    stranger.ignored.append("401")
    for path in paths:
        stranger.open(path)
        expect(stranger.page.get_by_role("heading", name="Sign in to Labcrew")).to_be_visible()
        assert "Count the rows" not in stranger.page.content()

    author.ignored.append("401")
    other_tab = author.context.new_page()
    other_tab.goto(f"{author.address}/sessions")
    expect(other_tab.get_by_text("Count the rows.").first).to_be_visible()
    author.page.keyboard.press("Escape")
    author.page.get_by_role("button", name="Sign out").click()
    for page in (author.page, other_tab):
        expect(page.get_by_role("heading", name="Sign in to Labcrew")).to_be_visible()
        assert json.dumps(page.evaluate("Object.entries(sessionStorage)")).find("Count") < 0
