from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from app.errors import InvalidInput
from app.reporting.figure_data import LabelledLine
from app.reporting.figures import evaluation, forecast, style
from app.reporting.figures.drawing import DRAWINGS, draw, write_figure

HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{a}{",
    "_hidden",
    "a\u202eb\x00\n",
    "价格",
    "",
    "x" * 500,
    "100%",
]
MOMENTS = ["2026-01-01T00:00:00", "2026-01-01T00:05:00", "2026-01-01T00:10:00"]
CURVE = [0.0, 0.25, 0.5, 1.0]
LINE = {"class": HOSTILE[0], "mean": CURVE, "low": CURVE, "high": [None, *CURVE[1:]]}

FACTS: dict[str, dict[str, Any]] = {
    "missing_values": {"rows": 90, "columns": [{"name": name, "missing": n} for n, name in enumerate(HOSTILE)]},
    "distributions": {
        "columns": [
            {"name": HOSTILE[0], "kind": "numeric", "edges": [0, 1, 2], "counts": [3, 4]},
            {"name": HOSTILE[1], "kind": "categorical", "labels": HOSTILE * 3, "counts": [1] * 24},
        ]
    },
    "target_by_feature": {
        "value_label": HOSTILE[0],
        "panels": [
            {"feature": HOSTILE[1], "labels": HOSTILE, "values": [0.1] * 8, "counts": [5] * 8},
            {"feature": HOSTILE[2], "labels": ["a"], "values": [None], "low": [None], "high": [None]},
        ],
    },
    "association": {"names": HOSTILE, "matrix": [[0.3] * 8] * 8},
    "leaderboard": {
        "metric": "ROC AUC",
        "greater_is_better": True,
        "entries": [
            {"name": HOSTILE[0], "mean": 0.8, "std": 0.1, "folds": [0.7, 0.9], "best": True},
            {"name": HOSTILE[1], "mean": 0.5, "std": 0.0, "folds": [], "baseline": True},
        ],
    },
    "roc": {"curves": [{"label": HOSTILE[1], "fpr": CURVE, "tpr": CURVE, "auc": 0.5}]},
    "precision_recall": {
        "curves": [{"label": HOSTILE[2], "recall": CURVE, "precision": CURVE, "average_precision": 0.5}],
        "prevalence": 0.3,
    },
    "confusion": {"labels": HOSTILE, "matrix": [[1] * 8] * 7 + [[0] * 8]},
    "calibration": {
        "curves": [{"label": HOSTILE[0], "predicted": CURVE, "observed": CURVE, "counts": [1, 2, 3, 4]}]
    },
    "predicted_vs_actual": {"actual": [1.0], "predicted": [1.0], "target": HOSTILE[1]},
    "residuals": {"predicted": [1.0, 2.0], "residuals": [0.0, 0.0], "target": HOSTILE[0]},
    "importances": {
        "metric": "RMSE",
        "features": [{"column": name, "mean": 0.1, "std": 0.2, "helps": False} for name in HOSTILE],
    },
    "dependence": {
        "answer": HOSTILE[1],
        "panels": [
            {"column": HOSTILE[0], "kind": "number", "at": CURVE, "lines": [LINE], "density": {}},
            {
                "column": HOSTILE[1],
                "kind": "category",
                "at": HOSTILE[:4],
                "lines": [LINE, {**LINE, "class": HOSTILE[3]}],
                "density": {"counts": [0, 1, 2, 3]},
            },
            {
                "column": HOSTILE[5],
                "kind": "datetime",
                "at": ["2026-01-01T00:00:00", "2026-01-02T00:00:00+01:00", "2026-02-01", "2026-03-01"],
                "lines": [LINE],
                "density": {},
            },
        ],
    },
    "contributions": {
        "features": [{"feature": name, "mean": 0.5} for name in HOSTILE],
        "values": [[0.1] * 8, [-0.5] * 8, [float(place) for place in range(8)]],
        "numbers": [[1.0] * 8, [float("nan")] * 8, [2.0] * 8],
        "member": HOSTILE[0],
        "answer": HOSTILE[1],
    },
    "segments": {
        "measure": HOSTILE[0],
        "is_share": True,
        "overall": 0.2,
        "segments": [
            {"column": name, "text": "is $x$ to _", "rows": 5, "error": 0.5, "low": None, "high": 0.9}
            for name in HOSTILE
        ],
    },
    "forecast": {
        "panels": [
            {
                "label": name,
                "times": MOMENTS,
                "values": [1.0, None, 2.0],
                "ahead": MOMENTS,
                "predictions": [2.0, 2.5, 3.0],
                "low": bounds and [1.0, 1.0, 1.0],
                "high": bounds and [3.0, 4.0, 5.0],
            }
            for name, bounds in ((HOSTILE[0], True), (None, None))
        ],
        "target": HOSTILE[1],
    },
    "error_by_step": {
        "steps": [1, 2],
        "lines": [{"label": HOSTILE[0], "values": [1.0, None]}, {"label": "last value", "values": [2.0, 3.0]}],
        "metric": HOSTILE[2],
    },
    "backtest_price": {"times": MOMENTS, "values": [1.0, None, 2.0], "label": HOSTILE[0]},
    "backtest_signal": {"times": MOMENTS, "positions": [1.0, 0.0, -1.0], "low": -1.0, "high": 1.0},
    "backtest_equity": {"times": MOMENTS, "curves": [{"label": HOSTILE[1], "values": [1.0, 1.1, 0.9]}] * 2},
    "backtest_drawdown": {"times": MOMENTS, "curves": [{"label": HOSTILE[2], "values": [0.0, 0.0, -0.1]}] * 2},
    "time_series": {
        "times": ["2026-01-01", "2026-01-02T12:00:00"],
        "series": [{"label": HOSTILE[2], "values": [1.0, None]}, {"label": "b", "values": [2.0, 3.0]}],
        "split_at": "2026-01-02",
        "value_label": HOSTILE[1],
    },
}


