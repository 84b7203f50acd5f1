"""Choice of figures for a result, with the arguments of each drawing. Nothing is drawn here."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.modeling.facts.conversion import parse_facts
from app.reporting.class_names import name_classes
from app.reporting.fact_records import (
    BacktestCurve,
    CandidateRow,
    ComparisonRecord,
    DrawnBacktest,
    DrawnEvaluation,
    DrawnExplanation,
    FitRecord,
    ImportanceRecord,
)
from app.reporting.figure_data import (
    CalibrationCurve,
    Drawable,
    DrawnCandidate,
    ForecastPanel,
    LabelledLine,
    PrecisionRecallCurve,
    RocCurve,
)
from app.reporting.metrics import describe_metric

Facts = Mapping[str, Any]
"""The facts of a computation, as `modeling.facts.computation_facts` describes them."""

_MAX_CANDIDATES = 14
"""Rows of the leaderboard figure: more do not fit a page."""
_MAX_LINES = 4
"""Lines in one plot: the palette has four colours that are safe for colour-blind readers."""
_ANSWERS = {
    "target": "predicted {target}",
    "log_target": "the logarithm of predicted {target}",
    "log_odds": "the log-odds of {target} = {of_class}",
}


def comparison_figures(facts: Facts, fits: Sequence[Facts]) -> list[Drawable]:
    """Draw the best candidates and always the baseline, with fold scores; skip those that were not compared."""
    comparison = parse_facts(ComparisonRecord, facts)
    parts = [parse_facts(FitRecord, fit) for fit in fits]
    folds = {part.name: [score for score in part.fold_scores if score is not None] for part in parts}
    scored = [row for row in comparison.leaderboard if row.score is not None and row.is_compared]
    drawn_rows = scored[:_MAX_CANDIDATES]
    # Without the baseline nothing tells whether the scores are good.
    drawn_rows += [row for row in scored[_MAX_CANDIDATES:] if row.name == comparison.baseline]
    entries = [_entry(row, comparison, folds.get(row.name, ())) for row in drawn_rows]
    metric = describe_metric(comparison.metric)
    arguments = {"metric": metric.label, "greater_is_better": metric.greater_is_better, "entries": entries}
    return [Drawable("leaderboard", arguments)] if entries else []


def _entry(row: CandidateRow, comparison: ComparisonRecord, folds: Sequence[float]) -> DrawnCandidate:
    return DrawnCandidate(
        name=row.name,
        mean=row.score or 0.0,
        std=row.std or 0.0,
        folds=folds,
        baseline=row.name == comparison.baseline,
        best=row.name == comparison.chosen_name,
    )


def importance_figures(facts: Facts) -> list[Drawable]:
    return _importances(parse_facts(ImportanceRecord, facts))


def explanation_figures(
    facts: Facts, target: str, points: tuple[Sequence[Any], Sequence[Any]] | None = None
) -> list[Drawable]:
    """`points`: what each feature added in each row, and the feature there, as `Contributions` have them."""
    explanation = parse_facts(DrawnExplanation, facts)
    return [
        *_importances(explanation),
        *_dependence(explanation, target),
        *_contributions(explanation, target, points),
        *_segments(explanation, target),
    ]


def evaluation_figures(facts: Facts, target: str) -> list[Drawable]:
    """Draw the curves and matrices of a classification or the errors of a regression, as far as measured."""
    evaluation = parse_facts(DrawnEvaluation, facts)
    label = evaluation.model or "model"
    return [
        *_roc(evaluation, label),
        *_precision_recall(evaluation, label),
        *_confusion(evaluation, target),
        *_calibration(evaluation, label),
        *_residuals(evaluation, target),
        *_error_by_step(evaluation, label),
    ]


def forecast_figures(panels: Sequence[Facts], target: str) -> list[Drawable]:
    """`panels`: as `ForecastPanel`; series of a single known value are not drawn."""
    drawn_panels = [panel for facts in panels if len((panel := parse_facts(ForecastPanel, facts)).times) > 1]
    return [Drawable("forecast", {"panels": drawn_panels, "target": target})] if drawn_panels else []


def backtest_figures(facts: Facts, target: str) -> list[Drawable]:
    """Draw price, position, equity and drawdown, the latter two beside buying and holding."""
    backtest = parse_facts(DrawnBacktest, facts)
    curve, limits = backtest.curve, backtest.terms
    several = len(backtest.coins) > 1
    label = "mean of the coins, from 1" if several else f"{' '.join(backtest.coins)} {target}".strip()
    signal = {"positions": curve.position, "low": limits.low, "high": limits.high}
    return [
        Drawable("backtest_price", {"times": curve.times, "values": curve.price, "label": label}),
        Drawable("backtest_signal", {"times": curve.times, **signal}),
        Drawable("backtest_equity", _beside_holding(curve, curve.equity, curve.hold)),
        Drawable("backtest_drawdown", _beside_holding(curve, curve.drawdown, curve.hold_drawdown)),
    ]


def _beside_holding(
    curve: BacktestCurve, strategy: Sequence[float | None], hold: Sequence[float | None]
) -> dict[str, Any]:
    curves = [LabelledLine("strategy", strategy), LabelledLine("buy and hold", hold)]
    return {"times": curve.times, "curves": curves}


def _importances(facts: ImportanceRecord | DrawnExplanation) -> list[Drawable]:
    arguments = {"metric": describe_metric(facts.metric).label, "features": facts.importances}
    return [Drawable("importances", arguments)] if facts.importances else []


def _roc(evaluation: DrawnEvaluation, label: str) -> list[Drawable]:
    curve, area = evaluation.roc, evaluation.score("roc_auc").value
    if curve is None or area is None:
        return []
    return [Drawable("roc", {"curves": [RocCurve(label, fpr=curve.x, tpr=curve.y, auc=area)]})]


def _precision_recall(evaluation: DrawnEvaluation, label: str) -> list[Drawable]:
    curve, area = evaluation.precision_recall, evaluation.score("average_precision").value
    if curve is None or area is None:
        return []
    drawn_curve = PrecisionRecallCurve(label, recall=curve.x, precision=curve.y, average_precision=area)
    # Random guessing has the share of positives as its average precision.
    prevalence = (evaluation.baseline or {}).get("average_precision")
    return [Drawable("precision_recall", {"curves": [drawn_curve], "prevalence": prevalence})]


def _confusion(evaluation: DrawnEvaluation, target: str) -> list[Drawable]:
    confusion = evaluation.confusion
    labels = name_classes([*confusion.labels], target) if confusion else []
    return [Drawable("confusion", {"labels": labels, "matrix": confusion.counts})] if confusion else []


def _calibration(evaluation: DrawnEvaluation, label: str) -> list[Drawable]:
    bins = evaluation.calibration.bins if evaluation.calibration else None
    if not bins:
        return []
    curve = CalibrationCurve(
        label,
        predicted=[part.predicted for part in bins],
        observed=[part.observed for part in bins],
        counts=[part.count for part in bins],
    )
    return [Drawable("calibration", {"curves": [curve]})]


def _residuals(evaluation: DrawnEvaluation, target: str) -> list[Drawable]:
    points = evaluation.residuals.points if evaluation.residuals else None
    if not points:
        return []
    actual = [point.truth for point in points]
    predicted = [point.prediction for point in points]
    errors = [point.truth - point.prediction for point in points]
    return [
        Drawable("predicted_vs_actual", {"actual": actual, "predicted": predicted, "target": target}),
        Drawable("residuals", {"predicted": predicted, "residuals": errors, "target": target}),
    ]


def _error_by_step(evaluation: DrawnEvaluation, label: str) -> list[Drawable]:
    scored_steps = [step for step in evaluation.by_step or () if step.score is not None]
    if len(scored_steps) < 2:
        return []
    # Drift differs little from the naive forecast, and would take one of the four lines.
    names = [name for name in scored_steps[0].references if name != "drift"][: _MAX_LINES - 1]
    lines = [LabelledLine(label, [step.score for step in scored_steps])]
    lines += [LabelledLine(name, [step.references.get(name) for step in scored_steps]) for name in names]
    steps = [step.rows_ahead for step in scored_steps]
    metric = describe_metric(evaluation.metric).label
    return [Drawable("error_by_step", {"steps": steps, "lines": lines, "metric": metric})]


def _dependence(explanation: DrawnExplanation, target: str) -> list[Drawable]:
    panels = explanation.dependence or ()
    of_class = next((line.of_class for panel in panels for line in panel.lines), None)
    several = any(len(panel.lines) > 1 for panel in panels)
    label = f"Predicted {target}" if of_class is None else "Predicted probability"
    # With several classes each line has its class in the legend.
    if of_class is not None and not several:
        label += f" of {target} = {of_class}"
    return [Drawable("dependence", {"answer": label, "panels": panels})] if panels else []


def _contributions(
    explanation: DrawnExplanation, target: str, points: tuple[Sequence[Any], Sequence[Any]] | None
) -> list[Drawable]:
    contributions = explanation.contributions
    if contributions is None or not contributions.features or points is None:
        return []
    values, numbers = points
    answer = _ANSWERS[contributions.unit].format(target=target, of_class=contributions.of_class)
    arguments = {"features": contributions.features, "values": values, "numbers": numbers}
    return [Drawable("contributions", {**arguments, "member": contributions.member, "answer": answer})]


def _segments(explanation: DrawnExplanation, target: str) -> list[Drawable]:
    segments = explanation.segments
    if segments is None or not segments.worst:
        return []
    is_share = segments.measure == "wrong"
    measure = "Share of rows predicted wrong" if is_share else f"Mean absolute error of {target}"
    arguments = {
        "measure": measure,
        "is_share": is_share,
        "overall": segments.overall,
        "segments": segments.worst,
    }
    return [Drawable("segments", arguments)]
