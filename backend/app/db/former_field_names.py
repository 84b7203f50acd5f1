"""Former names of fields in stored JSON, translated when a row is read. Rows are never rewritten.

A table maps the path of an object to its renamed fields, old to new; `*` stands for each entry of a list.
A field that is renamed keeps its entry for as long as backups of the version that wrote it must restore.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

Path = tuple[str, ...]
NameTable = Mapping[Path, Mapping[str, str]]

SESSION_RESULT: NameTable = {
    ("report",): {"checked": "checked_claims"},
    ("leaderboard", "*"): {"folded": "collapsed"},
    ("answer",): {"rows_there": "total_rows"},
}
"""`sessions.result`, and `result` in the body of a `session_finished` event."""

_EVENTS: Mapping[str, NameTable] = {
    "session_finished": {("result", *path): names for path, names in SESSION_RESULT.items()},
}


def current_result(result: dict[str, Any]) -> dict[str, Any]:
    """Rename the former fields of a session's result in place, and return it."""
    _rename(result, SESSION_RESULT)
    return result


def current_event(kind: str, body: str) -> str:
    """Return the body of an event, a JSON object, with its present field names."""
    table = _EVENTS.get(kind)
    if table is None:
        return body  # most events: their text is passed on without being parsed
    document = json.loads(body)
    _rename(document, table)
    return json.dumps(document, separators=(",", ":"))


def _rename(document: Any, table: NameTable) -> None:
    for path, names in table.items():
        for node in _select(document, path):
            for old, new in names.items():
                if old in node and new not in node:
                    node[new] = node.pop(old)


def _select(node: Any, path: Path) -> Iterable[dict[str, Any]]:
    """Yield the objects at `path`; a path that the document lacks yields none."""
    if not path:
        if isinstance(node, dict):
            yield node
        return
    field, *rest = path
    if field == "*":
        children = node if isinstance(node, list) else []
    else:
        children = [node[field]] if isinstance(node, dict) and field in node else []
    for child in children:
        yield from _select(child, tuple(rest))