def test_every_figure_is_tried_here() -> None:
    assert set(FACTS) == set(DRAWINGS)


@pytest.mark.parametrize("kind", DRAWINGS)
def test_a_figure_takes_any_name_and_draws_the_same_bytes_again(kind: str) -> None:
    drawing = draw(kind, FACTS[kind])

    root = ElementTree.fromstring(drawing.svg.decode())
    assert root.tag.endswith("svg")
    assert not [node for node in root.iter() if node.tag.lower().endswith(("script", "foreignobject"))]
    assert b"http://localhost" not in drawing.svg
    assert drawing.png.startswith(b"\x89PNG")
    assert draw(kind, FACTS[kind]) == drawing


@pytest.mark.parametrize("label", ["a", "w" * 26])
def test_a_legend_covers_no_line(label: str) -> None:
    lines = [LabelledLine(f"{place}{label}", [1.0, 2.0]) for place in range(4)]
    with style.rc():
        figure = forecast.error_by_step([1, 2], lines, "RMSE")
        style.encode(figure)
        axes = figure.axes[0]
        legend = axes.get_legend()
        assert legend is not None
        box = legend.get_window_extent()

    assert box.y0 >= axes.get_window_extent().y1
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("kind", ["predicted_vs_actual", "residuals"])
def test_many_rows_stay_a_small_figure(kind: str) -> None:
    rows = np.random.default_rng(0).normal(size=(2, 20_000))
    names = ("actual", "predicted") if kind == "predicted_vs_actual" else ("predicted", "residuals")

    drawing = draw(kind, dict(zip(names, rows.tolist(), strict=True)))

    assert len(drawing.svg) < 500_000


def test_an_unknown_figure_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="'pie'"):
        draw("pie", {})


def test_a_figure_is_left_in_both_formats(tmp_path: Path) -> None:
    names = write_figure(tmp_path, "roc", draw("roc", FACTS["roc"]))

    assert names == ["roc.svg", "roc.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roc.png", "roc.svg"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("age", "age"),
        ("", "(empty)"),
        ("a\n b", "a b"),
        ("_x", " _x"),
        ("y" * 40, "y" * 25 + "…"),
        (3.5, "3.5"),
    ],
)
def test_a_label_is_one_short_printable_line(text: object, label: str) -> None:
    assert style.label(text) == label


def test_colours_differ_in_grey() -> None:
    def grey(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    blue, orange = grey(style.BLUE), grey(style.ORANGE)

    assert abs(blue - orange) > 60
    assert len({style.LINES[place] for place in range(4)}) == 4


def test_a_matrix_of_a_hundred_classes_shows_those_that_are_mistaken_most() -> None:
    counts = np.eye(100, dtype=int) * 7
    counts[97, 98] = 3

    drawn = evaluation.confusion([f"class {place}" for place in range(100)], counts.tolist())

    names = [text.get_text() for text in drawn.axes[0].get_xticklabels()]
    assert len(names) == evaluation.MAX_CLASSES
    assert {"class 97", "class 98"} <= set(names)
    assert len(drawn.axes[0].texts) == evaluation.MAX_CLASSES + 1, "only cells with rows are numbered"


def test_ticks_have_a_minus_sign_whatever_their_size() -> None:
    with style.rc():
        axes = style.canvas(3, 3).subplots()
        style.plain_ticks(axes, "x")
    texts = [axes.xaxis.get_major_formatter()(value, 0) for value in (-2.5, -2500.0, -25_000.0, -2.5e9)]
    assert texts == ["\N{MINUS SIGN}2.5", "\N{MINUS SIGN}2,500", "\N{MINUS SIGN}25k", "\N{MINUS SIGN}2.5B"]
