"""The choice of a split by measurement: scores at random, on new entities and at later times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.code_order import find_code, is_target, number_codes
from app.modeling.analysis.assumptions.entities_and_order import RowStructure, find_entities, find_order
from app.modeling.analysis.assumptions.later_rows import predict_later
from app.modeling.analysis.assumptions.measurement import (
    FOLDS,
    ComparedScores,
    SidePredictions,
    compare_scores,
    number_time_blocks,
    predict_held_out,
    predict_out_of_fold,
)
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import code_assumption, entities_assumption, time_assumption
from app.modeling.facts.assumptions import AssumptionJson, AssumptionKind, AssumptionSide
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities
from app.modeling.problem.problem import Problem
from app.modeling.splits.groups import group_labels
from app.modeling.splits.split import choose_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline
from app.modeling.type_inference.distinct_values import is_text

MIN_KNOWN_SHARE = 0.5
"""Share of the later rows whose entities come earlier too, from which later rows are those of known ones."""


@dataclass(frozen=True)
class Structures:
    """Structures that the request leaves open. Those that the split respects already come first.

    `code`: an identifier whose numbers may order the rows, where no date or year does.
    """

    entities: list[RowStructure]
    order: RowStructure | None
    code: str | None = None


def find_structures(table: pd.DataFrame, problem: Problem, request: Mapping[str, Any]) -> Structures:
    """Find the structures of a table that neither the request nor the words of its goal settle."""
    if problem.horizon:
        return Structures([], None)
    goal = str(request.get("goal") or "")
    entities: list[RowStructure] = []
    if not request.get("group_column") and mentions_new_entities(goal) is None:
        entities = find_entities(table, problem.target)
        if problem.group_column:
            inferred = RowStructure((problem.group_column,), "each value has several rows", True)
            others = [entity for entity in entities if problem.group_column not in entity.columns]
            same = [entity for entity in entities if problem.group_column in entity.columns]
            entities = [*(same or [inferred]), *others]
    order = None
    # Groups that the user names stay together in every split, which one in time would part.
    is_open = not (request.get("time_column") or request.get("group_column"))
    if is_open and not mentions_future(goal):
        order = find_order(table, problem.target)
        if problem.time_column:
            order = RowStructure((problem.time_column,), "the file is sorted by it", True)
    is_ordered = order is not None or problem.time_column is not None
    code = find_code(table, problem.target) if is_open and not is_ordered else None
    return Structures(entities, order, code)


def measure_structures(
    train: pd.DataFrame,
    problem: Problem,
    structures: Structures,
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
) -> list[AssumptionJson]:
    """Measure what each structure of the training rows changes; those without a figure are left out.

    `deadline`: of all of them; without it, counts of rows alone bound the time.
    """
    deadline = deadline or Deadline(None)
    structures, rows = _choose_measured(structures, train, problem, deadline)
    if min(rows, len(train)) < MIN_ROWS:
        return []
    free = replace(problem, time_column=None, group_column=None, group_with=())
    bench = Bench(free, seed, rows, deadline, threads)
    is_in_time = problem.time_column is not None
    # What the split respects already comes first, since its figure is needed most. Else the order comes before
    # further entities: those are often parts of the first, later times are another risk.
    before_order = 0 if is_in_time else 1
    measured = _measure_entities(bench, train, problem, structures.entities[:before_order])
    if structures.order and (not deadline.is_over or not measured):
        measured += _measure_order(bench, train, problem, structures.order, measured)
    measured += _measure_entities(bench, train, problem, structures.entities[before_order:])
    leading = _choose_cautious(measured)
    if is_in_time and not any(entry.kind is AssumptionKind.TIME for entry in measured):
        leading = None  # the split stays in time without a figure
    is_respected = is_in_time or leading is not None
    assumptions = [entry.to_assumption(problem, entry is leading, is_respected) for entry in measured]
    if structures.code and leading is None and not bench.deadline.is_over:
        compared = bench.compare_codes(train, structures.code)
        # Most identifiers say nothing of time: only one that does is a condition.
        if compared and compared.matters:
            is_number = not is_text(train[structures.code])
            assumptions.append(code_assumption(structures.code, compared, problem, is_number))
    return assumptions


def _measure_entities(
    bench: "Bench", train: pd.DataFrame, problem: Problem, entities: Sequence[RowStructure]
) -> list["MeasuredStructure"]:
    """Measure what new entities change, as long as there is time."""
    measured = []
    for entity in entities:
        compared = bench.compare_entities(train, entity) if not bench.deadline.is_over else None
        if compared:
            is_settled = problem.group_column in entity.columns
            measured.append(MeasuredStructure(entity, compared, AssumptionKind.ENTITIES, is_settled))
    return measured


def _measure_order(
    bench: "Bench",
    train: pd.DataFrame,
    problem: Problem,
    order: RowStructure,
    entities: Sequence["MeasuredStructure"],
) -> list["MeasuredStructure"]:
    """Measure what later times change."""
    # Later rows are often those of new entities too: only the loss beyond that is one of time. The later rows
    # of a panel, whose entities come again at each time, are of known ones.
    nested = next((entry.structure for entry in entities if entry.compared.matters), None)
    if nested and share_known_later(train, order.columns[0], nested.columns) >= MIN_KNOWN_SHARE:
        nested = None
    is_settled = problem.time_column == order.columns[0]
    is_settled |= order.is_strong and nested is None
    compared = bench.compare_order(train, order, None if is_settled else nested)
    return [MeasuredStructure(order, compared, AssumptionKind.TIME, is_settled)] if compared else []


def share_known_later(train: pd.DataFrame, time: str, entity: Sequence[str]) -> float:
    """Share of the last third of the rows by `time` whose `entity` (columns) has rows before it.

    Rows of one moment stay together; NaN without later ones.
    """
    complete = train[list(dict.fromkeys((time, *entity)))].dropna()
    moments, times = pd.factorize(complete[time], sort=True)
    if len(times) < 2:
        return float("nan")
    last_earlier = min(np.quantile(moments, 1 - 1 / FOLDS, method="lower"), len(times) - 2)
    keys = pd.MultiIndex.from_frame(complete[list(entity)])
    return float(keys[moments > last_earlier].isin(keys[moments <= last_earlier]).mean())


def _choose_measured(
    structures: Structures, train: pd.DataFrame, problem: Problem, deadline: Deadline
) -> tuple[Structures, int]:
    """Return as many structures as there is time for, the most certain first, and the rows to measure on."""
    entities, order, code = list(structures.entities), structures.order, structures.code
    while entities or order or code:
        count = len(entities) + (order is not None) + (code is not None)
        # Two sides a structure: if its condition holds, and if not; later rows are predicted with the time too.
        rows = sample_size(train, problem, 2 * count + (order is not None), deadline)
        if rows >= MIN_ROWS:
            return Structures(entities, order, code), rows
        if code:
            code = None
        elif len(entities) > 1 or not order or (entities and problem.time_column is not None):
            entities.pop()
        else:
            order = None
    return Structures([], None), 0


@dataclass(frozen=True)
class MeasuredStructure:
    """A structure with its scores. `is_settled`: the split respects it whatever it changes."""

    structure: RowStructure
    compared: ComparedScores
    kind: AssumptionKind
    is_settled: bool

    def to_assumption(self, problem: Problem, is_leading: bool, is_another_leading: bool) -> AssumptionJson:
        describe = time_assumption if self.kind is AssumptionKind.TIME else entities_assumption
        return describe(self.structure, self.compared, problem, is_leading, is_another_leading)


def _choose_cautious(measured: list[MeasuredStructure]) -> MeasuredStructure | None:
    """Choose the structure that the split respects: the order of the file, else the one that costs most.

    An order that costs little beyond new entities leaves them on both sides of a split in time, whose score
    would be that of known ones.
    """
    eligible = [entry for entry in measured if entry.is_settled or entry.compared.matters]
    orders = (entry for entry in eligible if entry.kind is AssumptionKind.TIME and entry.is_settled)
    return next(orders, None) or max(eligible, key=lambda entry: entry.compared.cost, default=None)


@dataclass(frozen=True)
class UnmeasuredStructures:
    """Structures without a figure where time is limited. Those of the file's own layout decide the split."""

    entities: list[RowStructure]
    order: RowStructure | None
    has_measured: bool
    """True if another structure has a figure, which decides the split."""

    @classmethod
    def from_assumptions(cls, structures: Structures, assumptions: Sequence[AssumptionJson]) -> Self:
        measured = {tuple(assumption["columns"]) for assumption in assumptions}
        entities = [entity for entity in structures.entities if entity.columns not in measured]
        order = structures.order
        order = None if order is None or order.columns in measured else order
        return cls(entities, order, bool(assumptions))

    def apply(self, problem: Problem) -> Problem:
        """Return the problem with the first of these that lays out the file: the cautious side of a split."""
        if problem.time_column or problem.group_column or self.has_measured:
            return problem
        if self.order and self.order.is_strong:
            return replace(problem, time_column=self.order.columns[0])
        entity = next((entity for entity in self.entities if entity.is_strong), None)
        return _group_by(problem, entity) if entity else problem

    def describe(self) -> list[str]:
        """Name them in at most one sentence."""
        names = ", ".join(" and ".join(map(repr, entity.columns)) for entity in self.entities)
        parts = [f"new values of {names}"] if names else []
        parts += [f"rows with a later {self.order.columns[0]!r}"] if self.order else []
        reason = "too little time, or too few rows."
        return [f"It was not measured what {' and '.join(parts)} change: {reason}"] if parts else []


