"""Figures of a comparison, an evaluation and importances, out of their facts."""

from collections.abc import Mapping
from typing import Any

from app.computations.bench import Bench
from app.modeling.results import ComparisonFacts, EvaluationFacts, ImportanceFacts
from app.reporting.figures.drawing import draw, leave

Picture = tuple[str, str, dict[str, Any]]
"""Kind of the figure (and its file's name), title, facts as `reporting.figures` takes them."""


def leave_pictures(bench: Bench, pictures: list[Picture]) -> list[dict[str, str]]:
    """Draw them into the output; `[{"file", "title"}]` of each SVG (a PNG lies beside it)."""
    left = []
    for kind, title, facts in pictures:
        svg, _ = leave(bench.output, kind, draw(kind, facts))
        left.append({"file": svg, "title": title})
    return left


def evaluation_pictures(facts: EvaluationFacts, problem: Mapping[str, Any]) -> list[Picture]:
    name = facts["model"] or "model"
    pictures: list[Picture] = []
    if facts["roc"]:
        curve = {"label": name, "fpr": facts["roc"]["x"], "tpr": facts["roc"]["y"]}
        area = facts["metrics"]["roc_auc"]["value"]
        pictures.append(("roc", "ROC curve", {"curves": [{**curve, "auc": area}]}))
    if facts["precision_recall"]:
        curve = {
            "label": name,
            "recall": facts["precision_recall"]["x"],
            "precision": facts["precision_recall"]["y"],
        }
        precision = facts["metrics"]["average_precision"]["value"]
        entry = {**curve, "average_precision": precision}
        pictures.append(
            (
                "precision_recall",
                "Precision and recall",
                {"curves": [entry], "prevalence": _prevalence(facts, problem)},
            )
        )
    if facts["confusion"]:
        confusion = {"labels": facts["confusion"]["labels"], "matrix": facts["confusion"]["counts"]}
        pictures.append(("confusion", "Confusion", confusion))
    if facts["calibration"]:
        bins = facts["calibration"]["bins"]
        curve = {key: [part[key] for part in bins] for key in ("predicted", "observed")}
        entry = {"label": name, **curve, "counts": [part["count"] for part in bins]}
        pictures.append(("calibration", "Calibration", {"curves": [entry]}))
    if facts["residuals"]:
        pictures += _residual_pictures(facts["residuals"]["points"], str(problem["target"]))
    return pictures


def _prevalence(facts: EvaluationFacts, problem: Mapping[str, Any]) -> float:
    rows = {str(entry["class"]): entry["rows"] for entry in facts["per_class"]}
    return float(rows.get(str(problem["positive_class"]), 0)) / max(facts["rows"], 1)


def _residual_pictures(points: list[dict[str, float]], target: str) -> list[Picture]:
    truth = [point["truth"] for point in points]
    said = [point["prediction"] for point in points]
    errors = [prediction - actual for prediction, actual in zip(said, truth, strict=True)]
    return [
        ("predicted_vs_actual", "Predicted and actual", {"actual": truth, "predicted": said, "target": target}),
        ("residuals", "Residuals", {"predicted": said, "residuals": errors, "target": target}),
    ]


def comparison_pictures(facts: ComparisonFacts, fits: list[dict[str, Any]]) -> list[Picture]:
    by_name = {fit["name"]: fit for fit in fits}
    entries = [
        {
            "name": row["name"],
            "mean": row["score"],
            "std": row["std"] or 0.0,
            "folds": [score for score in by_name[row["name"]]["fold_scores"] if score is not None],
            "baseline": row["name"] == facts["baseline"],
            "best": row["name"] == facts["chosen"],
        }
        for row in facts["leaderboard"]
    ]
    given = {"metric": facts["metric"], "greater_is_better": facts["greater_is_better"], "entries": entries}
    return [("leaderboard", "Candidates compared", given)]


def importance_pictures(facts: ImportanceFacts) -> list[Picture]:
    if not facts["importances"]:
        return []
    features = [
        {"column": entry["column"], "mean": entry["mean"], "std": entry["std"]}
        for entry in facts["importances"][:20]
    ]
    return [("importances", "Importance of columns", {"metric": facts["metric"], "features": features})]
