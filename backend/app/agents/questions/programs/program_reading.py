"""The reading of a program: the readers of its parts, and the rows that its plan begins with."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.questions.programs.conditions import ConditionReader, uses_statistic
from app.agents.questions.programs.figures import FigureReader
from app.agents.questions.programs.program import Program, Term, Test
from app.agents.questions.programs.terms import TermReader, find_references, walk_parts
from app.agents.questions.question_reading import Condition as RowCondition
from app.agents.questions.question_reading import NotUnderstood, QuestionReading, Value
from app.agents.questions.rows_plan import Figure as PlanFigure
from app.agents.questions.rows_plan import PlanDraft, flatten, start_plan
from app.agents.questions.tables.scope import QuestionScope, tables_of
from app.plans.plan import AggregateFunction

_REPEATING: frozenset[AggregateFunction] = frozenset({"sum", "mean", "median", "stddev", "quantile"})
"""Figures that change when rows of a joined table are repeated."""


@dataclass(frozen=True)
class ProgramReading:
    """A program with the readers of its parts. `keys`: the values of its groups.

    `tests` reads the conditions of all rows, `conditions` those of figures and groups.
    """

    program: Program
    reading: QuestionReading
    terms: TermReader
    tests: ConditionReader
    conditions: ConditionReader
    figures: FigureReader
    keys: tuple[Value, ...]

    @property
    def scope(self) -> QuestionScope:
        return self.reading.scope

    @property
    def main_table(self) -> str | None:
        """The table whose rows the question names first."""
        return next(iter(self.reading.main_tables), None)

    def start(self, values: Sequence[Value], base: str | None = None) -> PlanDraft:
        """Begin the plan: the joined tables, and the rows that meet the conditions.

        `values`: what the plan needs of each row. Conditions compare rows with a figure of those that meet all
        other conditions, and conditions of figures and groups with one of the rows that are left.
        """
        where = self.program.where
        plain = [self.tests.expression(c) for c in where if not uses_statistic(c)]
        compared = [self.tests.expression(c) for c in where if uses_statistic(c)]
        first, second = self.tests.statistics, self.conditions.statistics
        self.reading.conditions = [RowCondition(expression) for expression in plain]
        self.reading.keys = [*self.keys]
        needed = [statistic.value for statistic in (*first.values(), *second.values())]
        needed += [Value(expression, "", "boolean") for expression in compared]
        draft = start_plan(self.reading, [*values, *needed], base)
        for statistic in first.values():
            statistic.add_to(draft)
        for expression in compared:
            draft.keep(expression)
        for label, statistic in second.items():
            if label not in first:
                statistic.add_to(draft)
        return draft


def read_program(program: Program, reading: QuestionReading) -> ProgramReading:
    """Find the columns of a program and make the values of its groups."""
    terms = TermReader(find_references(program, reading.scope, reading.main_tables))
    has_current = any(isinstance(part, Test) and part.kind == "this" for part in walk_parts(program))
    tests, conditions = (ConditionReader(reading, terms, has_current) for _ in range(2))
    keys = tuple(terms.key(key) if isinstance(key, Term) else conditions.key(key) for key in program.keys)
    figures = FigureReader(conditions, [key.label for key in keys])
    return ProgramReading(program, reading, terms, tests, conditions, figures, keys)


def check_repetition(draft: PlanDraft, figures: Sequence[PlanFigure]) -> None:
    """Refuse totals and means of what joined rows repeat: expressions over columns of joined tables alone."""
    for figure in flatten(figures):
        tables = tables_of([figure.value.expression]) if figure.value else []
        if tables and draft.source.base not in tables and figure.function in _REPEATING:
            label = figure.value.label if figure.value else ""
            raise NotUnderstood(f"`{label}` would count once for each row of `{draft.source.base}`.")


def base_of_counts(program: ProgramReading, figures: Sequence[PlanFigure]) -> str | None:
    """The table whose rows are counted, where no column of the figures tells it; else None.

    Groups of a unique column of a table would have one row each: the rows that refer to it are counted.
    """
    if any(figure.value is not None and figure.function != "share_true" for figure in flatten(figures)):
        return None
    base, scope = program.main_table, program.scope
    keys = [key.reference for key in program.keys if key.reference]
    owner = next((reference.table for reference in keys if reference.column.unique), None)
    if owner is None or base not in (None, owner):
        return base
    referring = [
        table.name for table in scope.tables if table.name != owner and scope.reaches(table.name, owner)
    ]
    mentioned = [name for name in program.reading.main_tables if name in referring]
    return next(iter((*mentioned, *referring)), base)
