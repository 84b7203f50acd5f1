"""The second stage: clean the frame and build its features, reacting to what the first stage found."""

from typing import Any

from app.agents.data_analyst.output import Prepared
from app.agents.runtime.conversation import Answered, View
from app.agents.runtime.policy import AgentAction, Rule, call, finish

START = "train"
MAKERS = ("clean_data", "create_features", "calculate_technical_indicators")
MOSTLY_MISSING = 0.98
"""Trees learn from the few values, and from which rows have none."""
MAX_FEATURES = 400
BY_CLOSE = ("SMA_20", "SMA_50", "EMA_20", "RSI_14", "MACD", "BBANDS_20", "ROC_10")
BY_RANGE = ("ATR_14", "ADX_14", "STOCH_14_3_3")
BY_VOLUME = ("OBV",)
"""Indicators that traders look at first, by what they read besides the close."""
BARS = {"open", "high", "low", "close"}
PRICE_COLUMNS = ("close", "adj_close", "adj close", "price")
LOOKBACK = {"short": [1, 2, 3], "usual": [1, 2, 3, 5, 10]}
SHORT_ROWS = 300


def clean(view: View) -> AgentAction | None:
    operations = cleaning(view)
    if view.tried("clean_data") or not operations:
        return None
    return call("clean_data", says="I clean the frame.", frame=START, operations=operations, name="cleaned")


def clean_as_suggested(view: View) -> AgentAction | None:
    """Operations that were refused: let the data decide."""
    if view.last("clean_data") or len(view.refused("clean_data")) != 1:
        return None
    return call("clean_data", frame=START, name="cleaned")


def indicators(view: View) -> AgentAction | None:
    """Prices ahead in time: what traders look at. A price beside what is sold is no market."""
    problem = view.brief["problem"]
    columns = {str(name).casefold(): str(name) for name in view.brief["columns"]}
    close = next((columns[name] for name in PRICE_COLUMNS if name in columns), None)
    if view.tried("calculate_technical_indicators") or not problem.get("horizon") or close is None:
        return None
    if close != problem["target"] and not set(columns) >= BARS:
        return None
    rest = {name: columns[name] for name in ("high", "low", "volume") if name in columns}
    names = [*BY_CLOSE]
    names += BY_RANGE if {"high", "low"} <= set(rest) else ()
    names += BY_VOLUME if "volume" in rest else ()
    return call(
        "calculate_technical_indicators",
        frame=_frame(view),
        indicators=names,
        close=close,
        name="indicators",
        **rest,
    )


def features(view: View) -> AgentAction | None:
    if view.tried("create_features"):
        return None
    lookback = _lookback(view) if view.brief["problem"].get("horizon") else None
    return call("create_features", frame=_frame(view), lookback_periods=lookback, name="features")


def fewer_features(view: View) -> AgentAction | None:
    """More columns than rows can bear: look back less far."""
    made = view.all("create_features")
    lookback = made[-1].arguments.get("lookback_periods") if made else None
    if len(made) != 1 or not lookback or len(lookback) <= 1 or not _too_many(view, made[-1]):
        return None
    return call(
        "create_features",
        frame=str(made[-1].arguments["frame"]),
        lookback_periods=lookback[:1],
        name="features",
    )


def conclude(view: View) -> AgentAction:
    frame = _frame(view)
    effects = [effect for answered in view.all(*MAKERS) for effect in answered.value["effects"]]
    refused = [answered.refusal or "" for answered in view.refused(*MAKERS)]
    said = " ".join(effects[:6]) or "The frame is used as it is."
    more = f" And {len(effects) - 6} more operations." if len(effects) > 6 else ""
    without = f" Not possible here: {refused[-1]}" if refused else ""
    return finish(Prepared(frame=frame, notes=[*effects[:20], *refused[:5]]), says=said + more + without)


RULES: tuple[Rule, ...] = (clean, clean_as_suggested, indicators, features, fewer_features, conclude)


def cleaning(view: View) -> list[dict[str, Any]]:
    """What the exploration suggests, without excluded columns; what is hardly ever there is dropped."""
    analysis = view.brief.get("analysis") or {}
    excluded = set(view.brief["problem"].get("exclude") or ())
    sparse = [
        column["name"]
        for column in analysis.get("columns", ())
        if column["missing"] >= MOSTLY_MISSING and column["name"] not in excluded
        if not _speaks(column) and column["name"] != view.brief["problem"]["target"]
    ]
    drop = [{"op": "drop", "columns": sparse}] if sparse else []
    kept = [_without(op, excluded | set(sparse)) for op in analysis.get("suggested_cleaning", ())]
    return drop + [op for op in kept if op is not None]


def _speaks(column: dict[str, Any]) -> bool:
    """Does the column, or that it is missing, say something about the target?"""
    return (column.get("relation") or 0.0) >= 0.6


def _without(operation: dict[str, Any], names: set[str]) -> dict[str, Any] | None:
    columns = operation.get("columns")
    if columns is None:
        return operation
    left = [name for name in columns if name not in names]
    return {**operation, "columns": left} if left else None


def _lookback(view: View) -> list[int]:
    return LOOKBACK["short" if int(view.brief["rows"]) < SHORT_ROWS else "usual"]


def _too_many(view: View, made: Answered) -> bool:
    return len(made.value["columns"]) > min(MAX_FEATURES, int(view.brief["rows"]) / 3)


def _frame(view: View) -> str:
    """The newest frame that was made."""
    made = view.last(*MAKERS)
    return str(made.value["frame"]) if made else START
