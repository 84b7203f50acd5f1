import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.cli.scoring.suite import SHIPPED, read_suite
from app.errors import InvalidInput, NotFound

GOOD = {"id": "one", "goal": "How many rows?", "tables": ["t.csv"], "expect": {"value": 2}}


def written(folder: Path, *lines: Any) -> str:
    (folder / "t.csv").write_text("a\n1\n2\n")
    told = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "suite.jsonl").write_text("\n".join(told))
    return str(folder)


def test_every_shipped_suite_can_be_read_and_is_not_small():
    names = {path.name for path in SHIPPED.iterdir() if path.is_dir()}
    assert names == {"basics", "chat", "hundred"}
    kinds = {item.kind for item in read_suite("basics").items}
    assert len(read_suite("basics").items) >= 20
    assert {"value", "values", "table", "metric", "asks", "refuses"} <= kinds


def test_the_hundred_questions_have_levels_and_programs_that_answer_them():
    items = read_suite("hundred").items
    assert Counter(item.level for item in items) == {"easy": 40, "medium": 40, "hard": 20}
    assert all(item.program for item in items)


def test_each_wrong_line_is_named_with_what_is_wrong(tmp_path):
    lines = (
        GOOD,
        "{'id': 1}",
        {**GOOD, "id": "two", "expects": {}},
        {**GOOD, "id": "three", "tables": ["gone.csv"]},
        {**GOOD, "id": "four", "tables": ["../t.csv"]},
        {**GOOD, "id": "five", "expect": {"rel": 0.1}},
        {**GOOD, "id": "six", "expect": {"metric": {"name": "auc"}}},
        {**GOOD, "id": "seven", "tables": ["no_such_package_here:data.csv"]},
        GOOD,
    )
    with pytest.raises(InvalidInput) as refused:
        read_suite(written(tmp_path, *lines))
    said = refused.value.detail.splitlines()[1:]
    assert [line.split(":")[0] for line in said] == [f"line {n}" for n in (2, 3, 4, 5, 6, 7, 8, 9)]
    for line, part in zip(
        said,
        (
            "not JSON",
            "expects",
            "no table 'gone.csv'",
            "outside of the suite",
            "names none of value",
            "neither at_least nor at_most",
            "no package",
            "stands twice",
        ),
        strict=True,
    ):
        assert part in line


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (folder / "s.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(InvalidInput, match="outside of the suite"):
        read_suite(written(folder, {**GOOD, "tables": ["s.csv"]}))


def test_an_empty_suite_and_one_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no item"):
        read_suite(written(tmp_path, ""))
    with pytest.raises(NotFound, match="basics"):
        read_suite(str(tmp_path / "gone"))


def test_an_item_is_another_one_when_its_table_or_what_is_expected_changes(tmp_path):
    suite = read_suite(written(tmp_path, GOOD))
    first = suite.digest(suite.items[0])
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert suite.digest(suite.items[0]) != first
    changed = read_suite(written(tmp_path, {**GOOD, "expect": {"value": 3}}))
    assert changed.digest(changed.items[0]) != first
