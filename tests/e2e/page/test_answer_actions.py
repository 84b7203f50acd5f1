"""What can be done with an answer of a conversation, and with the tables of a new session."""

from typing import Any

from playwright.sync_api import expect

from .conftest import PHONE

INVOICES = b"day,Paid?,Amount ($)\n" + b"".join(
    b"2024-%02d-%02d,%s,%d.5\n" % (1 + n % 12, 1 + n % 28, b"no" if n % 3 else b"yes", n * 7 % 30)
    for n in range(200)
)


def _upload(visitor: Any, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    visitor.call("POST", "/datasets", multipart={"file": file})


def test_an_answer_is_copied_and_asked_again_in_a_branch(visit: Any) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _upload(visitor, "invoices.csv", INVOICES)
    visitor.open("/chat")
    page.get_by_role("button", name="Mean Amount ($) by Paid?").click()
    expect(page.get_by_role("cell", name="yes", exact=True)).to_be_visible()
    page.get_by_role("button", name="Copy the answer").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert "mean" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**branch=*")
    # The former answer is one step away.
    expect(page.get_by_role("navigation", name="Wordings of this message")).to_contain_text("2/2")
    expect(page.get_by_role("cell", name="yes", exact=True)).to_be_visible()
    visitor.check_access()
    visitor.check_width()


def test_a_session_begins_with_several_tables(visit: Any) -> None:
    visitor = visit(PHONE, "dark")
    page = visitor.page
    _upload(visitor, "customers.csv", b"customer,city\n1,Kiel\n2,Bari\n")
    visitor.open("/")
    files = [
        {"name": "invoices.csv", "mimeType": "text/csv", "buffer": INVOICES},
        {"name": "orders.csv", "mimeType": "text/csv", "buffer": b"customer,sum\n1,2\n2,3\n"},
    ]
    page.get_by_label("Data file").set_input_files(files)
    data = page.get_by_role("group", name="Data")
    expect(data.get_by_role("link")).to_have_text(["invoices", "orders"])
    data.get_by_role("button", name="More tables").click()
    page.get_by_role("checkbox", name="customers").check()
    page.keyboard.press("Escape")
    expect(data.get_by_role("link")).to_have_text(["invoices", "orders", "customers"])
    data.get_by_role("button", name="Leave out orders").press("Enter")
    expect(data.locator(":focus")).to_have_count(1)
    visitor.check_access()
    visitor.check_width()
    page.get_by_label("What do you want to know or predict?").fill("How many customers live in each city?")
    page.get_by_label("Show me the plan first").uncheck()
    page.get_by_role("button", name="Go", exact=True).click()
    page.wait_for_url("**/sessions/*")
    [session] = visitor.call("GET", "/lab/agent/sessions")["items"]
    names = [visitor.call("GET", f"/datasets/{each}")["name"] for each in _datasets(visitor, session["id"])]
    assert names == ["invoices", "customers"]


def test_a_file_that_is_here_already_is_told_and_the_former_table_taken(visit: Any) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    _upload(visitor, "invoices.csv", INVOICES)
    visitor.open("/")
    expect(page.get_by_role("button", name="invoices", exact=True)).to_be_visible()
    file = {"name": "again.csv", "mimeType": "text/csv", "buffer": INVOICES}
    page.get_by_label("Data file").set_input_files(file)
    data = page.get_by_role("group", name="Data")
    expect(data).to_contain_text("The same file is here already: invoices")
    visitor.check_access()
    visitor.check_width()
    data.get_by_role("button", name="Use that, and delete this copy").click()
    expect(data.get_by_role("link", name="again")).to_have_count(0)
    expect(data.get_by_role("link", name="invoices")).to_be_visible()
    assert [each["name"] for each in visitor.call("GET", "/datasets")["items"]] == ["invoices"]
    _upload(visitor, "twice.csv", INVOICES)
    visitor.open("/data")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="twice"))
    expect(row).to_contain_text("the same file as invoices")
    visitor.check_access()
    visitor.check_width()


def _datasets(visitor: Any, session: str) -> list[str]:
    return list(visitor.call("GET", f"/lab/agent/sessions/{session}")["dataset_ids"])


def test_tables_are_sorted_by_a_head(visit: Any) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    for name, rows in (("berths", 3), ("Anchors", 9), ("chains", 6)):
        _upload(visitor, f"{name}.csv", b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(rows)))
    visitor.open("/data")
    names = page.get_by_role("table").get_by_role("link")
    expect(names).to_have_text(["chains", "Anchors", "berths"])
    page.get_by_role("button", name="Name").press("Enter")
    expect(names).to_have_text(["Anchors", "berths", "chains"])
    page.get_by_role("button", name="Rows").click()
    expect(names).to_have_text(["berths", "chains", "Anchors"])
    page.get_by_role("button", name="Rows").click()
    expect(names).to_have_text(["Anchors", "chains", "berths"])
    expect(page.get_by_role("columnheader", name="Rows")).to_have_attribute("aria-sort", "descending")
    visitor.check_access()
    visitor.check_width()
