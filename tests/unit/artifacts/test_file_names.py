"""A file's name can be nothing but a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.artifacts.file_names import normalize_file_name
from app.errors import ToolRefused


@pytest.mark.parametrize("name", ["notes.md", "Bericht 2024.txt", "größe.csv", "a", "x" * 120, "表.txt"])
def test_plain_names_stay_what_they_are(name):
    assert normalize_file_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 121,
        ".",
        "..",
        "../secret",
        "a/b",
        "/etc/passwd",
        "C:\\x",
        "a\\b",
        "~/.ssh/\nid",
        ".hidden",
        "trailing.",
        " lead",
        "nul\0",
        "line\nbreak",
        "right\u202eto-left.md",
        "zero\u200bwidth",
        "full\uff0fwidth",
        "\uff0e\uff0e",
        "one\u2024dot\u2025",
    ],
)
def test_what_could_be_another_place_or_name_is_refused(name):
    with pytest.raises(ToolRefused, match="cannot be a file's name"):
        normalize_file_name(name)


@given(st.text(max_size=130))
def test_an_accepted_name_is_one_visible_segment(name):
    try:
        known = normalize_file_name(name)
    except ToolRefused:
        return
    assert not set(known) & set("/\\:\0\n")
    assert known.strip(". ") == known
    assert normalize_file_name(known) == known


def test_two_spellings_of_one_name_are_one_name():
    assert normalize_file_name("gro\u0308sse.md") == normalize_file_name("grösse.md")
