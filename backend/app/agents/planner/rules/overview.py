"""Plans for goals that ask to look at the data: the columns of the tables, described without a model."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile, mentioned_tables
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.planner_facts import Situation
from app.agents.planner.step_descriptions import describe_steps
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.runtime.offline_policy import AgentAction, finish
from app.plans import build
from app.plans.plan import MAX_PROFILED_COLUMNS, DatasetSource, PlanSource, ProfileStep, Step, UnionStep
from app.plans.plan import Plan as QueryPlan

TABLE_COLUMN = "table"
"""Name of the column that tells the tables of an overview apart."""
MAX_TABLES = 10
"""Tables of one overview: more are a list of columns that nobody reads."""
_HOW_TO_GO_ON = "Name a column to learn what it goes with, or ask for figures of the rows."


def plan_overview(situation: Situation) -> AgentAction | None:
    """Plan the description of the tables for a goal that asks to look at the data and names no column."""
    if not situation.is_overview:
        return None
    return _describe(situation)


def _describe(situation: Situation) -> AgentAction:
    tables = _choose_tables(situation)
    names = [table.name for table in tables]
    listing = ", ".join(f"`{name}`" for name in names)
    description = f"type, missing values and range of each column, from {listing}"
    message = f"I will answer with {description}."
    parsed = ParsedQuestion(
        plan=_describe_tables(tables),
        description=description,
        tables=tuple(names),
        confidence=round(situation.aims["explore"], 2),
    )
    plan = Plan(
        question=situation.goal.text,
        parsed_question=parsed,
        tables=names,
        target=tables[0].columns[0].name,
        notes=[_HOW_TO_GO_ON],
        understanding=Understanding(text=message, confidence=parsed.confidence),
    )
    return finish(plan.model_copy(update={"steps": describe_steps(plan)}), message=message)


def _choose_tables(situation: Situation) -> Sequence[TableProfile]:
    tables = [table for table in situation.tables if table.columns]
    return (mentioned_tables(tables, situation.goal.text) or tables)[:MAX_TABLES]


def _describe_tables(tables: Sequence[TableProfile]) -> QueryPlan:
    """Make the plan with one row for each column of the tables."""
    first, *others = (_describe_table(table, is_named=len(tables) > 1) for table in tables)
    unions = [UnionStep(kind="union", source=PlanSource(kind="plan", plan=other)) for other in others]
    return QueryPlan(source=first.source, steps=[*first.steps, *unions])


def _describe_table(table: TableProfile, is_named: bool) -> QueryPlan:
    steps: list[Step] = []
    if len(table.columns) > MAX_PROFILED_COLUMNS:
        steps.append(build.select(*(column.name for column in table.columns[:MAX_PROFILED_COLUMNS])))
    steps.append(ProfileStep(kind="profile"))
    if is_named:
        steps.append(build.derive(TABLE_COLUMN, build.literal(table.name)))
    return QueryPlan(source=DatasetSource(kind="dataset", table=table.name), steps=steps)
