"""Bytes over the wire of a first visit: they do not depend on speed, so they have budgets."""

from typing import Any

from playwright.sync_api import expect

MAX_BYTES = {"/sign-in": 100_000, "/": 100_000, "/sessions/6f1c1c3e-6f0e-4f0a-9a43-0d3f3f3c2b11": 200_000}
"""Compressed bytes of the page's own files: STUDIO.md, measured goals."""
OWN_BYTES = """
performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter((entry) => !entry.name.includes('/api/')).reduce((sum, entry) => sum + entry.encodedBodySize, 0)
"""


def test_first_visits_keep_their_budgets_of_bytes(visit: Any) -> None:
    sizes = {}
    for path in MAX_BYTES:
        visitor = visit(signed_in=path != "/sign-in")
        visitor.ignored += ["401", "404"]
        visitor.open(path)
        expect(visitor.page.get_by_role("heading").or_(visitor.page.get_by_role("alert")).first).to_be_visible()
        sizes[path] = visitor.page.evaluate(OWN_BYTES)
    assert {path: size for path, size in sizes.items() if not 0 < size <= MAX_BYTES[path]} == {}
