"""Choice of figures for a result, with the arguments of each drawing. Nothing is drawn here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.reporting.metrics import describe_metric

Facts = Mapping[str, Any]

_MAX_CANDIDATES = 14
"""Rows of the leaderboard figure: more do not fit a page."""
_ANSWERS = {
    "target": "predicted {target}",
    "log_target": "the logarithm of predicted {target}",
    "log_odds": "the log-odds of {target} = {of_class}",
}


@dataclass(frozen=True)
class Drawable:
    """`kind` is a kind of `figures.drawing` and the name of the file; `facts` are what it takes."""

    kind: str
    facts: dict[str, Any]


def comparison_figures(facts: Facts, fits: Sequence[Facts]) -> list[Drawable]:
    """Draw the best candidates and always the baseline, with fold scores; skip candidates without a score."""
    folds = {fit["name"]: fit["fold_scores"] for fit in fits}
    scored = [row for row in facts["leaderboard"] if row["score"] is not None]
    drawn_rows = scored[:_MAX_CANDIDATES]
    drawn_rows += [row for row in scored[_MAX_CANDIDATES:] if row["name"] == facts["baseline"]]
    entries = [
        {
            "name": row["name"],
            "mean": row["score"],
            "std": row["std"] or 0.0,
            "folds": [score for score in folds.get(row["name"], ()) if score is not None],
            "baseline": row["name"] == facts["baseline"],
            "best": row["name"] == facts["chosen"],
        }
        for row in drawn_rows
    ]
    metric = describe_metric(facts["metric"])
    arguments = {"metric": metric.label, "greater_is_better": metric.greater_is_better, "entries": entries}
    return [Drawable("leaderboard", arguments)] if entries else []


def importance_figures(facts: Facts) -> list[Drawable]:
    features = [dict(entry) for entry in facts["importances"]]
    arguments = {"metric": describe_metric(facts["metric"]).label, "features": features}
    return [Drawable("importances", arguments)] if features else []


def explanation_figures(
    facts: Facts, target: str, points: tuple[Sequence[Any], Sequence[Any]] | None = None
) -> list[Drawable]:
    """`points`: what each feature added in each row, and the feature there, as `Contributions` have them."""
    return [
        *importance_figures(facts),
        *_dependence(facts, target),
        *_contributions(facts, target, points),
        *_segments(facts, target),
    ]


def evaluation_figures(facts: Facts, target: str) -> list[Drawable]:
    """Draw the curves and matrices of a classification or the errors of a regression, as far as measured."""
    label = str(facts.get("model") or "model")
    return [
        *_roc(facts, label),
        *_precision_recall(facts, label),
        *_confusion(facts),
        *_calibration(facts, label),
        *_residuals(facts, target),
        *_error_by_step(facts, label),
    ]


def forecast_figures(panels: Sequence[Facts], target: str) -> list[Drawable]:
    """`panels`: as `figures.forecast.future` takes them."""
    drawn_panels = [dict(panel) for panel in panels if len(panel["times"]) > 1]
    return [Drawable("forecast", {"panels": drawn_panels, "target": target})] if drawn_panels else []


def backtest_figures(facts: Facts, target: str) -> list[Drawable]:
    """Draw price, position, equity and drawdown, the latter two beside buying and holding."""
    curve, terms = facts["curve"], facts["terms"]
    several = len(facts["coins"]) > 1
    label = "mean of the coins, from 1" if several else f"{' '.join(facts['coins'])} {target}".strip()
    grown, fallen = (("equity", "hold"), ("drawdown", "hold_drawdown"))
    names = ("strategy", "buy and hold")
    return [
        Drawable("backtest_price", {"times": curve["times"], "values": curve["price"], "label": label}),
        Drawable(
            "backtest_signal",
            {
                "times": curve["times"],
                "positions": curve["position"],
                "low": terms["low"],
                "high": terms["high"],
            },
        ),
        *(
            Drawable(kind, {"times": curve["times"], "curves": _curves(names, curve, keys)})
            for kind, keys in (("backtest_equity", grown), ("backtest_drawdown", fallen))
        ),
    ]


def _curves(names: Sequence[str], curve: Facts, keys: Sequence[str]) -> list[dict[str, Any]]:
    return [{"label": name, "values": curve[key]} for name, key in zip(names, keys, strict=True)]


def _value(facts: Facts, metric: str) -> float | None:
    value: float | None = (facts["metrics"].get(metric) or {}).get("value")
    return value


def _roc(facts: Facts, label: str) -> list[Drawable]:
    curve, area = facts.get("roc"), _value(facts, "roc_auc")
    if not curve or area is None:
        return []
    return [Drawable("roc", {"curves": [{"label": label, "fpr": curve["x"], "tpr": curve["y"], "auc": area}]})]


def _precision_recall(facts: Facts, label: str) -> list[Drawable]:
    curve, area = facts.get("precision_recall"), _value(facts, "average_precision")
    if not curve or area is None:
        return []
    drawn_curve = {"label": label, "recall": curve["x"], "precision": curve["y"], "average_precision": area}
    # Random guessing has the share of positives as its average precision.
    prevalence = (facts.get("baseline") or {}).get("average_precision")
    return [Drawable("precision_recall", {"curves": [drawn_curve], "prevalence": prevalence})]


def _confusion(facts: Facts) -> list[Drawable]:
    confusion = facts.get("confusion")
    return (
        [Drawable("confusion", {"labels": confusion["labels"], "matrix": confusion["counts"]})]
        if confusion
        else []
    )


def _calibration(facts: Facts, label: str) -> list[Drawable]:
    bins = (facts.get("calibration") or {}).get("bins")
    if not bins:
        return []
    columns = {name: [part[name] for part in bins] for name in ("predicted", "observed")}
    counts = [part["count"] for part in bins]
    return [Drawable("calibration", {"curves": [{"label": label, **columns, "counts": counts}]})]


def _residuals(facts: Facts, target: str) -> list[Drawable]:
    points = (facts.get("residuals") or {}).get("points")
    if not points:
        return []
    actual = [point["truth"] for point in points]
    predicted = [point["prediction"] for point in points]
    errors = [truth - guess for truth, guess in zip(actual, predicted, strict=True)]
    return [
        Drawable("predicted_vs_actual", {"actual": actual, "predicted": predicted, "target": target}),
        Drawable("residuals", {"predicted": predicted, "residuals": errors, "target": target}),
    ]


_MAX_LINES = 4
"""Lines in one plot: the palette has four colours that are safe for colour-blind readers."""


def _error_by_step(facts: Facts, label: str) -> list[Drawable]:
    scored_steps = [step for step in facts.get("by_step") or () if step["score"] is not None]
    if len(scored_steps) < 2:
        return []
    names = [name for name in scored_steps[0]["references"] if name != "drift"][: _MAX_LINES - 1]
    lines = [{"label": label, "values": [step["score"] for step in scored_steps]}]
    lines += [
        {"label": name, "values": [step["references"].get(name) for step in scored_steps]} for name in names
    ]
    steps = [step["rows_ahead"] for step in scored_steps]
    metric = describe_metric(facts["metric"]).label
    return [Drawable("error_by_step", {"steps": steps, "lines": lines, "metric": metric})]


def _dependence(facts: Facts, target: str) -> list[Drawable]:
    panels = facts.get("dependence") or ()
    of_class = next((line["class"] for panel in panels for line in panel["lines"]), None)
    several = any(len(panel["lines"]) > 1 for panel in panels)
    label = f"Predicted {target}" if of_class is None else "Predicted probability"
    if of_class is not None and not several:
        label += f" of {target} = {of_class}"
    return [Drawable("dependence", {"answer": label, "panels": panels})] if panels else []


def _contributions(
    facts: Facts, target: str, points: tuple[Sequence[Any], Sequence[Any]] | None
) -> list[Drawable]:
    contributions = facts.get("contributions")
    if not contributions or not contributions["features"] or points is None:
        return []
    values, numbers = points
    answer = _ANSWERS[contributions["unit"]].format(target=target, of_class=contributions["of_class"])
    arguments = {"features": contributions["features"], "values": values, "numbers": numbers}
    return [Drawable("contributions", {**arguments, "member": contributions["member"], "answer": answer})]


def _segments(facts: Facts, target: str) -> list[Drawable]:
    segments = facts.get("segments")
    if not segments or not segments["worst"]:
        return []
    is_share = segments["measure"] == "wrong"
    measure = "Share of rows predicted wrong" if is_share else f"Mean absolute error of {target}"
    arguments = {
        "measure": measure,
        "is_share": is_share,
        "overall": segments["overall"],
        "segments": segments["worst"],
    }
    return [Drawable("segments", arguments)]
