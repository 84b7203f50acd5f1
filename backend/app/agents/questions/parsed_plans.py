"""Plans with what is said of them: their sentence, tables, columns and notes."""

from collections.abc import Iterator, Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.questions.composition.composer import plan_columns, plan_tables
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.question_reading import QuestionReading, repeated_spellings
from app.plans.describe import describe_plan
from app.plans.expressions import ColumnExpression, IsNullExpression, NotExpression
from app.plans.plan import DeriveStep, FilterStep, GroupStep, Plan


def describe_reading(plan: Plan, reading: QuestionReading, confidence: float) -> ParsedQuestion:
    """Return the plan of a reading with its description."""
    columns = list(plan_columns(plan, reading.scope))
    notes = [*reading.notes, *_notes_of_absent_rows(plan, columns), *_notes_of_spellings(plan, columns)]
    return ParsedQuestion(
        plan=plan,
        description=describe_plan(plan),
        tables=tuple(plan_tables(plan)),
        columns=tuple(dict.fromkeys(column.name for column in columns)),
        interpretations=tuple(dict.fromkeys(notes)),
        confidence=round(confidence, 2),
    )


def _notes_of_absent_rows(plan: Plan, columns: Sequence[Column]) -> Iterator[str]:
    """Say which rows do not count, because they lack a value that is asked for."""
    incomplete = {column.name for column in columns if column.missing}
    absent: list[str] = []
    for step in plan.steps:
        match step:
            case FilterStep(
                condition=NotExpression(operand=IsNullExpression(operand=ColumnExpression(name=name)))
            ):
                absent.append(name)
            case GroupStep():
                is_share = any(figure.function == "share_true" for figure in step.aggregations)
                outcome = "count neither way" if is_share else "are left out"
                yield from (
                    f"Rows without a `{name}` {outcome}." for name in absent if is_share or name in incomplete
                )
                absent = []


def _notes_of_spellings(plan: Plan, columns: Sequence[Column]) -> Iterator[str]:
    """Say which texts count as one because they differ in case only."""
    derived = {column.name for step in plan.steps if isinstance(step, DeriveStep) for column in step.columns}
    for column in columns:
        if column.name in derived and (spellings := repeated_spellings(column)):
            first = " and ".join(f"`{text}`" for text in spellings[0])
            others = f", as do spellings of {len(spellings) - 1} more" if len(spellings) > 1 else ""
            yield f"{first} of `{column.name}` count as one{others}."
