"""Rules of the stage `features`: clean the frame and build its features, following the exploration."""

from typing import Any

from app.agents.data_analyst.brief import ColumnExploration, FeaturesBrief, PreparedFrame
from app.agents.data_analyst.output import Prepared
from app.agents.runtime.conversation import CompletedCall, ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish

INITIAL_FRAME = "train"
FRAME_TOOLS = ("clean_data", "create_features", "calculate_technical_indicators")
MIN_DROPPED_MISSING_SHARE = 0.98
"""Columns are dropped from this share of missing values. Below it, trees still learn from the few values and
from their absence."""
MIN_RELATION = 0.6
"""Score of a column as the only feature (0.5 is chance for two classes) from which it is informative."""
MAX_FEATURES = 400
"""Columns of a frame from which it counts as too wide for its rows, as it does with one for each three rows."""
CLOSE_INDICATORS = ("SMA_20", "SMA_50", "EMA_20", "RSI_14", "MACD", "BBANDS_20", "ROC_10")
RANGE_INDICATORS = ("ATR_14", "ADX_14", "STOCH_14_3_3")
VOLUME_INDICATORS = ("OBV",)
"""The indicators that traders use most, by the columns that they need besides the close."""
BAR_COLUMNS = {"open", "high", "low", "close"}
PRICE_COLUMNS = ("close", "adj_close", "adj close", "price")
LOOKBACK_ROWS = {"short": [1, 2, 3], "usual": [1, 2, 3, 5, 10]}
MAX_SHORT_FRAME_ROWS = 300
"""Rows up to which a table has few lags: each of them costs its length in rows at the beginning."""


def clean(view: ConversationView[FeaturesBrief]) -> AgentAction | None:
    operations = plan_cleaning(view)
    if view.was_called("clean_data") or not operations:
        return None
    return call(
        "clean_data", message="I clean the frame.", frame=INITIAL_FRAME, operations=operations, name="cleaned"
    )


def clean_as_suggested(view: ConversationView[FeaturesBrief]) -> AgentAction | None:
    """After a refusal, apply the operations that the tool itself suggests."""
    if view.last_success("clean_data") or len(view.refusals("clean_data")) != 1:
        return None
    return call("clean_data", frame=INITIAL_FRAME, name="cleaned")


def add_indicators(view: ConversationView[FeaturesBrief]) -> AgentAction | None:
    """Add technical indicators to a price forecast. A sales table with a price column is not a market."""
    problem = view.brief.problem
    columns = {name.casefold(): name for name in view.brief.columns}
    close = next((columns[name] for name in PRICE_COLUMNS if name in columns), None)
    if view.was_called("calculate_technical_indicators") or not problem.horizon or close is None:
        return None
    if close != problem.target and not set(columns) >= BAR_COLUMNS:
        return None
    optional = {name: columns[name] for name in ("high", "low", "volume") if name in columns}
    names = [*CLOSE_INDICATORS]
    names += RANGE_INDICATORS if {"high", "low"} <= set(optional) else ()
    names += VOLUME_INDICATORS if "volume" in optional else ()
    return call(
        "calculate_technical_indicators",
        frame=_latest_frame(view),
        indicators=names,
        close=close,
        name="indicators",
        **optional,
    )


def create_features(view: ConversationView[FeaturesBrief]) -> AgentAction | None:
    if view.was_called("create_features"):
        return None
    lookback = _lookback(view) if view.brief.problem.horizon else None
    return call("create_features", frame=_latest_frame(view), lookback_periods=lookback, name="features")


def reduce_features(view: ConversationView[FeaturesBrief]) -> AgentAction | None:
    """Repeat with a shorter lookback if there are too many columns for the rows."""
    attempts = view.successes("create_features")
    lookback = attempts[-1].arguments.get("lookback_periods") if attempts else None
    if (
        len(attempts) != 1
        or not lookback
        or len(lookback) <= 1
        or not _has_too_many_columns(view, attempts[-1])
    ):
        return None
    return call(
        "create_features",
        frame=str(attempts[-1].arguments["frame"]),
        lookback_periods=lookback[:1],
        name="features",
    )


def conclude(view: ConversationView[FeaturesBrief]) -> AgentAction:
    frame = _latest_frame(view)
    effects = [
        effect for completed in view.successes(*FRAME_TOOLS) for effect in completed.read(PreparedFrame).effects
    ]
    refused = [completed.refusal or "" for completed in view.refusals(*FRAME_TOOLS)]
    summary = " ".join(effects[:6]) or "The frame is used as it is."
    remainder = f" And {len(effects) - 6} more operations." if len(effects) > 6 else ""
    refusal = f" Refused: {refused[-1]}" if refused else ""
    return finish(
        Prepared(frame=frame, notes=[*effects[:20], *refused[:5]]), message=summary + remainder + refusal
    )


# Each works on the frame of the one before it: lags are made of cleaned columns and of indicators.
RULES: tuple[Rule[FeaturesBrief], ...] = (
    clean,
    clean_as_suggested,
    add_indicators,
    create_features,
    reduce_features,
    conclude,
)


def plan_cleaning(view: ConversationView[FeaturesBrief]) -> list[dict[str, Any]]:
    """Return the suggested operations without excluded columns, and drop columns that are almost empty."""
    analysis, problem = view.brief.analysis, view.brief.problem
    sparse = [
        column.name
        for column in analysis.columns
        if column.missing >= MIN_DROPPED_MISSING_SHARE
        and column.name not in (*problem.exclude, problem.target)
        and not _is_informative(column)
    ]
    drop = [{"op": "drop", "columns": sparse}] if sparse else []
    suggested = [_without_columns(op, {*problem.exclude, *sparse}) for op in analysis.suggested_cleaning]
    return drop + [op for op in suggested if op is not None]


def _is_informative(column: ColumnExploration) -> bool:
    """Tell if the column, or its missingness, is related to the target."""
    return (column.relation or 0.0) >= MIN_RELATION


def _without_columns(operation: dict[str, Any], names: set[str]) -> dict[str, Any] | None:
    columns = operation.get("columns")
    if columns is None:
        return operation
    remaining = [name for name in columns if name not in names]
    return {**operation, "columns": remaining} if remaining else None


def _lookback(view: ConversationView[FeaturesBrief]) -> list[int]:
    return LOOKBACK_ROWS["short" if view.brief.rows < MAX_SHORT_FRAME_ROWS else "usual"]


def _has_too_many_columns(view: ConversationView[FeaturesBrief], attempt: CompletedCall) -> bool:
    return len(attempt.read(PreparedFrame).columns) > min(MAX_FEATURES, view.brief.rows / 3)


def _latest_frame(view: ConversationView[FeaturesBrief]) -> str:
    """Return the name of the newest frame of this conversation."""
    latest = view.last_success(*FRAME_TOOLS)
    return latest.read(PreparedFrame).frame if latest else INITIAL_FRAME
