from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.computations.preparation.overview import _select_columns, draw_figures


def names(left: list[dict[str, str]]) -> list[str]:
    return [entry["file"] for entry in left]


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = 200
    return pd.DataFrame(
        {
            "amount": rng.normal(size=rows) * 1e6,
            "kind": rng.choice(["a", "b", "<c>"], rows),
            "label": rng.integers(0, 2, rows),
            "name": [f"person {n}" for n in range(rows)],
            "gaps": np.where(rng.random(rows) < 0.5, np.nan, 1.0),
            "empty": np.nan,
            "constant": 3,
            "flag": rng.random(rows) < 0.5,
            "day": pd.date_range("2026-01-01", periods=rows),
        }
    )


def test_a_classification_gets_its_overview(frame: pd.DataFrame, tmp_path: Path) -> None:
    problem = {"target": "label", "classes": [0, 1], "positive_class": 1}

    left = draw_figures(tmp_path, frame, problem)

    assert names(left) == [
        "target_by_feature.svg",
        "distributions.svg",
        "missing_values.svg",
        "association.svg",
    ]
    assert all((tmp_path / name).with_suffix(".png").exists() for name in names(left))


def test_a_series_is_drawn_over_time(frame: pd.DataFrame, tmp_path: Path) -> None:
    problem = {"target": "amount", "classes": None, "time_column": "day", "horizon": 1}

    left = draw_figures(tmp_path, frame, problem)

    assert "time_series.svg" in names(left)
    assert "target_by_feature.svg" not in names(left)


@pytest.mark.parametrize("classes", [["x", "y", "z"], None])
def test_a_frame_with_nothing_to_draw_draws_nothing(classes: list[str] | None, tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": pd.Series([], dtype="float64"), "d": pd.Series([], dtype="datetime64[ns]")})

    assert draw_figures(tmp_path, frame, {"target": "t", "classes": classes}) == []


def test_text_infinities_and_booleans_do_no_harm(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "t": [True, False] * 20,
            "inf": [np.inf, 1.0, 2.0, -np.inf] * 10,
            "big": range(40),
            "text": pd.array(["a", None] * 20, dtype="string"),
        }
    )

    left = draw_figures(tmp_path, frame, {"target": "t", "classes": [False, True], "positive_class": True})

    assert "association.svg" in names(left)


def test_a_wide_frame_is_drawn_from_its_most_related_columns():
    frame = pd.DataFrame({f"x{i}": range(40) for i in range(200)} | {"y": [0, 1] * 20})
    told = _select_columns(frame, "y", {f"x{i}": 0.5 + i / 1000 for i in range(200)})
    assert told == [f"x{i}" for i in range(171, 200)] + ["y"]
