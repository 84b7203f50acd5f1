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
