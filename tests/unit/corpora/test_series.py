"""Structure of the corpus of series: format, halves, and columns, keys and filters that stand in the files."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError
from tests.corpora.files import RawTable, read_raw_table
from tests.corpora.series import (
    SERIES_DIRECTORY,
    TRAINING_DIRECTORY,
    SeriesFile,
    SeriesGoal,
    SeriesJudgement,
    load_series,
)
from tests.corpora.tables import Half, half_of

HALVES: tuple[Half, ...] = get_args(Half)
# Counts that have landed, so that a file that is lost is noticed: raised when files are added.
MIN_SERIES: dict[Half, int] = {"tuned": 13, "untuned": 13}
MIN_TRANSACTIONS: dict[Half, int] = {"tuned": 6, "untuned": 6}
MIN_ROWS, MAX_ROWS = 60, 400
# A wide table has a row per series, so that its rows are few and its columns many.
MIN_WIDE_CELLS = 60


def judgements(file: SeriesFile) -> list[SeriesJudgement]:
    """Every judgement of a file, accepted ones included."""
    return [judgement for goal in file.goals for judgement in (goal.judgement, *goal.accepted)]


def check_judgement(judgement: SeriesJudgement, raw: RawTable) -> None:
    """Compare a judgement with the columns, keys and filters of its table."""
    columns = {*judgement.time_columns, *judgement.period_columns, *judgement.key, *judgement.filter}
    if judgement.measure is not None and judgement.layout == "long":
        columns.add(judgement.measure)
    assert columns <= set(raw.header), columns - set(raw.header)
    rows = [dict(zip(raw.header, row, strict=True)) for row in raw.rows]
    rows = [row for row in rows if all(row[name] == value for name, value in judgement.filter.items())]
    assert rows, judgement.filter
    keys = {tuple(row[name] for name in judgement.key) for row in rows}
    assert len(keys) == judgement.series_count, (len(keys), judgement.key)
    for check in judgement.checks:
        assert set(check.key) == set(judgement.key), check
        assert tuple(check.key[name] for name in judgement.key) in keys, check
    if judgement.aggregation == "none" and judgement.layout == "long":
        times = Counter(tuple(row[name] for name in (*judgement.time_columns, *judgement.key)) for row in rows)
        assert judgement.duplicates or max(times.values()) == 1, "rows of one time are not named as duplicates"


@pytest.mark.parametrize("directory", [SERIES_DIRECTORY, TRAINING_DIRECTORY], ids=["series", "training"])
@pytest.mark.parametrize("half", HALVES)
def test_files_are_valid(half: Half, directory: Path) -> None:
    files = load_series(half, directory)
    assert [file.id for file in files] == sorted(p.stem for p in (directory / half).glob("*.json"))
    for file in files:
        assert half_of(file.id) == half, file.id
        raw = read_raw_table(directory / half / f"{file.id}.csv", file.form)
        assert raw.header == file.columns, file.id
        if any(judgement.layout == "wide" for judgement in judgements(file)):
            assert len(raw.rows) * len(raw.header) >= MIN_WIDE_CELLS, file.id
        else:
            assert MIN_ROWS <= len(raw.rows) <= MAX_ROWS, (file.id, len(raw.rows))
        for judgement in judgements(file):
            check_judgement(judgement, raw)


@pytest.mark.parametrize("half", HALVES)
def test_transactions_are_aggregated_and_series_are_not(half: Half) -> None:
    for file in load_series(half):
        for goal in file.goals:
            aggregated = goal.judgement.aggregation != "none"
            assert aggregated or file.shape == "series", (file.id, goal.goal)


@pytest.mark.parametrize("half", HALVES)
def test_halves_keep_their_counts(half: Half) -> None:
    shapes = Counter(file.shape for file in load_series(half))
    assert shapes["series"] >= MIN_SERIES[half]
    assert shapes["transactions"] >= MIN_TRANSACTIONS[half]


@pytest.mark.parametrize("half", HALVES)
def test_no_goal_occurs_twice(half: Half) -> None:
    goals = [goal.goal.casefold() for file in load_series(half) for goal in file.goals]
    assert len(set(goals)) == len(goals)


@pytest.mark.parametrize("half", HALVES)
def test_files_and_judgements_come_in_pairs(half: Half) -> None:
    paths = [path for path in SERIES_DIRECTORY.rglob("*") if path.is_file()]
    assert {path.parent.name for path in paths} <= set(HALVES)
    stems = {
        suffix: sorted(path.stem for path in paths if path.suffix == suffix and path.parent.name == half)
        for suffix in (".json", ".csv")
    }
    assert stems[".json"] == stems[".csv"]
    assert all(path.suffix in stems for path in paths)


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        SeriesFile.model_validate({"id": "a", "source": {"made": "shop"}, "title": "A", "surplus": 1})


def test_question_without_permission_is_refused() -> None:
    judgement = {
        "layout": "long",
        "time_columns": ["month"],
        "frequency": "month",
        "key": [],
        "series_count": 1,
        "measure": "sales",
        "aggregation": "none",
        "every": "month",
        "answer": "each_period",
        "horizon": None,
        "first": "2020-01",
        "last": "2020-02",
        "checks": [{"period": "2020-01", "value": 1}, {"period": "2020-02", "value": 2}],
    }
    with pytest.raises(ValidationError, match="ask_about"):
        SeriesGoal.model_validate(
            {"goal": "sales?", "judgement": judgement, "may_ask": False, "ask_about": "when", "note": "a"}
        )
