"""The hold-out split of a table, with type inference and resolution of the problem."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.cell_files.frames import parse_time_column, read_frame, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonScalar, JsonValue
from app.modeling.analysis.assumptions.joined_tables import JoinedTable
from app.modeling.analysis.assumptions.row_assumptions import measure_assumptions
from app.modeling.analysis.assumptions.split_choice import apply_choice
from app.modeling.analysis.exploration import summarize_target
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.facts.computation_facts import SplitFacts
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem, with_defined_metric
from app.modeling.problem_definition.time_and_group_columns import (
    find_group_column,
    find_series_column,
    find_time_column,
)
from app.modeling.splits import split
from app.modeling.table.column_kinds import describe_columns
from app.modeling.table.json_values import class_label
from app.modeling.training.time_limits import slowness, stretched_deadline
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.distinct_values import is_text
from app.modeling.type_inference.parsers import NumberParser, parse_columns, validate_parsers
from app.modeling.type_inference.stored_readings import use_readings
from app.modeling.type_inference.type_decision import TypeDecision


def split_table(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    seed: int = 0,
    share: float | None = None,
    folds: int = 5,
    readings: Mapping[str, Mapping[str, Any]] | None = None,
    measure_s: float | None = None,
    assumptions: Sequence[AssumptionJson] | None = None,
    joined: Sequence[Mapping[str, Any]] = (),
    construction: Sequence[str] = (),
    row_noun: str = "",
) -> JsonValue:
    """Split off the hold-out; leaves train.parquet and holdout.parquet; returns `computation_facts.SplitFacts`.

    Input `table`. Text is parsed first: the frames have typed values, and `problem.reading` records how a model
    parses raw rows. `problem` needs only `target`; the rest is inferred from the data; its `column_types`
    override inferred types. `readings`: column -> parser of the stored reading of its file. `measure_s`:
    seconds to measure what a structure of the rows changes; None: counts of rows bound it. `assumptions`:
    those of an earlier call, with the sides that the user chose; then nothing is measured. `joined`: tables
    that were joined in, each `{"table", "columns"}`. `construction`: how the table was made, in sentences for
    the report. `row_noun`: plural word for its rows. Raises InvalidInput as `resolve_problem` and
    `splits.split.split_holdout` do.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    table, resolved, decisions = _read_problem(workspace, problem, readings or {})
    # First by the declared structure alone: what another structure would change may be measured on training
    # rows only. What was measured can change the problem, and then the whole table is divided again.
    locked = split.split_holdout(table, resolved, seed, share)
    notes: list[str] = []
    if assumptions is None:
        tables = [JoinedTable.from_json(entry) for entry in joined]
        deadline = stretched_deadline(measure_s, started, cpu_started)
        measured = measure_assumptions(
            locked.train, table, resolved, problem, seed, deadline, workspace.threads, tables
        )
        assumptions, structured, notes = measured.assumptions, measured.problem, measured.notes
    else:
        structured = apply_choice(resolved, assumptions)
    # An order that the user asked for stays, whatever columns it leaves without a judgement.
    is_ordered_on_request = problem.get("time_column") is not None
    late = None if is_ordered_on_request else split.find_unjudged_columns(table, structured, seed, share)
    if late is not None:
        structured = replace(structured, time_column=None)
    if structured != resolved or late is not None:
        resolved, locked = structured, split.split_holdout(table, structured, seed, share, late)
    write_frame(workspace, locked.train, "train.parquet")
    write_frame(workspace, locked.holdout, "holdout.parquet")
    plan = plan_folds(locked, resolved, folds, seed)
    facts: SplitFacts = {
        "problem": resolved.to_json(),
        "kind": locked.kind.value,
        "reason": f"{locked.reason}{explain_structure(table, problem, resolved)}",
        "folds": plan.to_json(),  # type: ignore[typeddict-item]  # the same keys
        "rows": len(table),
        "train_rows": len(locked.train),
        "holdout_rows": len(locked.holdout),
        "duplicates_removed": 0,
        "repeated_rows": {"equal": locked.equal_rows, "on_one_side": locked.together_rows},
        "unlabelled_removed": locked.unlabelled_removed,
        "target_summary": summarize_target(locked.train, resolved),
        "columns": describe_columns(locked.train),  # type: ignore[typeddict-item]  # the same keys
        "reading": [decision.to_json() for decision in decisions if decision.text],  # type: ignore[misc]  # the same keys
        "notes": [*_metric_notes(problem, resolved), *locked.notes, *_fold_notes(locked, plan), *notes],
        "unmeasured": notes,
        "assumptions": list(assumptions),
    }
    if construction:
        facts["construction"] = list(construction)
    if row_noun:
        facts["row_noun"] = row_noun
    # Only where time is limited: the facts of a deterministic session must not depend on the machine.
    if measure_s is not None:
        facts["slowness"] = round(slowness(started, cpu_started), 2)
    return to_json_facts(facts)


