import pandas as pd
from benchmarks.quality.tables.splits import group_split, latest_split, random_split


def test_a_random_split_keeps_the_share_of_every_class() -> None:
    frame = pd.DataFrame({"x": range(100), "y": ["rare"] * 10 + ["often"] * 90})
    train, test = random_split(0.3, strata="y").make(frame)
    assert sorted([*train["x"], *test["x"]]) == list(range(100))
    assert (test["y"] == "rare").sum() == 3


def test_no_moment_is_on_both_sides_of_a_split_in_time() -> None:
    frame = pd.DataFrame({"day": sorted(range(10), reverse=True) * 3})
    train, test = latest_split("day", 0.25).make(frame)
    assert train["day"].max() < test["day"].min()
    assert len(train) + len(test) == 30


def test_no_group_is_on_both_sides() -> None:
    frame = pd.DataFrame({"who": list(range(10)) * 3})
    train, test = group_split("who", 0.3).make(frame)
    assert not set(train["who"]) & set(test["who"])
    assert test["who"].nunique() == 3
