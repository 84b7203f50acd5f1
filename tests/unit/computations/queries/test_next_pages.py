"""Members beside a list of records that name a further page."""

from typing import Any

import pytest

from app.computations.queries.next_pages import find_next_page

RECORDS = [{"n": 1, "next": "Tuesday"}, {"n": 2, "has_more": True}]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"next": 2}, "next"),
        ({"next": "https://api.example.com/?page=2"}, "next"),
        ({"@odata.nextLink": "x"}, "@odata.nextLink"),
        ({"nextPageToken": "x"}, "nextPageToken"),
        ({"meta": {"next_cursor": "x"}}, "meta.next_cursor"),
        ({"_links": {"next": {"href": "/?page=2"}}}, "_links.next"),
        ({"meta": {"pagination": {"links": {"next": "x"}}}}, "meta.pagination.links.next"),
        ({"has_more": True}, "has_more"),
        ({"page": 1, "total_pages": 4}, "total_pages"),
        ({"paging": {"currentPage": 2, "lastPage": 3}}, "paging.lastPage"),
        ({"total": 500}, "total"),
        ({"totalResults": 3}, "totalResults"),
        ({"count": 3}, "count"),
    ],
)
def test_a_further_page_is_named_by_its_member(members: dict[str, Any], path: str) -> None:
    assert find_next_page({"data": RECORDS, **members}, RECORDS) == path


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"next": None},
        {"next": ""},
        {"next": False, "has_more": False},
        {"links": {"next": {}, "previous": "x"}},
        {"page": 4, "total_pages": 4},
        {"total_pages": 4},
        {"total": 2, "count": 2},
        {"total_price": 500, "amount": 900},
        {"context": "https://example.com", "next_to_last": None},
    ],
)
def test_the_last_page_names_none(members: dict[str, Any]) -> None:
    assert find_next_page({"data": RECORDS, **members}, RECORDS) is None


def test_members_of_a_record_say_nothing_of_pages() -> None:
    assert find_next_page(RECORDS, RECORDS) is None
    record = {"name": "Ada", "next": "Tuesday"}
    assert find_next_page(record, record) is None
