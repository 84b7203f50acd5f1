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
