"""Plans with what is said of them: their sentence, tables, columns and notes."""

from collections.abc import Iterator

from app.agents.questions.composition.composer import plan_columns, plan_tables
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.question_reading import QuestionReading
from app.plans.describe import describe_plan
from app.plans.expressions import ColumnExpression, IsNullExpression, NotExpression
from app.plans.plan import FilterStep, GroupStep, Plan


def describe_reading(plan: Plan, reading: QuestionReading, confidence: float) -> ParsedQuestion:
    """Return the plan of a reading with its description."""
    columns = [column.name for column in plan_columns(plan, reading.scope)]
    return ParsedQuestion(
        plan=plan,
        description=describe_plan(plan),
        tables=tuple(plan_tables(plan)),
        columns=tuple(dict.fromkeys(columns)),
        interpretations=tuple(dict.fromkeys([*reading.notes, *_notes_of_shares(plan)])),
        confidence=round(confidence, 2),
    )


def _notes_of_shares(plan: Plan) -> Iterator[str]:
    """Say of which rows a plan takes no share: those without a value that its condition needs."""
    absent: list[str] = []
    for step in plan.steps:
        match step:
            case FilterStep(
                condition=NotExpression(operand=IsNullExpression(operand=ColumnExpression(name=name)))
            ):
                absent.append(name)
            case GroupStep() if any(figure.function == "share_true" for figure in step.aggregations):
                yield from (f"Rows without a `{name}` count neither way." for name in absent)
