"""The hold-out and the folds keep apart what must be kept apart."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.preparation import split
from app.errors import InvalidInput
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.splits.split import choose_share, find_unjudged_columns, make_folds, split_holdout

from ..frames import houses, people, problem, series


def test_classes_keep_their_shares() -> None:
    frame = people(500)
    locked = split_holdout(frame, problem(frame, "left"), seed=1)
    assert locked.kind is SplitKind.STRATIFIED
    assert abs(locked.train["left"].mean() - locked.holdout["left"].mean()) < 0.02
    assert len(locked.holdout) == 100


def test_the_same_seed_holds_out_the_same_rows() -> None:
    frame = people()
    one, two = (split_holdout(frame, problem(frame, "left"), seed=5) for _ in range(2))
    pd.testing.assert_frame_equal(one.holdout, two.holdout)
    other = split_holdout(frame, problem(frame, "left"), seed=6)
    assert not other.holdout.equals(one.holdout)


@pytest.mark.parametrize(("frame", "target"), [(people(), "left"), (houses(), "price")])
def test_the_reason_of_a_drawn_holdout_names_its_seed(frame: pd.DataFrame, target: str) -> None:
    assert split_holdout(frame, problem(frame, target), 7).reason.endswith("chosen at random with the seed 7.")


def test_repeated_rows_are_removed_so_that_none_is_on_both_sides() -> None:
    frame = houses()
    doubled = pd.concat([frame, frame.iloc[:80]], ignore_index=True)
    locked = split_holdout(doubled, problem(doubled, "price"), seed=0)
    assert (locked.equal_rows, locked.together_rows) == (160, 160)
    assert len(locked.train) + len(locked.holdout) == len(doubled)
    assert locked.train.merge(locked.holdout).empty


def test_repeats_of_two_categories_are_kept() -> None:
    frame = pd.DataFrame({"sex": ["f", "m"] * 100, "alive": [1, 0, 0, 1] * 50})
    locked = split_holdout(frame, problem(frame, "alive"), seed=0)
    assert len(locked.train) + len(locked.holdout) == 200
    assert (locked.equal_rows, locked.together_rows) == (200, 0)


def test_equal_rows_of_few_values_are_rows_of_their_own() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"type": rng.choice(list("abcd"), 3000), "size": rng.integers(1, 9, 3000)})
    frame["score"] = rng.integers(60, 100, 3000)
    locked = split_holdout(frame, problem(frame, "score"), seed=0)
    assert len(locked.train) + len(locked.holdout) == 3000
    assert (locked.equal_rows > 1500, locked.together_rows) == (True, 0)


def test_equal_rows_are_in_one_fold_where_they_are_no_coincidence() -> None:
    frame = pd.concat([houses(), houses().head(80)], ignore_index=True)
    plan = FoldPlan(SplitKind.RANDOM, 4, 0, equal_rows_together=True)
    for fold in make_folds(frame, problem(frame, "price"), plan):
        assert frame.iloc[fold.train].merge(frame.iloc[fold.test]).empty
        assert sorted([*fold.train, *fold.test]) == list(range(380))


def test_no_group_is_on_both_sides_nor_in_two_folds() -> None:
    frame = people(400)
    frame["customer"] = np.random.default_rng(0).integers(0, 60, 400)
    asked = problem(frame, "left", group_column="customer")
    locked = split_holdout(frame, asked, seed=0)
    assert locked.kind is SplitKind.GROUPED
    assert not set(locked.train["customer"]) & set(locked.holdout["customer"])
    for fold in make_folds(locked.train, asked, FoldPlan(locked.kind, 5, 0)):
        of = locked.train["customer"].to_numpy()
        assert not set(of[fold.train]) & set(of[fold.test])


@pytest.mark.parametrize("horizon", [None, 1, 7])
@pytest.mark.parametrize("shops", [1, 3])
def test_training_rows_have_labels_known_before_the_test_rows_begin(horizon: int | None, shops: int) -> None:
    frame = series(shops=shops)
    asked = problem(
        frame, "sales", time_column="day", horizon=horizon, group_column="shop" if shops > 1 else None
    )
    locked = split_holdout(frame.sample(frac=1, random_state=0), asked, seed=0)
    assert locked.kind is SplitKind.TIME
    assert locked.train["day"].max() < locked.holdout["day"].min()
    days = locked.train["day"].to_numpy()
    ahead = np.timedelta64(horizon or 0, "D")
    for fold in make_folds(locked.train, asked, FoldPlan(locked.kind, 5, 0)):
        assert days[fold.train].max() + ahead < days[fold.test].min()
        assert fold.history is not None
        assert days[fold.history].max() < days[fold.test].min()


@given(
    rows=st.integers(40, 200),
    count=st.integers(2, 8),
    seed=st.integers(0, 100),
    kind=st.sampled_from(["left", "visits", "age"]),
)
@settings(max_examples=25, deadline=None)
def test_folds_test_every_labelled_row_once_and_never_a_training_row(
    rows: int, count: int, seed: int, kind: str
) -> None:
    frame = people(rows, seed)
    asked = problem(frame, kind)
    shape = SplitKind.STRATIFIED if asked.is_classification else SplitKind.RANDOM
    made = make_folds(frame, asked, FoldPlan(shape, count, seed))
    tested = np.sort(np.concatenate([fold.test for fold in made]))
    assert tested.tolist() == np.flatnonzero(frame[kind].notna()).tolist()
    assert all(not set(fold.train) & set(fold.test) for fold in made)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (people(5), "too_little_data"),
        (people(40).assign(left=[None] * 30 + [0, 1] * 5), "too_little_data"),
    ],
)
def test_too_little_data_is_refused(frame: pd.DataFrame, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        split_holdout(frame, problem(frame, "left"), seed=0)
    assert caught.value.code == code


def test_a_rare_class_takes_fewer_folds_instead_of_failing() -> None:
    frame = people(60)
    frame["left"] = 0
    frame.loc[:2, "left"] = 1
    made = make_folds(frame, problem(frame, "left"), FoldPlan(SplitKind.STRATIFIED, 5, 0))
    assert len(made) == 3


def test_a_share_out_of_bounds_is_refused() -> None:
    frame = people()
    with pytest.raises(InvalidInput, match="share must be between"):
        split_holdout(frame, problem(frame, "left"), seed=0, share=0.9)


def test_a_fold_with_one_training_class_is_left_out() -> None:
    frame = series(120).assign(busy=[0] * 30 + [0, 1] * 45)
    made = make_folds(frame, problem(frame, "busy", time_column="day"), FoldPlan(SplitKind.TIME, 5, 0))
    assert len(made) == 4
    assert all(frame["busy"].iloc[fold.train].nunique() == 2 for fold in made)
    frame["busy"] = [0] * 115 + [1] * 5
    with pytest.raises(InvalidInput, match="too few"):
        make_folds(frame, problem(frame, "busy", time_column="day"), FoldPlan(SplitKind.TIME, 5, 0))


def test_a_class_with_two_rows_reduces_neither_the_holdout_nor_the_folds() -> None:
    frame = people(200).assign(left=["a"] * 120 + ["b"] * 78 + ["c"] * 2)
    asked = problem(frame, "left")
    locked = split_holdout(frame, asked, seed=0)
    assert len(locked.holdout) == 50
    assert len(make_folds(locked.train, asked, FoldPlan(locked.kind, 5, 0))) == 5


def test_rows_of_a_crowded_first_time_stay_in_training() -> None:
    frame = people(100).assign(day=pd.to_datetime(["2024-01-01"] * 90 + ["2024-01-02"] * 10))
    locked = split_holdout(frame, problem(frame, "left", time_column="day"), seed=0)
    assert (set(locked.train["day"].dt.day), set(locked.holdout["day"].dt.day)) == ({1}, {2})


@pytest.mark.parametrize(("first_year", "time_column"), [(2017, "year"), (2019, None)])
def test_a_column_of_the_latest_years_is_on_both_sides_of_the_split(
    tmp_path: Path, first_year: int, time_column: str | None
) -> None:
    rng = np.random.default_rng(0)
    frame = measured(2000).assign(year=np.repeat(np.arange(2010, 2020), 200), income=rng.normal(size=2000))
    frame.loc[frame["year"] < first_year, "income"] = np.nan
    frame.to_parquet(tmp_path / "table.parquet")
    bench = CellWorkspace({"table": tmp_path / "table.parquet"}, tmp_path)
    facts: Any = split.split_table(bench, {"target": "y"})
    train, holdout = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("train", "holdout"))
    assert facts["problem"]["time_column"] == time_column
    assert holdout["year"].min() >= first_year
    assert min(train["income"].count(), holdout["income"].count()) >= 100
    assert ("'income' is filled in only from 'year' 2019 on" in facts["reason"]) is (time_column is None)


def test_a_constant_time_column_is_refused() -> None:
    frame = people(100).assign(day=pd.Timestamp("2024-01-01"))
    with pytest.raises(InvalidInput, match="no later rows"):
        split_holdout(frame, problem(frame, "left", time_column="day"), seed=0)


def measured(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    frame["y"] = (frame["a"] + rng.normal(size=rows) > 0).astype(int)
    return frame


def test_near_duplicates_stay_on_one_side_of_the_split() -> None:
    frame = pd.concat([measured(), measured().head(150)], ignore_index=True)
    frame.insert(0, "id", np.random.default_rng(1).permutation(len(frame)))
    locked = split_holdout(frame, problem(frame, "y"), seed=0)
    shared = locked.train.drop(columns="id").merge(locked.holdout.drop(columns="id"))
    assert shared.empty
    assert len(locked.holdout) > 40
    assert any("in everything except 'id'" in note for note in locked.notes)


def test_contradicting_rows_are_noted() -> None:
    frame = measured()
    again = frame.head(60).assign(y=1 - frame["y"].head(60))
    both = pd.concat([frame, again], ignore_index=True)
    locked = split_holdout(both, problem(both, "y"), seed=0)
    assert any(note.startswith("120 rows have the same inputs") for note in locked.notes)


def test_equal_categories_by_chance_are_not_near_duplicates() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": range(500), "sex": rng.choice(["f", "m"], 500), "deck": rng.integers(0, 9, 500)}
    )
    frame["y"] = rng.integers(0, 2, 500)
    locked = split_holdout(frame, problem(frame, "y"), seed=0)
    assert (locked.notes, len(locked.holdout)) == ((), 100)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (measured(300).assign(y=[1] * 3 + [0] * 297), "too_few_of_class"),
        (measured(300).assign(y=[f"class {place // 3}" for place in range(300)]), "too_few_of_class"),
        (pd.DataFrame({"a": [1.0] * 40, "b": [None] * 40, "y": [0, 1] * 20}), "no_inputs"),
    ],
)
def test_a_table_that_cannot_train_a_model_is_refused(frame: pd.DataFrame, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        split_holdout(frame, problem(frame, "y"), seed=0)
    assert caught.value.code == code


def test_a_small_share_of_labelled_rows_is_noted() -> None:
    frame = measured(1000)
    frame["y"] = frame["y"].where(frame.index % 33 == 0)
    locked = split_holdout(frame, problem(frame, "y"), seed=0)
    assert locked.notes[0].startswith("Only 3.1% of the rows have a label")


def test_the_holdout_share_is_larger_for_few_rows_and_smaller_for_many() -> None:
    many = pd.Series(np.random.default_rng(0).integers(0, 2, 1_000_000), dtype="float64")
    asked = problem(measured(), "y")
    shares = [
        choose_share(many.head(rows), asked, SplitKind.STRATIFIED) for rows in (50, 5_000, 200_000, 1_000_000)
    ]
    assert shares == [0.25, 0.2, 0.1, 0.05]
    rare = (many.index % 500 == 0).astype("float64")
    assert choose_share(pd.Series(rare), asked, SplitKind.STRATIFIED) == 0.2


@pytest.mark.parametrize(("moments", "horizon", "share"), [(400, 12, 1 / 3), (48, 12, 0.25), (80, 30, 0.25)])
def test_a_third_of_the_time_of_a_series_is_held_out_if_it_is_long_enough(
    moments: int, horizon: int, share: float
) -> None:
    frame = series(moments)
    asked = replace(problem(frame, "sales"), time_column="day", horizon=horizon, every_step=True)
    assert choose_share(frame["sales"], asked, SplitKind.TIME, moments) == share


@pytest.mark.parametrize(
    ("rows", "horizon", "judged"), [(52, 12, 14), (48, 12, 12), (120, 36, 24), (300, 5, 70)]
)
def test_a_horizon_as_long_as_the_holdout_leaves_rows_to_judge(rows: int, horizon: int, judged: int) -> None:
    frame = series(rows)
    requested = problem(frame, "sales", horizon=horizon)
    locked = split_holdout(frame, requested, seed=0)
    assert make_labels(locked.holdout, requested).notna().sum() == judged


def test_a_horizon_that_no_holdout_can_judge_is_refused() -> None:
    frame = series(46)
    with pytest.raises(InvalidInput) as refused:
        split_holdout(frame, problem(frame, "sales", horizon=20), seed=0)
    assert refused.value.code == "too_little_data"


def test_rows_before_a_gap_are_noted_and_have_no_label() -> None:
    frame = series(200).drop(index=[50, 51, 120]).reset_index(drop=True)
    requested = problem(frame, "sales", horizon=7)
    labels = make_labels(frame, requested)
    by_day = frame.set_index("day")["sales"]
    later = by_day.reindex(frame["day"] + pd.Timedelta(days=7))
    np.testing.assert_array_equal(labels, later)
    notes = split_holdout(frame, requested, seed=0).notes
    assert any("3 rows have no value 7 steps later" in note for note in notes)


def test_a_group_with_most_of_the_rows_stays_in_training() -> None:
    names = np.repeat(np.arange(40), 15)
    frame = houses(1500).assign(customer=np.append(np.full(900, 99), names))
    requested = problem(frame, "price", group_column="customer")
    for seed in range(5):
        locked = split_holdout(frame, requested, seed)
        assert 99 not in set(locked.holdout["customer"])
        assert any("60% of the rows belong to one customer, '99'" in note for note in locked.notes)


@pytest.mark.parametrize("late_from", [0, 400])
def test_late_columns_are_judged_on_whole_groups(late_from: int) -> None:
    frame = houses(800)
    frame["day"] = pd.Timestamp("2024-01-01")
    frame.loc[400:, "day"] = pd.Timestamp("2024-06-01")
    frame["late"] = np.where(frame.index >= 400, np.arange(800) % 7, np.nan)
    # With 0 every group has rows of both days, so that none can be held out as a whole.
    frame["customer"] = np.where(frame.index >= late_from, np.arange(800) % 100, 1000 + np.arange(800) % 50)
    ordered = replace(problem(frame, "price"), time_column="day", group_column="customer")
    late = find_unjudged_columns(frame, ordered, 0)
    assert (late is None) == (late_from == 0)
    if late is not None:
        locked = split_holdout(frame, replace(ordered, time_column=None), 0, late=late)
        assert not set(locked.holdout["customer"]) & set(locked.train["customer"])
        assert locked.holdout["late"].notna().all()
