"""The hold-out split of a table, with type inference and resolution of the problem."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from app.computations.frames import parse_time_column, read_frame, to_json_facts, write_frame
from app.computations.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.analysis.exploration import summarize_target
from app.modeling.facts.computation_facts import SplitFacts
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.problem_definition.time_and_group_columns import find_group_column, find_time_column
from app.modeling.splits import split
from app.modeling.table.columns import describe_columns
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns
from app.modeling.type_inference.stored_readings import use_readings


def lock_holdout(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    seed: int = 0,
    share: float | None = None,
    folds: int = 5,
    readings: Mapping[str, Mapping[str, Any]] | None = None,
) -> JsonValue:
    """Split off the hold-out; leaves train.parquet and holdout.parquet; returns `computation_facts.SplitFacts`.

    Input `table`. Text is parsed first: the frames have typed values, and `problem.reading` records how a model
    parses raw rows. `problem` needs only `target`; the rest is inferred from the data; its `column_types`
    override inferred types. `readings`: column -> parser of the stored reading of its file. Raises InvalidInput
    as `resolve_problem` and `splits.split.lock_holdout` do.
    """
    raw = read_frame(workspace, "table")
    inferred, converted = use_readings(
        raw,
        infer_types(raw, problem.get("target"), problem.get("column_types")),
        readings or {},
        problem.get("column_types"),
    )
    reading = make_parsers([*inferred, *converted])
    table = parse_time_column(parse_columns(raw, reading), problem.get("time_column"))
    resolved = replace(resolve_problem(table, problem), parsers=tuple(reading))
    table = parse_time_column(table, resolved.time_column)
    locked = split.lock_holdout(table, resolved, seed, share)
    write_frame(workspace, locked.train, "train.parquet")
    write_frame(workspace, locked.holdout, "holdout.parquet")
    facts: SplitFacts = {
        "problem": resolved.to_json(),
        "kind": locked.kind.value,
        "reason": f"{locked.reason}{explain_structure(table, problem, resolved)}",
        "folds": {"kind": locked.kind.value, "count": folds, "seed": seed},
        "rows": len(table),
        "train_rows": len(locked.train),
        "holdout_rows": len(locked.holdout),
        "duplicates_removed": locked.duplicates_removed,
        "unlabelled_removed": locked.unlabelled_removed,
        "target_summary": summarize_target(locked.train, resolved),
        "columns": describe_columns(locked.train),  # type: ignore[typeddict-item]  # the same keys
        "reading": [decision.to_json() for decision in (*inferred, *converted) if decision.text],  # type: ignore[misc]  # the same keys
        "notes": [*_metric_notes(problem, resolved), *locked.notes],
    }
    return to_json_facts(facts)


def explain_structure(table: pd.DataFrame, request: Mapping[str, Any], problem: Problem) -> str:
    """Explain an inferred order or grouping of rows, as a sentence to append; empty if it was requested."""
    goal, structure = str(request.get("goal") or ""), None
    if problem.time_column:
        if not request.get("time_column"):
            structure = find_time_column(table, problem.target, bool(problem.horizon), goal)
    elif problem.group_column and not request.get("group_column"):
        structure = find_group_column(table, problem.target, goal)
    return f" ({structure.column!r}: {structure.reason}.)" if structure else ""


def _metric_notes(request: Mapping[str, Any], problem: Problem) -> list[str]:
    """Note that the requested metric is not defined for this target."""
    requested = request.get("metric")
    if not requested or requested == problem.metric:
        return []
    return [
        f"{requested} is not defined for the values of {problem.target!r}, so {problem.metric} is used instead."
    ]
