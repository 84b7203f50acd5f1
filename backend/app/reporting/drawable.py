"""Which figures the recorded facts allow, and the facts that each is drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.reporting.evidence import Fact
from app.reporting.found import Found
from app.reporting.metrics import metric_of

_MOST_CANDIDATES = 14


@dataclass(frozen=True)
class Drawable:
    """`name` is also the kind of figure; `source` is the recorded fact that it shows."""

    name: str
    facts: dict[str, Any]
    source: Fact


def drawables(found: Found) -> list[Drawable]:
    """In the order of the report; what was not recorded is left out."""
    made = [_leaderboard(found), *_evaluation(found), _importances(found)]
    return [drawable for drawable in made if drawable]


def _leaderboard(found: Found) -> Drawable | None:
    """The best candidates and always the baseline, with their folds."""
    comparison = found.comparison
    board = comparison.at("leaderboard") if comparison else None
    if comparison is None or board is None:
        return None
    baseline, chosen = comparison.text("baseline"), comparison.text("chosen")
    entries = [_candidate(found, entry, baseline, chosen) for entry in board.items()]
    known = [entry for entry in entries if entry]
    shown = known[:_MOST_CANDIDATES] + [e for e in known[_MOST_CANDIDATES:] if e["baseline"]]
    facts = {
        "metric": metric_of(found.metric).label,
        "greater_is_better": metric_of(found.metric).greater_is_better,
        "entries": shown,
    }
    return Drawable("leaderboard", facts, comparison) if shown else None


def _candidate(found: Found, entry: Fact, baseline: str, chosen: str) -> dict[str, Any] | None:
    name, fit = entry.text("name"), found.fit_of(entry.text("name"))
    score = entry.at("score")
    if score is None:
        return None
    folds = fit.at("fold_scores") if fit else None
    return {
        "name": name,
        "mean": score.value,
        "std": entry.value.get("std") or 0.0,
        "folds": [fold.value for fold in folds.items()] if folds else [],
        "baseline": name == baseline,
        "best": name == chosen,
    }


def _evaluation(found: Found) -> list[Drawable | None]:
    final = found.final
    if final is None:
        return []
    label = str(found.chosen.value) if found.chosen else "model"
    target = found.problem.text("target") if found.problem else ""
    return [
        _roc(final, label),
        _precision_recall(final, label),
        _confusion(final),
        _calibration(final, label),
        *_residuals(final, target),
    ]


def _roc(final: Fact, label: str) -> Drawable | None:
    curve, area = final.at("roc"), final.at("metrics", "roc_auc", "value")
    if curve is None or area is None:
        return None
    drawn = {"label": label, "fpr": curve.value["x"], "tpr": curve.value["y"], "auc": area.value}
    return Drawable("roc", {"curves": [drawn]}, curve)


def _precision_recall(final: Fact, label: str) -> Drawable | None:
    curve, area = final.at("precision_recall"), final.at("metrics", "average_precision", "value")
    if curve is None or area is None:
        return None
    drawn = {
        "label": label,
        "recall": curve.value["x"],
        "precision": curve.value["y"],
        "average_precision": area.value,
    }
    prevalence = final.at("baseline", "average_precision")
    facts = {"curves": [drawn], "prevalence": prevalence.value if prevalence else None}
    return Drawable("precision_recall", facts, curve)


def _confusion(final: Fact) -> Drawable | None:
    fact = final.at("confusion")
    if fact is None:
        return None
    return Drawable("confusion", {"labels": fact.value["labels"], "matrix": fact.value["counts"]}, fact)


def _calibration(final: Fact, label: str) -> Drawable | None:
    bins = final.at("calibration", "bins")
    if bins is None:
        return None
    columns: dict[str, Sequence[Any]] = {
        name: [part[key] for part in bins.value]
        for name, key in (("predicted", "predicted"), ("observed", "observed"), ("counts", "count"))
    }
    return Drawable("calibration", {"curves": [{"label": label, **columns}]}, bins)


def _residuals(final: Fact, target: str) -> list[Drawable]:
    points = final.at("residuals", "points")
    if points is None or not points.items():
        return []
    actual = [point["truth"] for point in points.value]
    predicted = [point["prediction"] for point in points.value]
    errors = [truth - guess for truth, guess in zip(actual, predicted, strict=True)]
    return [
        Drawable("predicted_vs_actual", {"actual": actual, "predicted": predicted, "target": target}, points),
        Drawable("residuals", {"predicted": predicted, "residuals": errors, "target": target}, points),
    ]


def _importances(found: Found) -> Drawable | None:
    ranked = found.importance.at("importances") if found.importance else None
    if ranked is None or not ranked.items():
        return None
    metric = metric_of(found.importance.text("metric") if found.importance else "").label
    return Drawable("importances", {"metric": metric, "features": ranked.value}, ranked)
