"""Going about by keys: the palette, places by letters, and the switch that turns single letters off."""

import re
from typing import Any

from playwright.sync_api import expect

from .conftest import Visit


def test_the_palette_and_letters_lead_to_places_and_to_what_is_searched(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    visitor.open("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Go to")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Home")
    visitor.check_access()
    page.keyboard.type("workfl")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Workflows")
    page.keyboard.press("Enter")
    page.wait_for_url("**/workflows")
    expect(palette).to_be_hidden()

    page.keyboard.press("Control+k")
    page.keyboard.type("harbours")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("dataset")
    page.keyboard.press("ArrowDown")  # the only one: round to itself
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/data/{dataset}")

    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("g w")
    visitor.check_access()
    keys.get_by_role("checkbox", name="Single letters are keys").uncheck()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.keyboard.press("Control+k")
    expect(palette).to_be_visible()
    assert re.search("/inbox$", page.url)
    visitor.check_rules()


def test_a_search_takes_words_in_any_order_and_is_walked_by_arrows(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    visitor.open("/search")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("whales")
    expect(page.get_by_role("status")).to_have_text("Nothing has all of these words.")
    visitor.check_access()
    page.keyboard.press("Control+a")
    page.keyboard.type("ships harb")
    hits = page.get_by_role("list", name="Hits")
    # A column made it a hit, and is named.
    expect(hits.get_by_role("listitem")).to_contain_text("dataset, harbours.csv, column: ships")
    expect(hits.get_by_role("mark")).to_have_text(["harb"])
    page.keyboard.press("ArrowDown")
    expect(hits.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/data/{dataset}")
    visitor.check_rules()


def test_a_screen_has_keys_of_its_own_and_lists_them(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rows = [b"%s,%d\n" % ((b"Kiel", b"Bari")[n % 2], n % 40) for n in range(91)]
    # Of the same content the list would name one beside the other.
    for name, size in (("moorings.csv", 90), ("harbours.csv", 91)):
        file = {"name": name, "mimeType": "text/csv", "buffer": b"port,ships\n" + b"".join(rows[:size])}
        visitor.call("POST", "/datasets", multipart={"file": file})
    visitor.open("/data")
    expect(page.get_by_role("link", name="moorings")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="moorings")).to_be_focused()
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="harbours")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="moorings")).to_be_visible()
    page.keyboard.press("y")
    expect(page.get_by_text("The address of this page is copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    # The value of the cell that is chosen becomes the filter.
    expect(page.get_by_role("button", name="Only rows with this")).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_role("status").filter(has_text="45 of 90 rows")).to_be_visible()

    visitor.open("/chat")
    page.get_by_label("Message").fill("mean ships by port")
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="Kiel", exact=True)).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("e")
    expect(page.get_by_role("tab", name="Evidence")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("On this screen")
    expect(keys).to_contain_text("Evidence")
    visitor.check_access()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Try again").click()
    wordings = page.get_by_role("navigation", name="Wordings of this message")
    expect(wordings).to_contain_text("2/2")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Alt+ArrowLeft")
    expect(wordings).to_contain_text("1/2")
    visitor.check_access()
    visitor.check_rules()


def test_digits_open_recent_sessions_and_letters_walk_through_a_report(visit: Any) -> None:
    visitor: Visit = visit()
    page, keys = visitor.page, visitor.page.keyboard
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    for goal in ("Mean ships by port", "Total ships by port"):
        body = {"goal": goal, "dataset_ids": [dataset], "preferences": {"clarify": "never"}}
        visitor.call("POST", "/lab/agent/sessions", data=body)
    visitor.open("/")
    recent = page.get_by_role("list", name="Recent sessions").get_by_role("link")
    expect(recent).to_have_count(2)
    keys.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Open one of: Recent sessions")
    expect(dialog).to_contain_text("1…2")
    visitor.check_access()
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    keys.press("2")
    expect(page.get_by_role("heading", level=1, name="Mean ships by port")).to_be_visible()
    page.get_by_role("link", name="Read the report").click()
    sections = page.get_by_role("main").get_by_role("heading", level=2)
    # The session has headings too: those of the report must be there before its keys are.
    expect(page.get_by_role("heading", level=2, name="What was understood")).to_be_visible()
    # After its navigation the page puts the focus there.
    expect(page.get_by_role("main")).to_be_focused()
    keys.press("j")
    expect(sections.nth(0)).to_be_focused()
    keys.press("j")
    expect(sections.nth(1)).to_be_focused()
    keys.press("k")
    expect(sections.nth(0)).to_be_focused()
    # The browser's own dialog cannot be seen by a test.
    page.evaluate("window.print = () => (document.title = 'printed')")
    keys.press("p")
    expect(page).to_have_title("printed")
    keys.press("?")
    for key in ("Print", "Everything as a zip", "Next line of a list, or section of a report"):
        expect(dialog).to_contain_text(key)
    visitor.check_access()
    visitor.check_rules()


def test_columns_of_a_table_are_reached_sorted_and_hidden_by_keys(visit: Any) -> None:
    visitor: Visit = visit()
    page, keys = visitor.page, visitor.page.keyboard
    rows = b"".join(b"%s,%d,%d\n" % ((b"Kiel", b"Bari")[n % 2], n % 40, n) for n in range(91))
    file = {"name": "moorings.csv", "mimeType": "text/csv", "buffer": b"port,ships,depth\n" + rows}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    visitor.open(f"/data/{dataset}")
    grid = page.get_by_role("grid")
    heads = grid.get_by_role("columnheader")
    expect(heads).to_have_count(3)
    keys.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    for meaning in ("Go to the column", "Sort by it", "Hide the column", "Only rows with this"):
        expect(dialog).to_contain_text(meaning)
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    keys.press("/")
    field = page.get_by_role("combobox", name="Go to the column")
    expect(field).to_be_focused()
    keys.type("dep")
    keys.press("Enter")
    expect(grid).to_have_attribute("aria-activedescendant", re.compile("-0-2$"))
    grid.focus()
    keys.press("s")
    expect(heads.nth(2)).to_have_attribute("aria-sort", "ascending")
    keys.press("ArrowLeft")
    keys.press("h")
    expect(heads).to_have_count(2)
    # Past the hidden one, in both ways.
    expect(grid).to_have_attribute("aria-activedescendant", re.compile("-2$"))
    keys.press("ArrowLeft")
    expect(grid).to_have_attribute("aria-activedescendant", re.compile("-0$"))
    # While it is read anew, the table is dimmed.
    expect(grid).not_to_have_attribute("aria-busy", "true")
    visitor.check_access()
    page.get_by_role("button", name="Show 1 hidden column").click()
    expect(heads).to_have_count(3)
    field.fill("tide")
    field.press("Enter")
    expect(page.get_by_text("No column has “tide” in its name.")).to_be_visible()
    visitor.check_rules()


def test_a_table_and_a_column_are_mentioned_by_keys(visit: Any) -> None:
    visitor: Visit = visit()
    page, keys = visitor.page, visitor.page.keyboard
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    visitor.call("POST", "/datasets", multipart={"file": file})
    visitor.open("/chat")
    field = page.get_by_label("Message", exact=True)
    field.focus()
    keys.type("mean @har")
    names = page.get_by_role("listbox", name="Tables and columns")
    expect(names.get_by_role("option", selected=True)).to_contain_text("harbours")
    visitor.check_access()
    keys.press("Enter")
    expect(field).to_have_value("mean harbours ")
    keys.type("@shi")
    expect(names.get_by_role("option", selected=True)).to_contain_text("column of harbours")
    keys.press("Tab")
    expect(field).to_have_value("mean harbours ships ")
    keys.type("@s")
    expect(names).to_be_visible()
    keys.press("Escape")
    expect(names).to_have_count(0)
    expect(field).to_be_focused()


def test_keys_show_more_of_a_timeline_and_name_a_branch(visit: Any) -> None:
    visitor: Visit = visit()
    page, keys = visitor.page, visitor.page.keyboard
    file = {"name": "harbours.csv", "mimeType": "text/csv", "buffer": b"port,ships\nKiel,4\nBari,7\n"}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    body = {
        "goal": "Mean ships by port",
        "dataset_ids": [dataset],
        "preferences": {"clarify": "never"},
    }
    session = visitor.call("POST", "/lab/agent/sessions", data=body)["id"]
    visitor.open(f"/sessions/{session}")
    expect(page.get_by_role("cell", name="Kiel", exact=True)).to_be_visible()
    call = page.get_by_role("button", name="Lists the tables")
    keys.press("-")
    expect(call).to_have_count(0)
    keys.press("+")
    expect(call).to_be_visible()
    visitor.check_access()

    visitor.call("POST", f"/lab/agent/sessions/{session}/fork", data={"at": {"step": 1}})
    visitor.open("/branches")
    expect(page.get_by_role("button", name="Options… of B")).to_be_visible()
    keys.press("n")
    options = page.get_by_role("dialog", name="Options of the session")
    options.get_by_label("Name").fill("Ships of each port")
    options.get_by_role("button", name="Save the name").click()
    expect(page.get_by_role("link", name="Ships of each port")).to_be_visible()
    visitor.check_access()