def _is_cautious(assumption: AssumptionJson) -> bool:
    return assumption["chosen"] == AssumptionSide.OTHERWISE


def apply_choice(problem: Problem, assumptions: Sequence[AssumptionJson]) -> Problem:
    """Return the problem with the first structure whose cautious side was chosen; without the others."""
    for assumption in assumptions:
        columns = assumption["columns"]
        if assumption["kind"] == AssumptionKind.TIME:
            problem = replace(problem, time_column=columns[0] if _is_cautious(assumption) else None)
        elif assumption["kind"] == AssumptionKind.ENTITIES:
            if _is_cautious(assumption):
                return replace(problem, group_column=columns[0], group_with=tuple(columns[1:]))
            if problem.group_column == columns[0]:
                problem = replace(problem, group_column=None, group_with=())
    return problem


@dataclass(frozen=True)
class Bench:
    """Measurements of one problem without structure, on at most `rows` rows."""

    problem: Problem
    seed: int
    rows: int
    deadline: Deadline
    threads: int

    def compare_entities(self, train: pd.DataFrame, entity: RowStructure) -> ComparedScores | None:
        """Compare folds at random with folds of whole entities, on the rows of a sample of entities."""
        grouped = _group_by(self.problem, entity)
        # Rows without the entity's name would be one large entity.
        complete = train.dropna(subset=list(entity.columns))
        codes = _code_entities(complete, grouped)
        if len(complete) > self.rows:
            entities = np.random.default_rng(self.seed).permutation(int(codes.max()) + 1)
            # Whole entities are drawn: with single rows hardly any entity would have two.
            last = int(np.searchsorted(np.cumsum(np.bincount(codes)[entities]), self.rows)) + 1
            is_sampled = np.isin(codes, entities[:last])
            complete, codes = complete.loc[is_sampled], codes[is_sampled]
        frame = complete.reset_index(drop=True)
        free = self.predict(frame, self.problem)
        return self._compare(free, self._predict_in_time(free, frame, grouped), lambda _: codes)

    def compare_order(
        self, train: pd.DataFrame, order: RowStructure, nested: RowStructure | None
    ) -> ComparedScores | None:
        """Compare folds at random with folds of later rows, on rows drawn over all of the time.

        With `nested` entities, both sides are of new ones.
        """
        column = order.columns[0]
        complete = train.dropna(subset=[column, *(nested.columns if nested else ())])
        positions = sample_rows(len(complete), self.rows, self.seed)
        frame = complete.iloc[positions].sort_values(column, kind="stable").reset_index(drop=True)
        free, ordered = self.problem, replace(self.problem, time_column=column)
        if nested:  # folds of entities hide their name, so the folds in time must not see it either
            free = _group_by(free, nested)
            ordered = replace(ordered, exclude=(*ordered.exclude, nested.columns[0]))
        # The last of the folds in time learns from as many rows as each of those at random.
        later = predict_later(frame, ordered, FOLDS - 1, self.seed, self.threads, self.deadline.allows)
        predictions = later.predictions if later else None
        return self._compare(
            self._predict_in_time(predictions, frame, free),
            predictions,
            lambda rows: number_time_blocks(frame[column], rows),
        )

    def compare_codes(self, train: pd.DataFrame, name: str) -> ComparedScores | None:
        """Compare folds at random with the latest rows by an identifier.

        A number is an input on both sides, since the split leaves it with the models. A text is none.
        """
        order = number_codes(train[name])
        if order is None or is_target(order, train[self.problem.target]):
            return None
        complete = train.assign(**{name: order}).dropna(subset=[name])
        positions = sample_rows(len(complete), self.rows, self.seed)
        frame = complete.iloc[positions].sort_values(name, kind="stable").reset_index(drop=True)
        hidden = (name,) if is_text(train[name]) else ()
        problem = replace(self.problem, exclude=(*self.problem.exclude, *hidden))
        free = self.predict(frame, problem)
        if free is None or not self.deadline.allows(free.seconds):
            return None
        is_latest = np.arange(len(frame)) >= len(frame) * (1 - 1 / FOLDS)
        later = predict_held_out(frame, problem, is_latest, self.seed, self.threads)
        return self._compare(free, later, lambda rows: number_time_blocks(frame[name], rows))

    def _predict_in_time(
        self, other: SidePredictions | None, frame: pd.DataFrame, problem: Problem
    ) -> SidePredictions | None:
        """Predict the second side; None without the first, or if as much again would not end in time."""
        return self.predict(frame, problem) if other and self.deadline.allows(other.seconds) else None

    def predict(self, frame: pd.DataFrame, problem: Problem) -> SidePredictions | None:
        if make_labels(frame, problem).nunique() < 2:
            return None
        plan = FoldPlan(choose_kind(problem)[0], FOLDS, self.seed)
        return predict_out_of_fold(frame, problem, plan, self.threads)

    def _compare(
        self,
        holds: SidePredictions | None,
        otherwise: SidePredictions | None,
        number_units: Callable[[np.ndarray], np.ndarray | None],
    ) -> ComparedScores | None:
        if holds is None or otherwise is None:
            return None
        rows = np.flatnonzero(holds.tested & otherwise.tested)
        return compare_scores(holds, otherwise, self.problem, number_units(rows), seed=self.seed)


def _group_by(problem: Problem, entity: RowStructure) -> Problem:
    return replace(problem, group_column=entity.columns[0], group_with=entity.columns[1:])


def _code_entities(frame: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Number the entity of each row (rows,)."""
    codes: np.ndarray = pd.factorize(group_labels(frame, problem))[0]
    return codes
