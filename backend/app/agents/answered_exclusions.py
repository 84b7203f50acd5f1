"""Answers to an agent's questions, and the columns that the user leaves out in them."""

from collections.abc import Iterable, Sequence

from app.agents.column_lineage import derived_columns, source_columns, unnamed_columns
from app.agents.context import LabContext
from app.agents.goals.columns.named_columns import excluded_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.runtime.conversation import UserAnswer
from app.agents.state import LabUpdate, SessionState
from app.modeling.facts.conversion import parse_facts
from app.modeling.problem.problem import Problem
from app.tools.data.frames import TRAIN
from app.tools.invoke import ToolAnswer

FEATURES, TRAINING = "feature_engineering", "model_training"


def read_replies(answers: Sequence[ToolAnswer]) -> list[str]:
    """Return what the user answered to the questions of an agent."""
    replies = [a.value for a in answers if a.request.name == "ask_user" and a.refusal is None]
    return [parse_facts(UserAnswer, reply).answer for reply in replies]


def find_exclusions(answers: Sequence[ToolAnswer], names: Iterable[str], target: str) -> list[str]:
    """Return the columns, of those named, that the user leaves out in answers to an agent's questions."""
    goals = [parse_goal(reply) for reply in read_replies(answers)]
    table = TableProfile("", 0, tuple(Column(name, "", "") for name in names))
    excluded = [name for goal in goals for name in excluded_columns(goal, table, target)[0]]
    return list(dict.fromkeys(excluded))


def exclude_answered(state: SessionState, answers: Sequence[ToolAnswer]) -> Problem:
    """Return the problem without the columns that the answers leave out, under whatever name they were fetched.

    Rows are still ordered and grouped by the columns that order and group them.
    """
    problem, sql = state.problem, state.retrieved.sql
    columns = [column.name for column in state.columns]
    # The user may call a column as the table does, although the SELECT renamed it.
    sources = dict.fromkeys([*columns, *source_columns(sql)])
    excluded = find_exclusions(answers, sources, problem.target)
    if not excluded:
        return problem
    required = (problem.target, problem.time_column, *problem.group_columns)
    derived = {*derived_columns(sql, excluded), *unnamed_columns(columns, excluded)}
    names = [name for name in columns if name in excluded or name in derived]
    return problem.without(name for name in names if name not in required)


def withdraw_columns(
    lab: LabContext, agent: str, state: SessionState, answers: Sequence[ToolAnswer]
) -> LabUpdate:
    """Return the update of a stage that fits or judges, after the answers to its questions.

    Candidates may have read a column that an answer leaves out, so none of them is kept then, and features and
    fits are made again. That ends, since each time there is a column less.
    """
    problem = exclude_answered(state, answers)
    withdrawn = [name for name in problem.exclude if name not in state.problem.exclude]
    if not withdrawn:
        return {"problem": problem.to_json(), "refit_from": None}
    names = ", ".join(withdrawn)
    lab.step.post_message(agent, f"As you said, {names} is left out: everything is fitted again without it.")
    return {
        "problem": problem.to_json(),
        "refit_from": FEATURES if FEATURES in state.plan.stages else TRAINING,
        "frame": TRAIN,
        "fits": [],
        "weights": {},
        "blended": False,
    }
