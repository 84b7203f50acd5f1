"""Requests about files of the conversation, in words: list, read, write, replace."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from app.counts import describe_count

_POLITE = r"\W{0,5}(?:please )?(?:(?:can|could) you )?(?:please )?"
_PATH = r"[\"'`]?(?P<name>[\w./\-]{0,200}?\w\.\w{1,10})[\"'`]?"
_OLD = r"[\"'`“](?P<old>[^\"'`“”]{1,2000})[\"'`”]"
_NEW = r"[\"'`“](?P<new>[^\"'`“”]{0,2000})[\"'`”]"
_LIST = re.compile(
    rf"{_POLITE}(?:list|show|which|what)(?: me)?(?: all)?(?: the| my| our)? files"
    r"(?: are there| do (?:i|we) have)?\W{0,5}",
    re.IGNORECASE,
)
_READ = re.compile(
    rf"{_POLITE}(?:read|open|show|print|display)(?: me)?(?: the)?(?P<noun> file)? {_PATH}\W{{0,5}}",
    re.IGNORECASE,
)
_WRITE = re.compile(
    rf"{_POLITE}(?:write|create|save|make|add)(?: me)?(?: a| the)?(?: new)?(?: text)?(?: file)?"
    rf"(?: called| named)? {_PATH}(?: with(?: the text)?)?[:\n]\s*(?P<text>.{{1,20000}})",
    re.IGNORECASE | re.DOTALL,
)
_REPLACE = re.compile(
    rf"{_POLITE}(?:replace|change)(?P<every> (?:all|every|each))? {_OLD} (?:by|with|to) {_NEW} in(?: the file)?"
    r" "
    rf"{_PATH}(?P<everywhere> everywhere)?\W{{0,5}}",
    re.IGNORECASE,
)


class FileRequest(NamedTuple):
    """A call of a tool of files."""

    tool: str
    arguments: Mapping[str, Any]


def read_file_request(message: str, files: Iterable[str]) -> FileRequest | None:
    """Read a request about a file. `show sales.csv` is one only if there is such a file, or it says `file`."""
    if _LIST.fullmatch(message):
        return FileRequest("list_files", {})
    for pattern, make in _REQUESTS:
        if match := pattern.fullmatch(message):
            return make(match, {name.casefold() for name in files})
    return None


def _make_reading(match: re.Match[str], files: set[str]) -> FileRequest | None:
    name = match["name"].strip()
    return FileRequest("read_file", {"name": name}) if match["noun"] or name.casefold() in files else None


def _make_writing(match: re.Match[str], files: set[str]) -> FileRequest:
    return FileRequest("write_file", {"name": match["name"].strip(), "text": match["text"]})


def _make_edit(match: re.Match[str], files: set[str]) -> FileRequest:
    every = bool(match["every"] or match["everywhere"])
    arguments = {"name": match["name"].strip(), "old": match["old"], "new": match["new"], "every": every}
    return FileRequest("edit_file", arguments)


_REQUESTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], set[str]], FileRequest | None]], ...] = (
    (_REPLACE, _make_edit),
    (_WRITE, _make_writing),
    (_READ, _make_reading),
)


def describe_files(value: Any) -> str:
    """Describe the answer of a tool of files."""
    if "files" in value:
        names = "\n".join(f"{file['name']} ({file['bytes']:,} bytes)" for file in value["files"])
        return names or "This conversation has no files yet. A program or `write notes.md: ...` makes one."
    if "text" in value:
        line_count = value["text"].count("\n") + (not value["text"].endswith("\n"))
        rest = f"\n({line_count:,} of {value['lines']:,} lines)" if line_count < value["lines"] else ""
        return f"{value['text']}{rest}"
    if "replaced" in value:
        return f"Changed {value['name']} in {describe_count(value['replaced'], 'place')}."
    if "rows" in value:
        count = describe_count(value["rows"], "row")
        return f"Saved {count} as {value['name']}. It is among the files of this answer, to download."
    return f"Wrote {value['name']}, {value['bytes']:,} bytes."
