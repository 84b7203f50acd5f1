"""Programs and queries as user guides have them run in a cell, but for those on a list."""

import json
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest
from tests.corpora.user_guides import REFUSED, Snippet, load_snippets, run_programs

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import run_sql

MAX_REFUSED_SHARE = 0.15
TUNED = load_snippets("tuned")
QUERIES = [snippet for snippet in TUNED if snippet.is_query and snippet.title not in REFUSED]


def library(snippet: Snippet) -> str:
    return snippet.title.partition(":")[0]


def test_the_list_of_refused_programs_is_short_and_has_no_unknown_title() -> None:
    snippets = [*TUNED, *load_snippets("untuned")]
    titles = {snippet.title for snippet in snippets}
    assert len(titles) == len(snippets) >= 200
    assert set(REFUSED) <= titles
    assert len(REFUSED) <= MAX_REFUSED_SHARE * len(titles)


def test_programs_of_user_guides_run_in_a_cell() -> None:
    """One process a library: `python -m tests.corpora.user_guides` runs each program in one of its own."""
    programs = sorted((snippet for snippet in TUNED if not snippet.is_query), key=library)
    outcomes = run_programs([list(group) for _, group in groupby(programs, library)])
    assert len(outcomes) == len(programs)
    failures = {title: error for title, error in outcomes.items() if error}
    assert set(failures) == {snippet.title for snippet in programs} & set(REFUSED), failures


@pytest.mark.parametrize("snippet", QUERIES, ids=lambda snippet: snippet.title)
def test_a_query_of_a_user_guide_runs(snippet: Snippet, tmp_path: Path) -> None:
    orders = pd.DataFrame(
        {
            "id": range(1, 13),
            "kind": list("abcabcabcaab"),
            "price": [5.5, 12.0, 33.25, 8.0, 21.0, 2.5, 19.75, 40.0, 15.0, 9.9, 27.0, 3.0],
            "day": pd.date_range("2023-11-05", periods=12, freq="21D").date,
            "note": ["x", None, "y", None] * 3,
        }
    )
    table = tmp_path / "orders.parquet"
    orders.to_parquet(table)
    (tmp_path / "out").mkdir()
    facts = run_sql(CellWorkspace({"orders": table}, tmp_path / "out"), snippet.source)
    assert json.loads(json.dumps(facts))["row_count"] > 0
