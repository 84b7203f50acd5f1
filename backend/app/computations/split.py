"""Lock the hold-out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, in_time, read_frame, write_frame
from app.json_types import JsonValue
from app.modeling.analysis.exploration import summarize_target
from app.modeling.labels import split
from app.modeling.labels.resolve_problem import resolve_problem
from app.modeling.labels.structure import find_group_column, find_time_column
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import SplitFacts
from app.modeling.table.columns import describe_columns
from app.modeling.type_inference.decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns


def lock_holdout(
    bench: Bench, problem: dict[str, Any], seed: int = 0, share: float | None = None, folds: int = 5
) -> JsonValue:
    """Input `table`; leaves train.parquet and holdout.parquet; answers `results.SplitFacts`.

    What came as text is read first: the frames hold typed values, and `problem.reading` is what a model does
    with raw rows. `problem` may be a wish: only `target` is needed, and what is missing is completed from the
    data; its `column_types` win over what the values look like. Raises InvalidInput as
    `modeling.defining.define` and `modeling.split.lock_holdout` do.
    """
    raw = read_frame(bench, "table")
    decided = infer_types(raw, problem.get("target"), problem.get("column_types"))
    reading = make_parsers(decided)
    table = in_time(parse_columns(raw, reading), problem.get("time_column"))
    whole = replace(resolve_problem(table, problem), parsers=tuple(reading))
    table = in_time(table, whole.time_column)
    locked = split.lock_holdout(table, whole, seed, share)
    write_frame(bench, locked.train, "train.parquet")
    write_frame(bench, locked.holdout, "holdout.parquet")
    facts: SplitFacts = {
        "problem": whole.to_json(),
        "kind": locked.kind.value,
        "reason": f"{locked.reason}{evidence(table, problem, whole)}",
        "folds": {"kind": locked.kind.value, "count": folds, "seed": seed},
        "rows": len(table),
        "train_rows": len(locked.train),
        "holdout_rows": len(locked.holdout),
        "duplicates_removed": locked.duplicates_removed,
        "unlabelled_removed": locked.unlabelled_removed,
        "target_summary": summarize_target(locked.train, whole),
        "columns": describe_columns(locked.train),  # type: ignore[typeddict-item]  # the same keys
        "reading": [one.to_json() for one in decided],  # type: ignore[misc]  # the same keys
        "notes": [*_replaced(problem, whole), *locked.notes],
    }
    return answer(facts)


def evidence(table: pd.DataFrame, wish: Mapping[str, Any], problem: Problem) -> str:
    """Why rows are ordered or grouped so, where nobody asked for it."""
    goal, found = str(wish.get("goal") or ""), None
    if problem.time_column:
        if not wish.get("time_column"):
            found = find_time_column(table, problem.target, bool(problem.horizon), goal)
    elif problem.group_column and not wish.get("group_column"):
        found = find_group_column(table, problem.target, goal)
    return f" ({found.column!r}: {found.reason}.)" if found else ""


def _replaced(wish: Mapping[str, Any], problem: Problem) -> list[str]:
    """The metric that was wished for, where this target does not define it."""
    wanted = wish.get("metric")
    if not wanted or wanted == problem.metric:
        return []
    return [f"{wanted} is not defined for {problem.target!r} as it is, so {problem.metric} judges instead."]
