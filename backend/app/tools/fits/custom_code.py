"""Tools for custom features and estimators as Python.

The code is tested at once, on training rows in an untrusted cell. Features that pass become a step of the
recipe, estimators become candidates.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.counts import describe_count
from app.errors import ToolRefused, Unavailable
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR
from app.modeling.facts.conversion import parse_facts
from app.modeling.problem.name_resolution import resolve_name
from app.reporting.metrics import describe_metric
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.preferences import DEFAULT_BUDGET_S
from app.tools.context.tool_context import ToolContext
from app.tools.data.analysis import NewName
from app.tools.data.computed_facts import EstimatorTrial, FeatureTrial, json_object
from app.tools.data.frames import (
    TRAIN,
    check_allowed_columns,
    find_training_frame,
    frame_artifact,
    make_artifact,
)
from app.tools.fits.fit_rounds import RELATIVE_COSTS, Candidate, format_number, ignores_clock, time_left_s
from app.tools.registry import ColumnName, FrameName, tool

ESTIMATOR_KIND = "estimator"
"""Kind of artifact: the source of an estimator; its `meta` holds `estimator` and `hyperparameters` of a fit."""
SOURCE_KIND = "text"
TRIAL_TIME = (0.25, 4.0, 30.0)
"""Time limit of a trial: share of the session's budget, with minimum and maximum in seconds."""
MAX_DETERMINISTIC_TRIAL_S = 120.0
"""Seconds of a trial or of features in a deterministic session: enough for a machine four times as slow."""
FEATURE_TIME = (0.1, 1.0, 30.0)
"""Time limit of computing the features of all training rows: share, minimum and maximum as above."""

Source = Annotated[str, Field(min_length=1, max_length=8_000)]
CodeName = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,59}$", description="A unique name.")]


@tool(agents=("data_analyst",))
async def write_features(
    ctx: ToolContext,
    columns: Annotated[list[ColumnName], Field(min_length=1, max_length=200)],
    source: Source,
    frame: FrameName = TRAIN,
    name: NewName = "written",
) -> CallResult:
    """Add features that no other tool makes, as Python that you write. Makes a new frame.

    Define `transform(frame, state)`: it gets the named `columns` of some rows (pandas) and returns a
    DataFrame of the same rows, order and index with the new columns. What must be learned (means, categories, a
    fitted scikit-learn transformer) comes from `fit(frame)`, or `fit(frame, target)` to use the target: numbers
    or places of classes. It returns the state: numbers, texts, lists, dicts, arrays, scikit-learn estimators.
    It is fitted on each fold's training rows alone. `transform` never sees the target, and may use the row and
    the state only: never other rows. numpy, pandas, scipy and scikit-learn can be imported; no files.
    It is tested at once, also on single rows and on missing and unseen values; a refusal names the fault.
    """
    base_frame = await find_training_frame(ctx, frame)
    names = [resolve_name(column, base_frame.columns, "column") for column in columns]
    check_allowed_columns(ctx, names)
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "recipe": base_frame.recipe,
        "name": name,
        "columns": columns,
        "source": source,
        "limit_s": _time_limit_s(ctx, FEATURE_TIME),
    }
    computed = await _run_trial(ctx, "preparation.custom_code.write_features", params, base_frame.digest)
    features = parse_facts(FeatureTrial, computed.value)
    new = ", ".join(features.new_columns[:8]) or "changed columns"
    return CallResult(
        value={**json_object(computed), "frame": name},
        summary=f"{name}: made {new} by code that passed {len(features.trial.checks)} checks."[:500],
        artifacts=[
            frame_artifact(computed, name),
            make_artifact(computed.file(f"{name}.py"), SOURCE_KIND, f"{name}.py"),
        ],
    )


