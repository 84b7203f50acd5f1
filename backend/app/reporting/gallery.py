"""The figures of a report: title, caption, and the only tool whose drawing is accepted."""

from dataclasses import dataclass

from app.reporting.document.elements import Picture


@dataclass(frozen=True)
class FigureKind:
    """`tool`: the only one whose figure of this name is shown. `wide`: fills the page's width."""

    title: str
    caption: str
    tool: str
    wide: bool = True


@dataclass(frozen=True)
class FigureRef:
    """A figure artifact: its file's name without suffix, the digest of its SVG, the call that drew it."""

    name: str
    digest: str
    step: int
    call: str


_EDA, _FINAL, _EXPLAIN = "perform_eda", "final_evaluation", "explain_model"
_BACKTEST = "backtest_model"

GALLERY: dict[str, FigureKind] = {
    "answer_chart": FigureKind("Chart", "The chart that the question asks for.", "draw_answer"),
    "missing_values": FigureKind(
        "Missing values", "Share of missing values by column, in the training rows.", _EDA
    ),
    "distributions": FigureKind(
        "Distributions", "How the values of each column are distributed, in the training rows.", _EDA
    ),
    "target_by_feature": FigureKind(
        "Target by feature", "How the target moves with each column, in the training rows.", _EDA
    ),
    "association": FigureKind(
        "Association between columns", "How strongly columns go together, in the training rows.", _EDA
    ),
    "time_series": FigureKind("Over time", "The target over time, in the training rows.", _EDA),
    "leaderboard": FigureKind(
        "Candidates compared", "Every candidate's score on each fold beside the baseline.", "compare_models"
    ),
    "roc": FigureKind(
        "ROC curve",
        "Hold-out rows: the closer to the upper left corner, the better positives are ranked.",
        _FINAL,
        wide=False,
    ),
    "precision_recall": FigureKind(
        "Precision and recall",
        "Hold-out rows: what finding more positives costs in precision.",
        _FINAL,
        wide=False,
    ),
    "confusion": FigureKind(
        "Confusion matrix", "Hold-out rows: which classes are taken for which.", _FINAL, wide=False
    ),
    "calibration": FigureKind(
        "Calibration",
        "Hold-out rows: on the diagonal, a predicted probability means what it says.",
        _FINAL,
        wide=False,
    ),
    "predicted_vs_actual": FigureKind(
        "Predicted against actual",
        "Hold-out rows: the closer to the line, the better.",
        _FINAL,
        wide=False,
    ),
    "residuals": FigureKind(
        "Residuals",
        "Hold-out rows: errors should scatter around zero without a pattern.",
        _FINAL,
        wide=False,
    ),
    "importances": FigureKind(
        "Permutation importance",
        "Loss of score when a column is shuffled; grey bars are not significantly above zero.",
        _EXPLAIN,
    ),
    "dependence": FigureKind(
        "Partial dependence",
        "The prediction when one column is set to a value in all rows; band: most rows; bars: where rows are.",
        _EXPLAIN,
    ),
    "contributions": FigureKind(
        "What each feature adds",
        "SHAP values of one tree model: a dot is a row, dark where the feature is high.",
        _EXPLAIN,
    ),
    "segments": FigureKind(
        "Segments with most error",
        "Parts of the hold-out with more error than the rest, beyond chance; dashed: all rows.",
        _EXPLAIN,
    ),
    "forecast": FigureKind(
        "Forecast", "Values up to the last row, then forecasts with their interval.", "forecast_future"
    ),
    "error_by_step": FigureKind(
        "Error by step",
        "Hold-out rows: error by number of rows ahead, beside forecasts that need no model.",
        _FINAL,
    ),
    "backtest_price": FigureKind("Price", "The price over the hold-out.", _BACKTEST),
    "backtest_signal": FigureKind(
        "Signal", "The strategy's position over the hold-out: above zero long, below zero short.", _BACKTEST
    ),
    "backtest_equity": FigureKind(
        "Equity", "Growth of one unit of capital after costs, beside buying and holding.", _BACKTEST
    ),
    "backtest_drawdown": FigureKind("Drawdown", "Loss of capital since its highest point so far.", _BACKTEST),
}


def make_picture(figure: FigureRef) -> Picture:
    kind = GALLERY[figure.name]
    return Picture(figure.name, kind.title, kind.caption, figure.digest, figure.step, figure.call, kind.wide)
