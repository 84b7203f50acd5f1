"""Review of a plan by the user, who approves it, edits it or requests changes in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from app.agents.context import LabContext
from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import SETTINGS, InvalidPlan, Tables, changes_schema, edit_plan
from app.agents.planner.stages import REQUIRED_STAGES
from app.agents.planner.stored_prices import PRICES
from app.agents.planner.tool_answers import DatasetListing
from app.sessions.step_scope import Question
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

CONTINUE = "go on"
APPROVE, REJECT, EDIT = "approve", "reject", "edit"

_READ = "get_dataset_schema"


@dataclass(frozen=True)
class ReviewResult:
    """The reviewed plan. `request`: changes in words for another run of the planner."""

    plan: Plan
    question_count: int
    request: str | None = None


async def review_plan(
    lab: LabContext, plan: Plan, answers: Sequence[ToolAnswer], question_count: int
) -> ReviewResult:
    """Ask the user until an answer can be carried out."""
    tables, error_text = read_tables(plan, answers), ""
    for number in count(question_count):
        answer: Any = await lab.step.ask(_question(number, plan, tables, session_tables(answers), error_text))
        if answer in (CONTINUE, {"decision": APPROVE}):
            return ReviewResult(plan, number + 1)
        if isinstance(answer, str) or answer["decision"] == REJECT:
            request = answer if isinstance(answer, str) else answer["reason"]
            return ReviewResult(plan, number + 1, request)
        try:
            # An edit may name tables that the planner has not read: it is checked against their columns.
            table_names = answer["plan"].get("tables", plan.tables)
            tables = {
                **tables,
                **await _read_missing_tables(lab, number, [name for name in table_names if name not in tables]),
            }
            return ReviewResult(edit_plan(plan, answer["plan"], tables), number + 1)
        except InvalidPlan as error:
            error_text = str(error)
    raise AssertionError("The loop over questions has no end.")


def read_tables(plan: Plan, answers: Sequence[ToolAnswer]) -> Tables:
    """Return the columns of all tables that the planner has read."""
    if plan.source == "prices":
        coin_column = ["coin"] if len(plan.coins) > 1 else []
        return {PRICES.name: [*coin_column, *(column.name for column in PRICES.columns)]}
    return dict(_columns(answer.value) for answer in _successes(answers, _READ))


def session_tables(answers: Sequence[ToolAnswer]) -> list[str]:
    """Return the names of the session's tables."""
    listings = _successes(answers, "list_datasets")
    return DatasetListing.model_validate(listings[-1].value).table_names if listings else []


async def _read_missing_tables(lab: LabContext, number: int, names: Sequence[str]) -> Tables:
    """Read the schemas of tables that the user named. Raises InvalidPlan for an unknown one."""
    columns_by_table = {}
    for position, name in enumerate(names):
        request = ToolRequest(f"tool:review.{number}.{position}", _READ, {"dataset": name})
        answer = await invoke({_READ: REGISTRY[_READ]}, lab.tool_context("planner"), request)
        if answer.refusal is not None:
            raise InvalidPlan(answer.refusal)
        table, columns = _columns(answer.value)
        columns_by_table[table] = columns
    return columns_by_table


def _successes(answers: Sequence[ToolAnswer], tool: str) -> list[ToolAnswer]:
    return [answer for answer in answers if answer.request.name == tool and answer.refusal is None]


def _columns(schema: Any) -> tuple[str, list[str]]:
    return schema["table"], [column["name"] for column in schema["columns"]]


def _question(number: int, plan: Plan, tables: Tables, table_names: Sequence[str], error_text: str) -> Question:
    lines = "\n".join(f"{position}. {line}" for position, line in enumerate(plan.steps, start=1))
    refusal = f"This change is not possible: {error_text} The plan is unchanged.\n" if error_text else ""
    settings = plan.model_dump(mode="json", include=set(SETTINGS))
    return Question(
        key=f"review:{number}",
        agent="planner",
        kind="approval",
        text=f"{refusal}Shall I continue with this plan? You can also describe changes.\n{lines}",
        answer_schema=_answer_schema(changes_schema(tables, table_names)),
        options=[CONTINUE],
        default=CONTINUE,
        about={
            "plan": settings,
            "understood": plan.understanding.model_dump(mode="json") if plan.understanding else None,
            "stages_that_stay": [*REQUIRED_STAGES],
            "wrong": error_text or None,
        },
    )


def _answer_schema(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Make the schema of the answer: a text, or a decision. `plan` of an edit holds the changed settings."""
    definitions = dict(changes.get("$defs", {}))
    schema = {key: value for key, value in changes.items() if key != "$defs"}
    text = {"type": "string", "minLength": 1, "maxLength": 4000}
    return {
        "anyOf": [
            text,
            _decision(APPROVE),
            _decision(REJECT, reason=text),
            _decision(EDIT, plan={"$ref": "#/$defs/changes"}),
        ],
        "$defs": {**definitions, "changes": schema},
    }


def _decision(name: str, **more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"decision": {"const": name}, **more},
        "required": ["decision", *more],
        "additionalProperties": False,
    }
