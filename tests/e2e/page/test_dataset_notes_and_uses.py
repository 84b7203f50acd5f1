"""The note on a dataset, what uses it, and what its deletion takes along, on its page."""

from typing import Any

from playwright.sync_api import expect

from .conftest import PHONE, Visit

TOWNS = {"name": "towns.csv", "mimeType": "text/csv", "buffer": b"town,people\nUlm,126\nBonn,330\n"}


def add_towns(visitor: Visit) -> str:
    return str(visitor.call("POST", "/datasets", multipart={"file": TOWNS})["id"])


def test_a_note_is_written_read_as_plain_text_and_removed(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    dataset = add_towns(visitor)
    visitor.open(f"/data/{dataset}")
    page.get_by_role("button", name="Write a note").click()
    editor = page.get_by_role("textbox", name="Note")
    expect(editor).to_be_focused()
    page.keyboard.insert_text("x" * 2001)
    expect(page.get_by_text("Too long by 1")).to_be_visible()
    expect(page.get_by_role("button", name="Save the note")).to_be_disabled()
    editor.fill("Ask <b>Kim</b>.\n<img src=x onerror=alert(1)>")
    expect(page.get_by_role("gridcell", name="Ulm")).to_be_visible()
    visitor.check_access()
    page.get_by_role("button", name="Save the note").click()
    note = page.get_by_role("region", name="Note")
    expect(note).to_contain_text("Ask <b>Kim</b>.\n<img src=x onerror=alert(1)>")
    expect(note.locator("b, img")).to_have_count(0)
    page.reload()
    expect(note).to_contain_text("Ask <b>Kim</b>.")
    page.get_by_role("button", name="Edit the note").click()
    visitor.call("PATCH", f"/datasets/{dataset}", data={"note": "Of Lee"})
    editor.fill("Something else")
    visitor.ignored.append("409")
    page.get_by_role("button", name="Save the note").click()
    expect(note.get_by_role("alert")).to_contain_text("Of Lee")
    visitor.check_access()
    page.get_by_role("button", name="Save the note").click()
    expect(note).to_contain_text("Something else")
    page.get_by_role("button", name="Edit the note").click()
    editor.fill("Not this")
    page.get_by_role("button", name="Cancel").click()
    expect(note).to_contain_text("Something else")
    page.get_by_role("button", name="Edit the note").click()
    editor.fill("")
    page.get_by_role("button", name="Save the note").click()
    expect(page.get_by_role("button", name="Write a note")).to_be_visible()


def test_uses_are_listed_and_named_again_before_the_table_is_deleted(visit: Any) -> None:
    visitor: Visit = visit(size=PHONE, theme="dark")
    page = visitor.page
    dataset = add_towns(visitor)
    nodes = [{"id": "read", "type": "read_dataset", "config": {"dataset_id": dataset}}]
    visitor.call("POST", "/workflows", data={"name": "nightly", "nodes": nodes})
    query = {"language": "sql", "code": "select max(people) from towns", "dataset_ids": [dataset]}
    visitor.call("POST", "/runs?wait=60", data=query)
    visitor.open(f"/data/{dataset}")
    uses = page.get_by_role("list", name="Uses")
    expect(uses.get_by_role("listitem")).to_have_count(2)
    expect(uses.get_by_role("listitem").filter(has_text="select max(people) from towns")).to_contain_text("run")
    expect(uses.get_by_role("link", name="nightly")).to_be_visible()
    visitor.check_width()
    page.get_by_role("button", name="Delete the table").click()
    dialog = page.get_by_role("dialog", name="Delete towns")
    expect(dialog.get_by_role("listitem").filter(has_text="nightly")).to_contain_text("stays")
    expect(dialog.get_by_role("listitem").filter(has_text="select max")).to_contain_text("made of it")
    visitor.check_access()
    visitor.check_width()
    dialog.get_by_role("button", name="Delete it and what was made of it").click()
    page.wait_for_url("**/data")
    expect(page.get_by_text("No table yet.")).to_be_visible()
    assert visitor.call("GET", "/runs")["total"] == 0
    assert [one["name"] for one in visitor.call("GET", "/workflows")["items"]] == ["nightly"]


def test_a_table_that_nothing_uses_is_deleted_with_a_word_of_that(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    visitor.open(f"/data/{add_towns(visitor)}")
    page.get_by_role("button", name="Delete the table").click()
    dialog = page.get_by_role("dialog", name="Delete towns")
    expect(dialog).to_contain_text("Nothing uses it")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Delete the table").click()
    dialog.get_by_role("button", name="Delete the table", exact=True).click()
    page.wait_for_url("**/data")
    expect(page.get_by_text("No table yet.")).to_be_visible()
