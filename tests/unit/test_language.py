"""Names and docstrings keep the rules of CONTRIBUTING.md: budgets per package that only fall."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.former_names import (
    OTHER_NAMES,
    REMAINING,
    SINGLE_CLASSES,
    WORST_NAMES,
    FormerName,
)
from tests.language import (
    BUDGETS,
    FRAGMENT,
    SOURCE,
    bound_names,
    by_folder,
    by_package,
    definitions,
    helper_modules,
    is_vague,
    lowered,
    measure,
    measured_budgets,
    module_paths,
    modules,
    repeated_class_names,
    total,
    unexplained_constants,
)


def test_no_package_exceeds_its_budget() -> None:
    budgets, measured = json.loads(BUDGETS.read_text()), measured_budgets()
    excess = {
        package: counts
        for package, counts in measured.items()
        if any(counts[key] > budgets.get(package, {}).get(key, 0) for key in counts)
    }
    assert not excess, f"more vague names or fragments than allowed {budgets}"


def test_the_whole_tree_reads_as_the_best_projects_of_the_field() -> None:
    """Figures of skrub and procrastinate by the same measure; a package's budget keeps its own share."""
    figures = total(list(by_package().values()))
    assert figures.vague_bindings / figures.bindings <= 0.008
    assert figures.module_fragments / figures.module_docstrings <= 0.02
    assert figures.fragments / figures.docstrings <= 0.02
    assert figures.text_keys / figures.lines <= 0.025
    assert len(repeated_class_names()) <= 5


def test_no_file_has_more_than_400_lines() -> None:
    lengths = {path.relative_to(SOURCE).as_posix(): path.read_text().count("\n") for path in modules()}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_no_list_of_words_names_a_word_twice() -> None:
    """A repeated word hides that a list has two authors, and stays behind when one of the two is removed."""
    repeated = {
        f"{path.relative_to(SOURCE).as_posix()}:{node.lineno}": words
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "word_set"
        if (words := sorted(_repeated(ast.literal_eval(node.args[0]).split())))
    }
    assert repeated == {}


def _repeated(words: list[str]) -> set[str]:
    return {word for word, count in Counter(words).items() if count > 1}


def test_budgets_are_as_low_as_the_code_permits() -> None:
    budgets, measured = json.loads(BUDGETS.read_text()), measured_budgets()
    assert budgets == lowered(budgets, measured), "python -m tests.language --write lowers the budgets"


def test_folders_beside_the_source_tree_have_budgets() -> None:
    assert set(by_folder()) == {"benchmarks", "scripts", "tests"}
    assert set(by_folder()) <= json.loads(BUDGETS.read_text()).keys()


def test_helper_modules_hold_no_tests(tmp_path: Path) -> None:
    for name in ("test_rows.py", "conftest.py", "rows.py"):
        (tmp_path / name).touch()
    assert [path.name for path in helper_modules(tmp_path)] == ["conftest.py", "rows.py"]


def test_the_constants_of_an_empty_module_are_none() -> None:
    assert unexplained_constants("") == []


def test_a_new_figure_begins_with_what_was_measured() -> None:
    assert lowered({"api": {}}, {"api": {"unexplained_constants": 3}}) == {"api": {"unexplained_constants": 3}}


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
    assert [name for name, _ in bound_names(ast.walk(ast.parse(source))) if is_vague(name)] == vague


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


@pytest.mark.parametrize(
    ("source", "unexplained"),
    [
        ("PAGE = 500", ["PAGE"]),
        ("PAGE: int = 1 << 20", ["PAGE"]),
        ("WAIT_S = 0.5", []),
        ("MAX_WAIT_S = 0.5", ["MAX_WAIT_S"]),
        ("_LOW, _HIGH = 2, -3", ["_LOW", "_HIGH"]),
        ("WEEK = 7 * DAY_S", ["WEEK"]),
        ('PAGE = 500\n"""Events a page, so that it fits a frame."""', []),
        ("PAGE = 500  # events: they fit a frame", []),
        ("# prctl(2)\nDUMPABLE = 4\nDROP = 24", []),
        ("# of another block\n\nPAGE = 500", ["PAGE"]),
        ("PAGE = 500  # noqa: E501", ["PAGE"]),
        ("READY = True", []),
        ('NAME = "x"', []),
        ("BOTH = FIRST | SECOND", []),
        ("def f():\n    page = 500", []),
    ],
)
def test_a_number_needs_a_unit_and_a_limit_needs_a_reason(source: str, unexplained: list[str]) -> None:
    assert [name for name, _ in unexplained_constants(source)] == unexplained


FORMER_NAMES = [name for row in WORST_NAMES.values() for name in row] + OTHER_NAMES


def _remaining_names() -> set[FormerName]:
    paths, defined = module_paths(), definitions()

    def remains(kind: str, name: str) -> bool:
        if kind == "module":
            return name in paths
        if kind == "prefix":
            return any(key == "variable" and text.lstrip("_").startswith(name) for key, text in defined)
        module, _, short_name = name.rpartition(":")
        places = defined.get((kind, short_name), [])
        return module in places if module else bool(places)

    return {(kind, name) for kind, name in FORMER_NAMES if remains(kind, name)}


def test_former_names_do_not_come_back() -> None:
    assert _remaining_names() <= REMAINING


def test_the_former_names_that_remain_are_former_names() -> None:
    assert set(FORMER_NAMES) >= REMAINING


def test_every_row_of_the_worst_names_is_listed() -> None:
    variables = "said told found made asked given whole"
    assert all(is_vague(name) for name in variables.split())
    assert sorted(WORST_NAMES) == list(range(2, 26))


def test_a_class_name_has_one_meaning() -> None:
    assert not SINGLE_CLASSES & repeated_class_names().keys()
