"""Requests about files, read without a chat model."""

import pytest

from app.agents.assistant.tables.file_requests import FileRequest, read_file_request

FILES = ["notes.md", "plans/q1.txt"]


@pytest.mark.parametrize(
    ("message", "tool", "arguments"),
    [
        ("list the files", "list_files", {}),
        ("Which files are there?", "list_files", {}),
        ("show my files", "list_files", {}),
        ("read notes.md", "read_file", {"name": "notes.md"}),
        ("please show me the file other.txt", "read_file", {"name": "other.txt"}),
        ("open `plans/q1.txt`", "read_file", {"name": "plans/q1.txt"}),
        (
            "write notes.md: first line\nsecond",
            "write_file",
            {"name": "notes.md", "text": "first line\nsecond"},
        ),
        ("create a file plans/q2.txt with the text: x", "write_file", {"name": "plans/q2.txt", "text": "x"}),
        (
            "replace 'old text' by 'new' in notes.md",
            "edit_file",
            {"name": "notes.md", "old": "old text", "new": "new", "every": False},
        ),
        (
            'replace all "a" with "b" in the file notes.md',
            "edit_file",
            {"name": "notes.md", "old": "a", "new": "b", "every": True},
        ),
    ],
)
def test_a_request_is_read(message: str, tool: str, arguments: dict[str, object]) -> None:
    assert read_file_request(message, FILES) == FileRequest(tool, arguments)


@pytest.mark.parametrize(
    "message",
    [
        "show cities.csv",
        "show sales by month",
        "list the columns",
        "how many files were sold",
        "create a column a.b: c",
        "replace missing values in sales",
        "show average price to 3.5",
        "what is 3.14",
    ],
)
def test_other_messages_are_none(message: str) -> None:
    assert read_file_request(message, FILES) is None
