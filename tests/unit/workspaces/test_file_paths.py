"""Paths of files of a conversation: what they may be, and what leads out of the workspace."""

import pytest

from app.errors import ToolRefused
from app.workspaces.file_paths import normalize_path, require_free
from app.workspaces.text_changes import MAX_DIFF_CHARS, describe_change

ESCAPES = [
    *("/etc/passwd", "..", "../x", "a/../../x", "a/..", "./a", "a/./b", "a//b", "a/", "", " ", "."),
    *("..\\x", "a\\b", "C:\\x", "c:x", "a/ b", "a /b", "a/b.", ".ssh/id", "a/.env", "~/.x", "x\0y", "a\nb"),
    *("a/\u202eb", "a\u200bb", "\u2024\u2024/x", "a\uff0fb", "a/\uff0e\uff0e/b", "\u2025/x"),
    *("a" * 121, "/".join("abcdefghij"), "a/" * 200 + "b", "file:///etc/passwd", "\x7f", "a\ud800b"),
]


@pytest.mark.parametrize("path", ESCAPES, ids=ascii)
def test_a_path_that_leads_elsewhere_or_hides_something_is_refused(path: str) -> None:
    with pytest.raises(ToolRefused, match="cannot be a file's path"):
        normalize_path(path)


@pytest.mark.parametrize("path", ["notes.md", "a/b/c d.txt", "Zürich/straße.csv", "x_1-2.tar.gz"])
def test_an_ordinary_path_stays(path: str) -> None:
    assert normalize_path(path) == path


def test_a_path_is_compared_in_its_normal_form() -> None:
    assert normalize_path("Zu\u0308rich.md") == "Zürich.md"


@pytest.mark.parametrize("path", ["NOTES.md", "notes.md", "notes.md/x", "A", "a/B.TXT", "straße/x", "STRASSE"])
def test_a_name_that_a_file_has_in_another_spelling_is_taken(path: str) -> None:
    with pytest.raises(ToolRefused):
        require_free(path, ["notes.md", "a/b.txt", "strasse"])


def test_a_free_name_is_free() -> None:
    require_free("a/c.txt", ["notes.md", "a/b.txt"])


def test_a_long_difference_is_cut_with_the_number_of_what_is_left_out() -> None:
    change = describe_change("a.txt", "x\n" * 20_000, "y\n" * 20_000)
    assert (change.added, change.removed) == (20_000, 20_000)
    assert len(change.text) == MAX_DIFF_CHARS
    assert change.left_out > 0
