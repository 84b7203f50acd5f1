"""Rows behind the last answer or one group of it: `the rows behind the March bar`, `which rows are these`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agents.assistant.follow_ups.changed_plan import ChangedPlan, UnclearChange
from app.agents.assistant.follow_ups.plan_changes import ChangeReader
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans import build, editing
from app.plans.compiler import compile_plan
from app.plans.conditions import list_columns
from app.plans.plan import DatasetSource, FilterStep, JoinKey, JoinStep, Plan, PlanSource, WorkspaceSource
from app.plans.standing_conditions import describe_conditions

_ASKS = (
    r"(?:please )?(?:can (?:you|i) )?(?:show|list|give|display|see|print|get|let me see)(?: me| us)? "
    r"(?:all )?(?:of )?(?:the )?"
)
_SINGLE = r"(?:single |individual |raw |underlying |source |original )?"
_BEHIND = r"(?:behind|underlying|that make up|making up|(?:that|which) (?:went|go) into|belonging to)"
_OF = r"(?:of|in|for|under|with|from)"
_THIS = (
    r"(?:that|this|it|these|those|them|they|(?:that|this|the) "
    r"(?:number|figure|count|total|result|answer|table|chart|value))"
)
_ROWS_OF = re.compile(
    rf"(?:{_ASKS}|(?:the )?){_SINGLE}(?P<noun>\w{{1,30}}) (?:{_BEHIND}|(?P<of>{_OF})) (?P<words>.{{1,80}})",
    re.IGNORECASE,
)
_WHICH_ROWS = re.compile(
    rf"(?:which|what) (?P<noun>\w{{1,30}}) (?:are|were|is|lie|stand) (?:behind )?{_THIS}"
    rf"(?: (?:{_BEHIND}|{_OF}) (?P<words>.{{1,80}}))?|{_ASKS}{_SINGLE}(?P<bare>rows|records|entries|cases)",
    re.IGNORECASE,
)
_DRILL = re.compile(
    r"(?:drill|zoom|dig)(?: down)?(?: (?:in ?to|on|into|down to) (?P<words>.{1,80}))?", re.IGNORECASE
)
_IS_THIS = re.compile(_THIS, re.IGNORECASE)
_SIDE = re.compile(
    r"(?P<side>first|top|last|bottom|highest|biggest|largest|tallest|lowest|smallest|shortest)", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|that|this|my|all) ", re.IGNORECASE)
_GROUP_NOUN = re.compile(
    r"(?:'s)? (?:bars?|groups?|rows?|columns?|slices?|points?|ones?|lines?|numbers?|figures?|values?)$",
    re.IGNORECASE,
)
_END = re.compile(r"[\s?!.,;]{1,10}$|,? please[\s?!.]{0,5}$", re.IGNORECASE)
_SIZES = {"tallest": "highest", "shortest": "lowest"}
"""Sizes of bars, as those of figures."""
_ROW_NOUNS = frozenset({"rows", "row", "records", "entries", "lines", "cases", "data", "details", "detail"})
"""Nouns for rows of any table."""


def read_underlying_rows(message: str, plan: Plan, tables: Sequence[TableProfile]) -> ChangedPlan | None:
    """Read a message that asks for the rows of which the last answer is made; None for another one.

    Raises UnclearChange for a group that the answer does not have.
    """
    text = _END.sub("", " ".join(message.split()))
    parts = editing.split_plan(plan)
    match = _ROWS_OF.fullmatch(text) or _WHICH_ROWS.fullmatch(text) or _DRILL.fullmatch(text)
    if match is None or parts.group is None:
        return None
    captured = match.groupdict()
    noun = (captured.get("noun") or captured.get("bare") or "rows").casefold()
    is_of_rows = noun in _ROW_NOUNS
    if not is_of_rows and not _names_rows(noun, plan):
        return None
    words = _GROUP_NOUN.sub("", _ARTICLE.sub("", captured.get("words") or "")).strip()
    if not words or _IS_THIS.fullmatch(words):
        return ChangedPlan(_rows_of(plan, plan, tables), ["The rows behind the last answer."])
    if side := _SIDE.fullmatch(words):
        return _rows_of_first(plan, side["side"].casefold(), tables)
    is_drill = _DRILL.fullmatch(text) is not None
    return _rows_of_named(plan, words, tables, is_loose=bool(captured.get("of")), is_drill=is_drill)


def _names_rows(noun: str, plan: Plan) -> bool:
    """Test for the noun of the table of a plan: `jobs` of the table `garage_jobs`."""
    source = plan.source
    table = source.table if isinstance(source, DatasetSource | WorkspaceSource) else ""
    return stem(noun) in {stem(word) for word in split_words(table)}


def _rows_of_named(
    plan: Plan, words: str, tables: Sequence[TableProfile], is_loose: bool, is_drill: bool
) -> ChangedPlan | None:
    """The rows of the group that some words name. `is_loose`: they may be a question of their own as well."""
    parts = editing.split_plan(plan)
    keys = parts.group.keys if parts.group else []
    behind = {name for key in keys for name in list_columns(build.column(key), parts.derivations)}
    reader = ChangeReader(plan, tuple(tables))
    for fragment in reader.list_fragments(words, ("", "in", "for", "where", "with")):
        own = editing.split_plan(fragment)
        condition_columns = {
            name for step in own.conditions for name in list_columns(step.condition, own.derivations)
        }
        restricted = editing.restrict(plan, fragment) if condition_columns <= behind else None
        if restricted is not None:
            reading = f"The rows behind the last answer where {describe_conditions(fragment)}."
            return ChangedPlan(_rows_of(restricted, None, tables), [reading])
    # `Drill down to products` names no group of the answer, but groups within each of them.
    if is_drill and (within := ChangeReader(plan, tuple(tables), adds=True).read(f"by {words}")):
        return within
    if is_loose:
        return None  # `show me the orders of last week` asks for other rows
    key_list = " and ".join(f"`{key}`" for key in keys) or "no groups"
    raise UnclearChange(f"The last answer has {key_list}, and {words!r} is not found there.")


def _rows_of_first(plan: Plan, side: str, tables: Sequence[TableProfile]) -> ChangedPlan | None:
    """The rows of the first, last, greatest or smallest group of an answer."""
    # The last group of an order is the first one of the opposite order.
    turned = editing.reverse(plan) if side in ("last", "bottom") else plan
    word = "first" if side in ("last", "bottom", "top") else _SIZES.get(side, side)
    single = ChangeReader(turned, tuple(tables)).read(f"the {word} 1") if turned else None
    if single is None:
        raise UnclearChange(f"It cannot be told which group of the last answer is the {side} one. Name it.")
    reading = f"The rows behind the {side} group of the last answer."
    return ChangedPlan(_rows_of(single.plan, single.plan, tables), [reading])


def _rows_of(plan: Plan, groups: Plan | None, tables: Sequence[TableProfile]) -> Plan:
    """The rows of a plan without its groups. `groups`: the plan whose groups alone they are of."""
    parts = editing.split_plan(plan)
    keys = list(parts.group.keys) if parts.group else []
    schemas = make_table_schemas(tables)
    preparation = [*parts.preparation]
    columns_of_groups = [*compile_plan(groups, schemas).columns] if groups is not None else []
    # An answer that leaves out groups, such as the top 3, is made of the rows of the others only.
    if groups is not None and keys and set(keys) <= {*columns_of_groups} and _leaves_out_groups(groups):
        on = [JoinKey(left=key, right=key) for key in keys]
        preparation.append(
            JoinStep(kind="join", source=PlanSource(kind="plan", plan=groups), on=on, how="semi")
        )
    rows = replace(parts, preparation=tuple(preparation), group=None, ending=()).to_plan()
    derived = {*parts.derivations}
    columns = [name for name in compile_plan(rows, schemas).columns if name not in derived]
    return rows.model_copy(update={"steps": [*rows.steps, build.select(columns)]}) if derived else rows


def _leaves_out_groups(plan: Plan) -> bool:
    ending = editing.split_plan(plan).ending
    return any(isinstance(step, FilterStep) or step.kind in ("limit", "top_k") for step in ending)
