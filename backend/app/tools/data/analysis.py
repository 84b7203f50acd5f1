"""Tools of the data analyst: exploration, cleaning and features, on training rows only."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from app.counts import describe_count
from app.errors import ToolRefused
from app.modeling.facts.code_in_facts import contains_code
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.name_resolution import resolve_name
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tasks import run_concurrently
from app.tools.context.stage_limits import COLUMN_SHARE, DRAWING_SHARE, remaining_s, share_of
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import Exploration, FigureList, RecipeFrame, json_object
from app.tools.data.frames import (
    TRAIN,
    TrainingFrame,
    check_allowed_columns,
    figure_artifacts,
    find_training_frame,
    frame_artifact,
)
from app.tools.registry import FrameName, tool

DATA_ANALYST = ("data_analyst",)
Operations = Annotated[
    list[dict[str, Any]] | None,
    Field(
        description="Operations such as {'op': 'drop', 'columns': [...]}, {'op': 'impute', 'columns': [...], "
        "'strategy': 'median'}, {'op': 'clip', 'columns': [...]}, {'op': 'mark_missing', 'columns': [...]}, "
        "{'op': 'to_number', 'columns': [...]}, {'op': 'log1p', 'columns': [...]}. Null: the "
        "suggested operations.",
        max_length=100,
    ),
]
FeatureOperations = Annotated[
    list[dict[str, Any]] | None,
    Field(
        description="Operations such as {'op': 'combine', 'how': 'ratio', 'pairs': [['a', 'b']]} (or product, "
        "difference, sum), {'op': 'parse_dates', 'columns': [...]}, "
        "{'op': 'days_between', 'pairs': [['later', 'earlier']]}, {'op': 'text_stats', 'columns': [...]}, "
        "{'op': 'extract', 'columns': [...], 'what': 'domain'} (or title, surname, letters, digits), "
        "{'op': 'frequency', 'columns': [...]}, {'op': 'rolling', 'columns': [...], 'windows': [7]}. Null: the "
        "suggested features.",
        max_length=100,
    ),
]
NewName = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,59}$", description="Name of the frame to make.")]
MIN_WIDE_COLUMNS = 30
"""Columns above which only those most associated with the target are drawn."""
MIN_DRAWING_BUDGET_S = 12.0
"""Time budget in seconds below which nothing is drawn: figures take longer than models of a small table."""
Indicator = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]{0,59}$")]


@tool(agents=DATA_ANALYST)
async def perform_eda(ctx: ToolContext, frame: FrameName = TRAIN) -> CallResult:
    """Look at a frame: gaps, skew, relations to the target, and columns that leak the target.

    Each finding carries the operations that correct it; `suggested_cleaning` collects them.
    """
    source = await find_training_frame(ctx, frame)
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "recipe": source.recipe,
        "seed": ctx.session.seed,
    }
    computed, drawing = await _explore(ctx, source, params, await remaining_s(ctx))
    exploration = parse_facts(Exploration, computed.value)
    overview = parse_facts(FigureList, drawing.value)
    leaks = f", {describe_count(len(exploration.leaks), 'possible leak')}" if exploration.leaks else ""
    findings = describe_count(len(exploration.findings), "finding")
    return CallResult(
        value={**json_object(computed), "figures": [dump_facts(figure) for figure in overview.figures]},
        summary=f"{describe_count(exploration.rows, 'row')}: {findings}{leaks}.",
        artifacts=figure_artifacts(drawing, overview.figures),
    )


async def _explore(
    ctx: ToolContext, source: TrainingFrame, params: dict[str, Any], left_s: float | None
) -> tuple[ComputationResult, ComputationResult]:
    """Compute facts and figures, in two cells side by side.

    The figures of a wide frame need the facts to select columns, so one cell computes both. `left_s`: seconds
    of the session, of which both take a share.
    """
    params = {**params, "measure_s": share_of(left_s, COLUMN_SHARE)}
    drawing_params = {"draw_s": share_of(left_s, DRAWING_SHARE)}
    inputs = {"frame": source.digest}
    wide = len(source.columns) > MIN_WIDE_COLUMNS
    # Without a budget figures are drawn.
    if (ctx.preferences.time_budget_s or MIN_DRAWING_BUDGET_S) < MIN_DRAWING_BUDGET_S:
        computed = await ctx.computer.run(
            Computation("preparation.explore.perform_eda", {**params, "draw": False}), inputs
        )
        return computed, computed
    params = {**params, **drawing_params, "draw": wide}
    looking = ctx.computer.run(Computation("preparation.explore.perform_eda", params), inputs)
    if wide:
        computed = await looking
        return computed, computed
    drawing = Computation(
        "preparation.explore.draw_overview", {"problem": ctx.training.problem.to_json(), **drawing_params}
    )
    return await run_concurrently(looking, ctx.computer.run(drawing, inputs))


@tool(agents=DATA_ANALYST)
async def clean_data(
    ctx: ToolContext, frame: FrameName = TRAIN, operations: Operations = None, name: NewName = "cleaned"
) -> CallResult:
    """Clean a frame: missing values, outliers, types, spellings, columns to drop. Makes a new frame.

    Medians and quantiles are fitted on training rows only; with rows in time order, on those of each fold.
    """
    return await _extend_recipe(ctx, "preparation.clean.clean_data", frame, name, {"operations": operations})


@tool(agents=DATA_ANALYST)
async def create_features(
    ctx: ToolContext,
    frame: FrameName = TRAIN,
    operations: FeatureOperations = None,
    lookback_periods: Annotated[list[Annotated[int, Field(ge=1, le=1000)]] | None, Field(max_length=20)] = None,
    name: NewName = "features",
) -> CallResult:
    """Build features: parts of dates, texts and names, ratios; with `lookback_periods` (rows) lags, changes and
    rolling statistics from the past only. Makes a new frame."""
    # All texts at any depth, since operations name columns in different places.
    check_allowed_columns(ctx, [name for operation in operations or () for name in _texts_in(operation)])
    params = {"operations": operations, "lookback_periods": lookback_periods}
    return await _extend_recipe(ctx, "preparation.features.create_features", frame, name, params)


@tool(agents=DATA_ANALYST)
async def calculate_technical_indicators(
    ctx: ToolContext,
    frame: FrameName = TRAIN,
    indicators: Annotated[list[Indicator] | None, Field(max_length=200)] = None,
    close: str = "close",
    high: str | None = None,
    low: str | None = None,
    volume: str | None = None,
    opening: str | None = None,
    relative: bool = True,
    name: NewName = "indicators",
) -> CallResult:
    """Technical indicators of a price, each from its past only, by TA-Lib's names with their numbers: SMA_20,
    EMA_50, RSI_14, MACD_12_26_9, BBANDS_20_2, ATR_14, OBV, STOCH_14_3_3, ADX_14, CCI_20, MFI_14, CDLDOJI, ...

    ATR needs high and low, OBV needs volume, patterns need the opening price too. Several coins are told apart
    by the group column. `relative`: as shares of the close and of the usual volume, as models need them;
    otherwise in TA-Lib's own units. Makes a new frame.
    """
    source = await find_training_frame(ctx, frame)
    columns = {"close": close, "high": high, "low": low, "volume": volume, "opening": opening}
    price_columns = {
        key: resolve_name(column, source.columns, "column") for key, column in columns.items() if column
    }
    params = {"indicators": list(indicators) if indicators else None, "relative": relative, **price_columns}
    return await _extend_recipe(ctx, "preparation.features.technical_indicators", frame, name, params)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in an operation at any depth: the names of columns are among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


async def _extend_recipe(
    ctx: ToolContext, function: str, frame: str, name: str, params: dict[str, Any]
) -> CallResult:
    # Before the cell starts: this one is trusted, and would run the code outside of isolation.
    if contains_code(params):
        raise ToolRefused("Custom code must be added by write_features, which tests it first.")
    source = await find_training_frame(ctx, frame)
    all_params = {"problem": ctx.training.problem.to_json(), "recipe": source.recipe, **params}
    computed = await ctx.computer.run(Computation(function, all_params), {"frame": source.digest})
    preview = parse_facts(RecipeFrame, computed.value)
    effects = " ".join(preview.effects) or "Nothing was changed."
    return CallResult(
        value={**json_object(computed), "frame": name},
        summary=f"{name}: {describe_count(len(preview.columns), 'column')}. {effects}"[:500],
        artifacts=[frame_artifact(computed, name)],
    )
