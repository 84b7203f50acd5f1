"""Messages that ask for the columns themselves: their types, missing values and ranges."""

from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.plans import build
from app.plans.plan import (
    MAX_PROFILED_COLUMNS,
    DatasetSource,
    Plan,
    PlanSource,
    ProfileStep,
    UnionStep,
)

MAX_TABLES = 8
"""Tables of one overview: the query names each column about four times, and has 20,000 characters at most."""
_SUBJECTS = frozenset(map(stem, word_set("column field variable schema structure dtype attribute")))
_ASPECTS = frozenset(
    map(stem, word_set("type dtype missing null nan na empty blank distinct unique range minimum maximum name"))
)
_GAPS = frozenset(map(stem, word_set("missing null nan na")))
_CONTENTS = frozenset(
    map(
        stem,
        word_set(
            "have available loaded"
            " describe description overview summary summarize summarise statistics stats profile explore"
            " contain in inside about"
        ),
    )
)
"""Words that ask what a table holds, beside its name or a noun for it."""
_TABLES = frozenset(map(stem, word_set("table data dataset file set")))
_COUNTING = frozenset(map(stem, word_set("how many count number")))
_FILLING = frozenset(
    map(
        stem,
        word_set(
            """
            value count number cell of and the per each every in for how many are there all with their its show
            me us list what which data table dataset set is has have do does give display please we it them this
            these a an on to my along as well also tell describe look like i see let can you any
            s re got here work summary basic quick short brief general main key about some information info
            """
        ),
    )
)


class ColumnOverview(NamedTuple):
    """The plan of an overview. `reading`: what it leaves out."""

    plan: Plan
    reading: str | None = None


def plan_column_overview(message: str, tables: Sequence[TableProfile]) -> ColumnOverview | None:
    """Plan one row for each column; None for a message that asks for anything else."""
    mentioned = [
        table for table in tables if stem(table.name) in {stem(word) for word in message.casefold().split()}
    ]
    names = {stem(word) for table in mentioned for word in words(table.name)} - _SUBJECTS - _ASPECTS
    topics = {stem(word) for word in words(message)} - names
    # One further word, and the message asks for something else: "missing values by region".
    if not topics or not topics <= _SUBJECTS | _ASPECTS | _FILLING | _CONTENTS:
        return None
    is_of_columns = bool(topics & _SUBJECTS) or bool({"data", "type"} <= topics)
    asks_for_contents = bool(topics & _CONTENTS) and not topics & _COUNTING
    is_of_tables = asks_for_contents and (bool(mentioned or topics & _TABLES) or _is_statistics(topics))
    if not is_of_columns and not topics & _GAPS and not is_of_tables:
        return None
    profiled = (mentioned or list(tables))[:MAX_TABLES]
    if not profiled:
        return None
    wide = [table.name for table in profiled if len(table.columns) > MAX_PROFILED_COLUMNS]
    reading = f"The first {MAX_PROFILED_COLUMNS} columns of {', '.join(wide)} are described." if wide else None
    plans = [_profile(table) for table in profiled]
    if len(plans) == 1:
        return ColumnOverview(plans[0], reading)
    labelled = [_label(plan, table.name) for plan, table in zip(plans, profiled, strict=True)]
    others = [UnionStep(kind="union", source=PlanSource(kind="plan", plan=plan)) for plan in labelled[1:]]
    return ColumnOverview(labelled[0].model_copy(update={"steps": [*labelled[0].steps, *others]}), reading)


def _is_statistics(topics: set[str]) -> bool:
    """Tell if words ask for statistics of everything: `summary statistics`, `descriptive stats`."""
    return bool(topics & set(map(stem, ("statistics", "stats", "overview", "summarize"))))


def _profile(table: TableProfile) -> Plan:
    names = [column.name for column in table.columns]
    narrowed = [build.select(names[:MAX_PROFILED_COLUMNS])] if len(names) > MAX_PROFILED_COLUMNS else []
    source = DatasetSource(kind="dataset", table=table.name)
    return Plan(source=source, steps=[*narrowed, ProfileStep(kind="profile")])


def _label(plan: Plan, name: str) -> Plan:
    """Put the name of its table into the rows of an overview."""
    return plan.model_copy(update={"steps": [*plan.steps, build.derive("table", build.literal(name))]})
