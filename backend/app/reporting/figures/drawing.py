"""Figures by name: a kind and its facts in, SVG and PNG out."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from app.errors import InvalidInput
from app.modeling.facts.conversion import call_with_facts
from app.reporting.figures import eda, evaluation, explanation, forecast, markets, series, style
from app.reporting.figures.style import Drawing

DRAWINGS: dict[str, Callable[..., Figure]] = {
    "missing_values": eda.missing_values,
    "distributions": eda.distributions,
    "target_by_feature": eda.target_by_feature,
    "association": eda.association,
    "leaderboard": evaluation.leaderboard,
    "roc": evaluation.roc,
    "precision_recall": evaluation.precision_recall,
    "confusion": evaluation.confusion,
    "calibration": evaluation.calibration,
    "predicted_vs_actual": evaluation.predicted_vs_actual,
    "residuals": evaluation.residuals,
    "importances": explanation.importances,
    "dependence": explanation.dependence,
    "contributions": explanation.contributions,
    "segments": explanation.segments,
    "time_series": series.time_series,
    "forecast": forecast.forecast,
    "error_by_step": forecast.error_by_step,
    "backtest_price": markets.price,
    "backtest_signal": markets.signal,
    "backtest_equity": markets.equity,
    "backtest_drawdown": markets.drawdown,
}


def draw(kind: str, facts: Mapping[str, Any]) -> Drawing:
    """Draw one figure of arguments, as JSON or as `figure_data`. Raises InvalidInput for an unknown kind."""
    if kind not in DRAWINGS:
        raise InvalidInput("figure_unknown", f"There is no figure {kind!r}; choose from {', '.join(DRAWINGS)}.")
    with style.rc():
        return style.encode(call_with_facts(DRAWINGS[kind], facts))


def write_figure(folder: Path, name: str, drawing: Drawing) -> list[str]:
    """Write `<name>.svg` and `<name>.png` and return their names."""
    files = {f"{name}.svg": drawing.svg, f"{name}.png": drawing.png}
    for file, data in files.items():
        (folder / file).write_bytes(data)
    return list(files)
