"""Agent-written features and estimators, admitted after a trial."""

from typing import Any

from app.computations.cell_files.frames import read_preview, read_training, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.analysis.recipe_effects import apply_recipe, extend_recipe
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR, PYTHON_OPERATION
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.recipe.recipe import parse_recipe
from app.modeling.table.column_kinds import require_columns
from app.modeling.training.custom_code_trial import TrialFacts, try_estimator, try_feature
from app.modeling.training.fitting import CandidateSpec


def write_features(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    name: str,
    columns: list[str],
    source: str,
    recipe: list[dict[str, Any]] | None = None,
    limit_s: float | None = None,
) -> JsonValue:
    """Add agent-written features to a recipe after a trial; return `computation_facts.FrameFacts` with `trial`.

    Input `frame`: the RAW training frame. Leaves frame.parquet and the source. `trial`:
    `custom_code_trial.TrialFacts`. `limit_s`: time for making these features on all training rows. Raises
    InvalidInput that the author can act on, and Unavailable `code_needs_isolation` outside a cell for untrusted
    code.
    """
    frame, parsed_problem, rows = read_preview(workspace, problem)
    added = {"op": PYTHON_OPERATION, "name": name, "columns": columns, "source": source}
    [operation] = parse_recipe([added])
    _check_inputs(columns, parsed_problem)
    transformed = apply_recipe(frame, parsed_problem, recipe or [])
    require_columns(transformed, columns)
    trial = try_feature(_as_custom_feature(operation), transformed, make_labels(frame, parsed_problem))
    _check_pace(name, trial, rows, limit_s)
    extended, facts = extend_recipe(frame, parsed_problem, recipe or [], [added])
    # A feature over the target or the time would change labels and splits.
    reserved = {parsed_problem.target, parsed_problem.time_column, parsed_problem.group_column} & set(
        facts["new_columns"]
    )
    if reserved:
        raise InvalidInput(
            "bad_features",
            f"{name!r} may not make the columns {sorted(map(str, reserved))}, which the problem uses.",
        )
    write_frame(workspace, extended, "frame.parquet")
    (workspace.output / f"{name}.py").write_text(source)
    return to_json_facts({**facts, "of": rows, "trial": trial})


def write_estimator(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    name: str,
    source: str,
    style: str = "network",
    recipe: list[dict[str, Any]] | None = None,
    seed: int = 0,
    limit_s: float | None = None,
) -> JsonValue:
    """Admit an agent-written estimator after a trial; return `{"estimator", "hyperparameters", "trial"}`.

    Input `frame`: the RAW training frame. Leaves the source. The returned keys are the arguments for fitting
    it. Raises as `write_features`.
    """
    frame, parsed_problem = read_training(workspace, problem)
    hyperparameters = {"source": source, "style": style, "name": name}
    spec = CandidateSpec(CUSTOM_ESTIMATOR, hyperparameters, recipe or [], seed)
    trial = try_estimator(frame, parsed_problem, spec)
    _check_pace(name, trial, len(frame), limit_s)
    (workspace.output / f"{name}.py").write_text(source)
    return to_json_facts({"estimator": CUSTOM_ESTIMATOR, "hyperparameters": hyperparameters, "trial": trial})


def _as_custom_feature(operation: object) -> CustomFeature:
    if not isinstance(operation, CustomFeature):
        raise TypeError(f"a {type(operation).__name__} is not a custom feature")
    return operation


def _check_inputs(columns: list[str], problem: Problem) -> None:
    # With a horizon the present value of the target is known, and its future is what is forecast.
    if problem.target in columns and not problem.horizon:
        raise InvalidInput(
            "target_is_no_input",
            f"{problem.target!r} is the target, which rows to predict do not have. Use the `target`"
            " argument of `fit`.",
            column=problem.target,
        )


def _check_pace(name: str, trial: TrialFacts, rows: int, limit_s: float | None) -> None:
    """Check that the code would finish in time on all rows, if its time grows with the rows."""
    expected_s = trial["seconds"] * max(rows / max(trial["rows"], 1), 1.0)
    if limit_s is not None and expected_s > limit_s:
        raise InvalidInput(
            "code_too_slow",
            f"{name!r} took {trial['seconds']:.2f} s for {trial['rows']:,} rows: about {expected_s:.0f} s for "
            f"all {rows:,}, and the limit is {limit_s:.0f} s. Work on whole columns instead of row by row.",
        )