@tool(agents=("model_trainer",))
async def write_estimator(
    ctx: ToolContext,
    name: CodeName,
    source: Source,
    frame: FrameName = TRAIN,
    style: Annotated[
        Literal["network", "tree", "linear"],
        Field(
            description="What X holds. network: dense, scaled, none missing. tree: numbers as they are, with "
            "missing ones, categories as places. linear: sparse, a column for each category and word."
        ),
    ] = "network",
) -> CallResult:
    """Make an estimator that no family offers, as Python that you write; train it under its name afterwards.

    Define `fit(X, y)` (or `fit(X, y, classes)`), which returns the state: numbers, lists, dicts, arrays, fitted
    scikit-learn estimators. Then `predict_proba(X, state)` for classes: (rows, classes), `y` are places from 0;
    or `predict(X, state)` for numbers. X is the matrix that encoding makes of the frame. A row's prediction may
    not depend on other rows. numpy, pandas, scipy and scikit-learn can be imported; no files, no network.
    It is tested at once on a part of the training rows; a refusal names the fault.
    """
    # Candidates name families and custom estimators in the same field.
    if name in RELATIVE_COSTS or name.casefold() == CUSTOM_ESTIMATOR.casefold():
        raise ToolRefused(f"There is a family called {name}: give your estimator another name.")
    base_frame = await find_training_frame(ctx, frame)
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "recipe": base_frame.recipe,
        "name": name,
        "source": source,
        "style": style,
        "seed": ctx.session.seed,
        "limit_s": await time_left_s(ctx),
    }
    computed = await _run_trial(ctx, "preparation.custom_code.write_estimator", params, base_frame.digest)
    trial_facts = parse_facts(EstimatorTrial, computed.value)
    meta = {"estimator": trial_facts.estimator, "hyperparameters": trial_facts.hyperparameters}
    file = computed.file(f"{name}.py")
    metric = describe_metric(ctx.training.problem.metric).label
    score, rows = format_number(trial_facts.trial.score), describe_count(trial_facts.trial.rows, "row")
    return CallResult(
        value={**json_object(computed), "name": name},
        summary=f"{name} can be trained; {metric} {score} in a trial on {rows}.",
        artifacts=[ArtifactDraft(ESTIMATOR_KIND, name, file.media_type, file.digest, file.size_bytes, meta)],
    )


async def add_sources(ctx: ToolContext, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Add the source to candidates that name a custom estimator. Raises ToolRefused for untested code."""
    estimators = {ref.name: ref.meta for ref in await ctx.frames.artifacts(ESTIMATOR_KIND)}
    return [_add_source(candidate, estimators) for candidate in candidates]


def _add_source(candidate: Candidate, estimators: Mapping[str, Mapping[str, Any]]) -> Candidate:
    if candidate.estimator in estimators:
        meta = dict(estimators[candidate.estimator])
        return Candidate(name=candidate.name or candidate.estimator, **meta)
    # Code in hyperparameters would run without its test.
    if candidate.estimator.casefold() == CUSTOM_ESTIMATOR.casefold() or "source" in candidate.hyperparameters:
        raise ToolRefused(
            f"Create the estimator by write_estimator first, then use its name. Available: {_list(estimators)}."
        )
    return candidate


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


async def _run_trial(ctx: ToolContext, function: str, params: dict[str, Any], digest: str) -> ComputationResult:
    """Run a test in an untrusted cell. Raises ToolRefused with any failure, for the author to correct."""
    work = Computation(function, params, trusted=False)
    try:
        return await ctx.computer.run(work, {"frame": digest}, Limits(time_s=_time_limit_s(ctx, TRIAL_TIME)))
    except (ComputationFailed, Unavailable) as failed:
        raise ToolRefused(f"This code cannot be used. {failed.detail}") from failed


def _time_limit_s(ctx: ToolContext, bounds: tuple[float, float, float]) -> float:
    share, min_s, max_s = bounds
    # A fixed bound: results of a deterministic session must not depend on its budget or the machine.
    if ignores_clock(ctx):
        return MAX_DETERMINISTIC_TRIAL_S
    budget_s = ctx.preferences.time_budget_s or DEFAULT_BUDGET_S
    return min(max(share * budget_s, min_s), max_s)
