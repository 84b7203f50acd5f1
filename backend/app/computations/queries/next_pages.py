"""Members of a JSON answer that name a further page, which a request without `pages` does not read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_ENVELOPE_DEPTH = 3
"""Levels of an envelope that are looked through: `meta.pagination.links.next` has four."""
_PAGE_NUMBERS = ("page", "current page", "page number")
"""Words of the number of the page that the answer is."""
_TOTALS = frozenset({"total", "count", "results", "records", "items", "rows", "hits"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def find_next_page(content: Any, records: Any) -> str | None:
    """Return the path of a member that names a further page, None if there is none.

    `records`: the part of the answer that is its table. Only beside a list of records does a member say
    something of pages: in a record `next` may be anything.
    """
    if not isinstance(records, list) or content is records:
        return None
    return next(
        (
            f"{path}{name}"
            for path, members in _list_envelopes(content, records, "", 0)
            for name in _find(members, len(records))
        ),
        None,
    )


def _list_envelopes(
    content: Any, records: list[Any], path: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """List the mappings around and beside the list of records, without the records themselves."""
    if not isinstance(content, Mapping) or depth > MAX_ENVELOPE_DEPTH:
        return
    yield path, {name: value for name, value in content.items() if value is not records}
    for name, value in content.items():
        yield from _list_envelopes(value, records, f"{path}{name}.", depth + 1)


def _find(members: Mapping[str, Any], count: int) -> Iterator[str]:
    """Find the members that say that there are more than `count` records, or pages behind this one."""
    numbers = {
        " ".join(_split(name)): value
        for name, value in members.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
    page = next((numbers[name] for name in _PAGE_NUMBERS if name in numbers), None)
    for name, value in members.items():
        words = _split(name)
        number = numbers.get(" ".join(words))
        # `next`, `next_page`, `@odata.nextLink`: null, an empty text, false and an empty object name no page.
        is_place = "next" in words and bool(value)
        is_flag = "more" in words and value is True
        is_last = page is not None and number is not None and _is_last_page(words) and number > page
        is_total = number is not None and _is_total(words) and number > count
        if is_place or is_flag or is_last or is_total:
            yield name


def _is_last_page(words: list[str]) -> bool:
    """Check for the number of pages: `pages`, `total_pages`, `last_page`, `pageCount`."""
    return "pages" in words or ("page" in words and bool({"last", "count", "total"} & {*words}))


def _is_total(words: list[str]) -> bool:
    """Check for the number of all records: `total`, `count`, `total_count`, `totalResults`."""
    return words == ["count"] or ("total" in words and {*words} <= _TOTALS)


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
