"""Characters that turn text, in a real document: texts, titles, and what is read of pictures and buttons."""

import subprocess

import pytest
from playwright.sync_api import sync_playwright
from tests.chromium import NODE, ROOT, find_chromium, missing_reason
from tests.patience import HANG_GUARD_S

SOURCE = ROOT / "frontend" / "src" / "lib" / "ui" / "controls.ts"
STRIP_TYPES = (
    "const { stripTypeScriptTypes } = require('node:module');"
    "console.log(stripTypeScriptTypes(require('node:fs').readFileSync(process.argv[1], 'utf8')))"
)
DOCUMENT = "data:text/html,<!doctype html><title>first</title><main></main>"
WRITE = """async () => {
    const [main, pause] = [document.querySelector("main"), () => new Promise(resolve => setTimeout(resolve))];
    [document.head, main].forEach(showControls);
    document.title = "a\\u202eb";
    main.innerHTML = '<p title="x\\u202ey">t\\u202eu <img alt="q\\u2066"></p>';
    await pause();
    const written = [document.title, main.innerHTML];
    main.firstChild.setAttribute("aria-label", "z\\u202e");
    main.firstChild.firstChild.nodeValue = "v\\u2067";
    await pause();
    return [...written, main.firstChild.getAttribute("aria-label"), main.firstChild.firstChild.nodeValue];
}"""


@pytest.mark.skipif(bool(missing_reason()), reason="there is no browser here")
def test_characters_that_turn_text_are_seen_wherever_text_is_read() -> None:
    command = [str(NODE), "--eval", STRIP_TYPES, str(SOURCE)]
    done = subprocess.run(command, check=True, text=True, capture_output=True, timeout=HANG_GUARD_S)
    chromium = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program, env=dict(chromium.environment), args=list(chromium.switches)
        )
        page = browser.new_page()
        page.goto(DOCUMENT)
        page.evaluate(f"{done.stdout.replace('export ', '')}; window.showControls = showControls; undefined")
        texts = page.evaluate(WRITE)
        browser.close()
    assert texts == [
        "a[U+202E]b",
        '<p title="x[U+202E]y">t[U+202E]u <img alt="q[U+2066]"></p>',
        "z[U+202E]",
        "v[U+2067]",
    ]
