"""The check of access looks at a page that has come to rest."""

from typing import Any

from .conftest import Visit

FADING = """<!doctype html><html lang="en"><head><title>Fading</title><style>
p { animation: appear 5s steps(1) both; } @keyframes appear { from { opacity: 0.1; } }
</style></head><body><main><h1>Fading</h1><p>Too pale to read at first.</p></main></body></html>"""


def test_words_that_fade_in_are_judged_at_their_end(visit: Any) -> None:
    visitor: Visit = visit(signed_in=False)
    visitor.page.set_content(FADING)
    visitor.check_access()
