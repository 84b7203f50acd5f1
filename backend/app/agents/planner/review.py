"""The plan before it is carried out: its user approves it, changes it, or says in words what is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from app.agents.context import LabContext
from app.agents.planner.editing import SETTINGS, Tables, Wrong, changes_schema, edited
from app.agents.planner.output import Plan
from app.agents.planner.plan import PRICES
from app.agents.planner.stages import ALWAYS
from app.sessions.step_scope import Question
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

GO_ON = "go on"
APPROVE, REJECT, EDIT = "approve", "reject", "edit"

_READ = "get_dataset_schema"


@dataclass(frozen=True)
class Reviewed:
    """What the user made of a plan. With `words` the planner is to think again; `asked`: questions so far."""

    plan: Plan
    asked: int
    words: str | None = None


async def review(lab: LabContext, plan: Plan, answers: Sequence[ToolAnswer], asked: int) -> Reviewed:
    """Ask until the answer is one that can be followed."""
    tables, wrong = tables_of(plan, answers), ""
    for round_ in count(asked):
        answer: Any = await lab.step.ask(_question(round_, plan, tables, listed(answers), wrong))
        if answer in (GO_ON, {"decision": APPROVE}):
            return Reviewed(plan, round_ + 1)
        if isinstance(answer, str) or answer["decision"] == REJECT:
            words = answer if isinstance(answer, str) else answer["reason"]
            return Reviewed(plan, round_ + 1, words)
        try:
            wanted = answer["plan"].get("tables", plan.tables)
            tables = {**tables, **await _read(lab, round_, [name for name in wanted if name not in tables])}
            return Reviewed(edited(plan, answer["plan"], tables), round_ + 1)
        except Wrong as error:
            wrong = str(error)
    raise AssertionError("There is always another question.")


def tables_of(plan: Plan, answers: Sequence[ToolAnswer]) -> Tables:
    """Columns of every table that the planner has read."""
    if plan.source == "prices":
        of_several = ["coin"] if len(plan.coins) > 1 else []
        return {PRICES.name: [*of_several, *(column.name for column in PRICES.columns)]}
    return dict(_columns(answer.value) for answer in _of(answers, _READ))


def listed(answers: Sequence[ToolAnswer]) -> list[str]:
    """Names of the session's tables."""
    lists: list[Any] = [answer.value for answer in _of(answers, "list_datasets")]
    return [dataset["table"] for dataset in lists[-1]["datasets"]] if lists else []


async def _read(lab: LabContext, round_: int, names: Sequence[str]) -> Tables:
    """Tables that the user named and the planner had not read. Raises Wrong for one that is not there."""
    read = {}
    for place, name in enumerate(names):
        request = ToolRequest(f"tool:review.{round_}.{place}", _READ, {"dataset": name})
        answer = await invoke({_READ: REGISTRY[_READ]}, lab.tool_context("planner"), request)
        if answer.refusal is not None:
            raise Wrong(answer.refusal)
        table, columns = _columns(answer.value)
        read[table] = columns
    return read


def _of(answers: Sequence[ToolAnswer], tool: str) -> list[ToolAnswer]:
    return [answer for answer in answers if answer.request.name == tool and answer.refusal is None]


def _columns(schema: Any) -> tuple[str, list[str]]:
    return schema["table"], [column["name"] for column in schema["columns"]]


def _question(round_: int, plan: Plan, tables: Tables, known: Sequence[str], wrong: str) -> Question:
    lines = "\n".join(f"{place}. {line}" for place, line in enumerate(plan.steps, start=1))
    cannot = f"That cannot be done: {wrong} The plan is as it was.\n" if wrong else ""
    settings = plan.model_dump(mode="json", include=set(SETTINGS))
    return Question(
        key=f"review:{round_}",
        agent="planner",
        kind="approval",
        text=f"{cannot}Shall I go on like this? Or say what to change.\n{lines}",
        answer_schema=_answer_schema(changes_schema(tables, known)),
        options=[GO_ON],
        default=GO_ON,
        about={"plan": settings, "stages_that_stay": [*ALWAYS], "wrong": wrong or None},
    )


def _answer_schema(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Words, or a decision; `plan` of an edit holds the settings that change, the others stay."""
    definitions = dict(changes.get("$defs", {}))
    plain = {key: value for key, value in changes.items() if key != "$defs"}
    words = {"type": "string", "minLength": 1, "maxLength": 4000}
    return {
        "anyOf": [
            words,
            _decision(APPROVE),
            _decision(REJECT, reason=words),
            _decision(EDIT, plan={"$ref": "#/$defs/changes"}),
        ],
        "$defs": {**definitions, "changes": plain},
    }


def _decision(name: str, **more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"decision": {"const": name}, **more},
        "required": ["decision", *more],
        "additionalProperties": False,
    }