def _read_problem(
    workspace: CellWorkspace, problem: dict[str, Any], readings: Mapping[str, Mapping[str, Any]]
) -> tuple[pd.DataFrame, Problem, list[TypeDecision]]:
    """Parse the text of the input `table` and resolve the problem; return what each column was read as, too."""
    raw = read_frame(workspace, "table")
    requested_types = problem.get("column_types")
    inferred, converted = use_readings(
        raw, infer_types(raw, problem.get("target"), requested_types), readings, requested_types
    )
    reading = make_parsers([*inferred, *converted])
    table = parse_time_column(
        parse_columns(raw, reading), problem.get("time_column"), bool(problem.get("horizon"))
    )
    resolved = replace(resolve_problem(table, problem), parsers=tuple(reading))
    spellings = _spell_classes(raw.get(resolved.target), resolved)
    has_decimals = not spellings and _has_decimal_classes(workspace, resolved)
    resolved = replace(resolved, has_decimal_classes=has_decimals, class_spellings=spellings)
    # Again: the first time a requested column was parsed, and now the one that was inferred.
    table = parse_time_column(table, resolved.time_column, bool(resolved.horizon))
    if resolved.outlook in (Outlook.CHANGE, Outlook.VOLATILITY):
        resolved = with_defined_metric(resolved, make_labels(table, resolved))
    return table, resolved, [*inferred, *converted]


def _spell_classes(column: pd.Series | None, problem: Problem) -> tuple[str, ...]:
    """Return how texts write classes that are numbers: here, or in the file before its upload."""
    parsers = [parser for parser in validate_parsers(problem.parsers) if problem.target in parser.columns]
    parser = next((parser for parser in parsers if isinstance(parser, NumberParser)), None)
    if column is None or parser is None or not problem.classes:
        return ()
    cells = list(column.value_counts().index) if is_text(column) else list(parser.spellings)
    values = parser.parse(pd.Series(cells, dtype="str"))
    spelling_of: dict[JsonScalar, str] = {}
    for cell, value in zip(cells, values, strict=True):
        spelling_of.setdefault(class_label(value), cell.strip())
    if spelling_of.keys().isdisjoint(problem.classes):
        return ()
    return tuple(spelling_of.get(name, str(name)) for name in problem.classes)


def _has_decimal_classes(workspace: CellWorkspace, problem: Problem) -> bool:
    """Test for classes that the table holds as decimals. In a frame integers with gaps are decimals too."""
    if not problem.classes or not all(type(name) is int for name in problem.classes):
        return False
    schema = pq.read_schema(workspace.inputs["table"])
    return problem.target in schema.names and pa.types.is_floating(schema.field(problem.target).type)


def plan_folds(locked: split.HoldoutSplit, problem: Problem, folds: int, seed: int) -> FoldPlan:
    """Plan as many folds as the training rows give, at most `folds`: a table of six years may have four.

    Too few moments for two folds in time order are mixed, since a model without a score is chosen by nothing.
    Rows that are too few in any order are left to the fits, which say what is missing.
    """
    keeps_equal_rows = bool(locked.together_rows) and locked.kind in split.UNSTRUCTURED_KINDS
    mixed = SplitKind.STRATIFIED if problem.is_classification else SplitKind.RANDOM
    # A person of several moments would be on both sides.
    mixed = SplitKind.GROUPED if problem.group_column else mixed
    for kind in dict.fromkeys((locked.kind, mixed if locked.kind is SplitKind.TIME else locked.kind)):
        for count in range(folds, 1, -1):
            plan = FoldPlan(kind, count, seed, keeps_equal_rows)
            if _count_folds(locked, problem, plan) == count:
                return plan
    return FoldPlan(locked.kind, folds, seed, keeps_equal_rows)


def _count_folds(locked: split.HoldoutSplit, problem: Problem, plan: FoldPlan) -> int:
    try:
        return len(split.make_folds(locked.train, problem, plan))
    except InvalidInput:
        return 0


def _fold_notes(locked: split.HoldoutSplit, plan: FoldPlan) -> list[str]:
    if plan.kind is locked.kind:
        return []
    return [
        "There are too few moments to compare models in time order: their folds mix moments, so that only the "
        "score on the hold-out, which lies after all training rows, says how later rows do."
    ]


def explain_structure(table: pd.DataFrame, request: Mapping[str, Any], problem: Problem) -> str:
    """Explain an inferred order or grouping of rows, as a sentence to append; empty if it was requested."""
    goal, structures = str(request.get("goal") or ""), []
    is_group_inferred = bool(problem.group_column and not request.get("group_column"))
    if problem.time_column and not request.get("time_column"):
        structures.append(find_time_column(table, problem.target, bool(problem.horizon), goal))
    if is_group_inferred and problem.time_column and problem.horizon:
        structures.append(find_series_column(table, problem.target, problem.time_column, problem.horizon))
    if is_group_inferred and not problem.time_column:
        structures.append(find_group_column(table, problem.target, goal))
    return "".join(f" ({structure.column!r}: {structure.reason}.)" for structure in structures if structure)


def _metric_notes(request: Mapping[str, Any], problem: Problem) -> list[str]:
    """Note that the requested metric is not defined for this target."""
    requested = request.get("metric")
    if not requested or requested == problem.metric:
        return []
    names = {name: metric.label for name, metric in METRICS.items()}
    return [
        f"{names.get(requested, requested)} is not defined for the values of {problem.target!r}, so"
        f" {names[problem.metric]} is used instead."
    ]
