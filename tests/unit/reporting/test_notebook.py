"""Validity of notebooks, and data as literals in them (`tests/unit/computations/test_report.py` runs one)."""

import ast
import importlib
from typing import Any

import nbformat
import pytest

from app.recorded_call import RecordedCall
from app.reporting import notebook as renderer
from app.reporting.compose import compose
from app.reporting.draft import ReportDraft

from .conftest import SESSION, altered, make_draft, recorded


def render(draft: ReportDraft) -> dict[str, Any] | None:
    return renderer.render(compose(draft))


def code(notebook: dict[str, Any]) -> list[str]:
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", ["titanic", "diabetes"])
def test_a_notebook_is_valid(name: str) -> None:
    notebook = render(make_draft(recorded(name)))

    assert notebook is not None
    nbformat.validate(nbformat.from_dict(notebook))
    for source in code(notebook):
        ast.parse(source)


def test_every_name_that_a_notebook_imports_exists(titanic: list[RecordedCall]) -> None:
    """The templates are text, which renames do not reach."""

    def add_code(result: dict[str, Any]) -> None:
        for fit in result["candidates"]:
            fit["recipe"] = [{"op": "python", "name": "ratio", "source": "def transform(frame, state): ..."}]

    notebook = render(make_draft(altered(titanic, "train_classification_model", add_code)))

    assert notebook is not None
    imported = [
        (node.module, alias.name)
        for source in code(notebook)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert ("app.sandbox.policy.custom_functions", "define") in imported
    for module, name in imported:
        assert hasattr(importlib.import_module(str(module)), name), f"{module} has no {name}"


@pytest.mark.parametrize("name", ["'''\nimport os", '"); import os; ("', "\\", "{x}", "<script>"])
def test_names_stand_in_code_as_literals(name: str, titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        result["problem"]["target"] = name

    datasets = [{"name": name, "table": name, "rows": 1}]
    notebook = render(make_draft(altered(titanic, "lock_holdout", change), datasets=datasets, goal=name))

    assert notebook is not None
    imported = {
        alias.name
        for source in code(notebook)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported == {"pandas"}
    assert "<script>" not in str([cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"])


def test_a_stored_query_makes_the_table_of_the_notebook(titanic: list[RecordedCall]) -> None:
    sql = "select * from a join b using (id)"
    call = RecordedCall(2, "data_retrieval", "tool:2.0", "execute_sql", "x", {"sql": sql, "keep": True}, {})
    datasets = [{"name": "a", "table": "a"}, {"name": "b", "table": "b"}]

    notebook = render(make_draft([*titanic, call], datasets=datasets))

    assert notebook is not None
    assert any(f"lab.query({sql!r}, **tables)" in source for source in code(notebook))


def test_without_a_known_table_or_result_there_is_no_notebook(titanic: list[RecordedCall]) -> None:
    assert render(make_draft(titanic, datasets=[])) is None
    assert render(make_draft([call for call in titanic if call.tool != "final_evaluation"])) is None
    assert SESSION["datasets"]
