"""Take code that an agent wrote into a recipe, or make an estimator of it, once it has stood its trial."""

from typing import Any

from app.computations.bench import Bench
from app.computations.frames import answer, read_preview, read_training, write_frame
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.analysis.preview import apply_recipe, extend_recipe
from app.modeling.labels.labels import make_labels
from app.modeling.problem.custom_code import CUSTOM_ESTIMATOR, PYTHON_OPERATION
from app.modeling.problem.problem import Problem
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.recipe.recipe import parse_recipe
from app.modeling.table.columns import require_columns
from app.modeling.training.custom_code_trial import TrialFacts, try_estimator, try_feature
from app.modeling.training.fitting import CandidateSpec


def write_features(
    bench: Bench,
    problem: dict[str, Any],
    name: str,
    columns: list[str],
    source: str,
    recipe: list[dict[str, Any]] | None = None,
    limit_s: float | None = None,
) -> JsonValue:
    """Input `frame`: the RAW training frame. Leaves frame.parquet and the source; answers `results.FrameFacts`
    with `trial` (`written.trial.TrialFacts`).

    `limit_s`: what making these features of all training rows may take. Raises InvalidInput that its author can
    act on, and Unavailable `code_needs_walls` outside a cell of untrusted work.
    """
    frame, whole, rows = read_preview(bench, problem)
    added = {"op": PYTHON_OPERATION, "name": name, "columns": columns, "source": source}
    [operation] = parse_recipe([added])
    _check_inputs(columns, whole)
    seen = apply_recipe(frame, whole, recipe or [])
    require_columns(seen, columns)
    trial = try_feature(_written(operation), seen, make_labels(frame, whole))
    _check_pace(name, trial, rows, limit_s)
    made, facts = extend_recipe(frame, whole, recipe or [], [added])
    given = {whole.target, whole.time_column, whole.group_column} & set(facts["new_columns"])
    if given:
        raise InvalidInput("bad_features", f"{name!r} may not make {sorted(map(str, given))}.")
    write_frame(bench, made, "frame.parquet")
    (bench.output / f"{name}.py").write_text(source)
    return answer({**facts, "of": rows, "trial": trial})


def write_estimator(
    bench: Bench,
    problem: dict[str, Any],
    name: str,
    source: str,
    style: str = "network",
    recipe: list[dict[str, Any]] | None = None,
    seed: int = 0,
    limit_s: float | None = None,
) -> JsonValue:
    """Input `frame`: the RAW training frame. Leaves the source; answers `{"estimator", "hyperparameters",
    "trial"}`, what a fit of it is asked by. Raises as `write_features`."""
    frame, whole = read_training(bench, problem)
    hyperparameters = {"source": source, "style": style, "name": name}
    spec = CandidateSpec(CUSTOM_ESTIMATOR, hyperparameters, recipe or [], seed)
    trial = try_estimator(frame, whole, spec)
    _check_pace(name, trial, len(frame), limit_s)
    (bench.output / f"{name}.py").write_text(source)
    return answer({"estimator": CUSTOM_ESTIMATOR, "hyperparameters": hyperparameters, "trial": trial})


def _written(operation: object) -> CustomFeature:
    if not isinstance(operation, CustomFeature):
        raise TypeError(f"a {type(operation).__name__} is no code")
    return operation


def _check_inputs(columns: list[str], problem: Problem) -> None:
    if problem.target in columns and not problem.horizon:
        raise InvalidInput(
            "target_is_no_input",
            f"{problem.target!r} is the target: rows to predict lack it. `fit(frame, target)` is given it.",
            column=problem.target,
        )


def _check_pace(name: str, trial: TrialFacts, rows: int, limit_s: float | None) -> None:
    """What grows with the rows must end in time on all of them."""
    expected_s = trial["seconds"] * max(rows / max(trial["rows"], 1), 1.0)
    if limit_s is not None and expected_s > limit_s:
        raise InvalidInput(
            "code_too_slow",
            f"{name!r} took {trial['seconds']:.2f} s for {trial['rows']:,} rows: about {expected_s:.0f} s for "
            f"all {rows:,}, and there are {limit_s:.0f} s. Work on whole columns instead of row by row.",
        )
