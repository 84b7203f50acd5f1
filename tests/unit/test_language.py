"""Names and docstrings keep the rules of CONTRIBUTING.md: budgets per package that only fall."""

import ast
import json
import re
from pathlib import Path

import pytest
from tests.language import (
    BUDGETS,
    FRAGMENT,
    bound_names,
    budgets_of,
    by_package,
    is_vague,
    lowered,
    measure,
)


def test_no_package_exceeds_its_budget() -> None:
    budgets, measured = json.loads(BUDGETS.read_text()), budgets_of(by_package())
    excess = {
        package: counts
        for package, counts in measured.items()
        if any(counts[key] > budgets.get(package, {}).get(key, 0) for key in counts)
    }
    assert not excess, f"more vague names or fragments than allowed {budgets}"


def test_budgets_are_as_low_as_the_code_permits() -> None:
    budgets, measured = json.loads(BUDGETS.read_text()), budgets_of(by_package())
    assert budgets == lowered(budgets, measured), "python -m tests.language --write lowers the budgets"


def test_a_budget_never_rises() -> None:
    before = {"api": {"vague_bindings": 2, "fragments": 0}}
    after = {"api": {"vague_bindings": 5, "fragments": 0}, "new": {"vague_bindings": 1, "fragments": 1}}
    assert lowered(before, after) == {
        "api": {"vague_bindings": 2, "fragments": 0},
        "new": {"vague_bindings": 0, "fragments": 0},
    }


@pytest.mark.parametrize(
    ("source", "vague"),
    [
        ("found = 1", ["found"]),
        ("def f(said, rows): ...", ["said"]),
        ("class Told: ...", ["Told"]),
        ("self.kept = rows", ["kept"]),
        ("try: ...\nexcept ValueError as made: ...", ["made"]),
        ("predictions = found", []),
    ],
)
def test_vague_names_are_seen_where_they_are_bound(source: str, vague: list[str]) -> None:
    assert [name for name, _ in bound_names(ast.parse(source)) if is_vague(name)] == vague


def test_figures_count_what_a_module_holds(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""What it holds."""\n'
        "# because\n"
        "x = facts['rows'] or facts.get('all')  # noqa: E501\n"
        'def f():\n    """Return one row."""\n'
    )
    figures = measure(module)
    assert (figures.module_fragments, figures.fragments, figures.text_keys, figures.comments) == (1, 0, 2, 1)


@pytest.mark.parametrize("text", ["How a row is read.", "Whether it fits.", "Of each row its label."])
def test_questions_are_no_docstrings(text: str) -> None:
    assert FRAGMENT.match(text)


@pytest.mark.parametrize("text", ["Return the rows.", "Rows of one owner.", "Office hours."])
def test_noun_phrases_and_imperatives_are_docstrings(text: str) -> None:
    assert not re.match(FRAGMENT, text)
