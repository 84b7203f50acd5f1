"""Lists in the sources of the web page."""

import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "frontend" / "src"
_KEYED_BY_TEXT = re.compile(r"#each [^\n]+ as (\w+) \((?:\1|\1\.(?:text|message|label))\)")


def test_no_list_is_keyed_by_its_texts() -> None:
    """A text that is there twice would end the whole screen: Svelte refuses two entries with one key."""
    components = sorted(SOURCES.rglob("*.svelte"))
    assert components
    found = [path.name for path in components if _KEYED_BY_TEXT.search(path.read_text())]
    assert found == []
