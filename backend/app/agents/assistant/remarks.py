"""Remarks about the conversation and its last result: thanks, `why?`, `is that significant?`."""

import re
from collections.abc import Sequence

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.follow_up_rules import call_plan
from app.agents.assistant.follow_ups.last_answer import LastAnswer, find_last_answer
from app.agents.assistant.message_parsing import list_profiles
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, say
from app.plans.conditions import list_columns
from app.plans.editing import split_plan
from app.plans.intervals import show_intervals
from app.plans.plan import Plan

_END = r"[\s.!?,]{0,10}"
_OPENING = r"[\s,.]{0,5}(?:(?:ok|okay|great|perfect|cool|nice|and|but|so|well|please)[\s,.!]{1,3}){0,3}"
_THANKS = re.compile(
    rf"{_OPENING}(?:many |a lot of )?(?:thanks|thank you|thx|ty|cheers|much appreciated)"
    rf"(?: (?:a lot|a bunch|very much|so much|again|for (?:that|this|your help|the help|everything)))?{_END}"
    rf"(?:that(?:'s| is) (?:all|it)(?: for (?:now|today))?{_END})?",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    rf"{_OPENING}(?:good ?bye|bye(?: bye)?|see you(?: later)?|good night){_END}", re.IGNORECASE
)
_WHY = re.compile(
    rf"{_OPENING}(?:(?:but )?why(?: is (?:that|this|it)(?: so)?| (?:that|so))?|how come|how so"
    r"|what (?:explains|causes|caused|is behind|is the (?:reason|cause) (?:for|of)) (?:that|this|it)"
    rf"|what(?:'s| is) the reason){_END}",
    re.IGNORECASE,
)
_SIGNIFICANT = re.compile(
    rf"{_OPENING}(?:is|are|was|were) (?:that|this|it|these|those|they|the (?:differences?|results?))"
    r" (?:(?:really|actually|statistically|just|a|any) ){0,2}(?:significant(?:ly different)?|by chance|chance"
    rf"|noise|meaningful|significant differences?){_END}"
    rf"|{_OPENING}how (?:sure|certain|reliable|confident) (?:are you|is (?:that|this|it)){_END}",
    re.IGNORECASE,
)
_RECALL = re.compile(
    rf"{_OPENING}(?:what (?:did|was|were) (?:i|we|my)(?: (?:ask|say|want|question|request|message))?"
    r"(?: (?:you|to know|to see))?|what was my) ?(?:the )?(?P<place>first|at first|initially|originally|before"
    r"|last|previously|just now|earlier)(?: (?:question|request|message|thing))?"
    rf"(?: (?:before|i asked|ask(?:ed)?))?{_END}",
    re.IGNORECASE,
)
_RESULT = re.compile(
    rf"{_OPENING}(?:what (?:was|were)|show(?: me)?(?: again)?|repeat) (?:the |my )?(?:very )?"
    r"(?P<place>first|original|initial|second|third|last|previous) (?:results?|answers?|tables?)"
    rf"(?: again)?{_END}",
    re.IGNORECASE,
)
_PLACES = {"first": 0, "original": 0, "initial": 0, "second": 1, "third": 2, "last": -1, "previous": -2}
_FIRST = frozenset({"first", "at first", "initially", "originally"})


def answer_remark(view: ConversationView[ChatBrief]) -> AgentAction | None:
    """Answer a remark from what the conversation holds; None for another message."""
    message, earlier = view.brief.message, view.brief.earlier
    if _THANKS.fullmatch(message):
        return say("You are welcome. Ask on whenever you like.")
    if _FAREWELL.fullmatch(message):
        return say("Goodbye. The conversation is kept, and goes on where it ends.")
    if recall := _RECALL.fullmatch(message):
        return say(_recall_message(recall["place"].casefold(), view.brief))
    if result := _RESULT.fullmatch(message):
        return _show_result(result["place"].casefold(), earlier)
    last = find_last_answer(earlier)
    if last is None:
        return None
    if _WHY.fullmatch(message):
        return say(_describe_reasons(last, list_profiles(view.brief)))
    return _judge_chance(last) if _SIGNIFICANT.fullmatch(message) else None


def _recall_message(place: str, brief: ChatBrief) -> str:
    if not brief.earlier:
        return "This is the first message of the conversation."
    if place not in _FIRST:
        return f"The message before this one was {brief.earlier[-1].message!r}."
    if brief.summary:
        # Older messages are there as lines of a summary only, of which the first may be left out.
        return f"The oldest messages of the conversation, and their answers:\n{brief.summary}"
    first = brief.earlier[0]
    return f"Your first message was {first.message!r}. Its answer began: {_shorten(first.text)}"


MAX_QUOTED_CHARS = 200
"""Characters of an earlier answer that are quoted: two lines."""


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_QUOTED_CHARS else f"{flat[: MAX_QUOTED_CHARS - 1]}…"


def _show_result(place: str, earlier: Sequence[EarlierTurn]) -> AgentAction | None:
    """Compute an earlier result again."""
    results = [turn for turn in earlier if turn.has_result]
    index = _PLACES[place]
    if not results or not -len(results) <= index < len(results):
        return say(f"The conversation has no {place} result.")
    turn = results[index]
    if not turn.plan:
        return say(f"The {place} result was that of {turn.message!r}, which came from code. Send it again.")
    return call_plan(Plan.model_validate(turn.plan), [f"The answer to {turn.message!r}."])


def _describe_reasons(last: LastAnswer, tables: Sequence[TableProfile]) -> str:
    """Say that figures give no reasons, and which messages look for them."""
    measured = _find_measured(last.plan, tables)
    keys = split_plan(last.plan).group
    shown_columns = {*last.columns, *(keys.keys if keys else ())}
    groups = [
        column.name
        for table in tables
        for column in table.columns
        if column.type in ("text", "boolean") and column.hint not in ("id", "constant")
        if column.name not in shown_columns and split_words(column.name)[-1:] != ["id"]
        if 2 <= column.distinct <= MAX_GROUPS
    ]
    ways = [f"`also by {groups[0]}` shows which groups it comes from"] if groups else []
    if measured is not None:
        ways.append(
            f"`predict {measured}` starts a study that ranks the columns by how much they help to predict it"
        )
    text = "A table of figures holds no reasons."
    if not ways:
        return f"{text} Ask for the same figure by another column, and compare the groups."
    return (
        f"{text} To look for them, say one of these: {'; '.join(ways)}. What goes together need not be a cause."
    )


MAX_GROUPS = 20
"""Values of a column by which an answer is split: more would hide the few that matter."""


def _find_measured(plan: Plan, tables: Sequence[TableProfile]) -> str | None:
    """The stored column that the first figure of a plan is computed from."""
    parts = split_plan(plan)
    figure = parts.group.aggregations[0] if parts.group and parts.group.aggregations else None
    if figure is None or figure.column is None:
        return None
    names = {figure.column}
    if figure.column in parts.derivations:
        names = {*list_columns(parts.derivations[figure.column], {})}
    stored = {column.name for table in tables for column in table.columns}
    return next(iter(sorted(names & stored)), None) if len(names) == 1 else None


def _judge_chance(last: LastAnswer) -> AgentAction:
    """Show intervals of means and shares; say of other figures why they have none."""
    plan = show_intervals(last.plan, last.columns)
    if plan is not None:
        note = (
            "The intervals are at 95 %, as if the rows were a random sample: groups whose intervals do not "
            "overlap differ by more than chance at that level, of others it cannot be told from this table."
        )
        return call_plan(plan, [note])
    parts = split_plan(last.plan)
    figure = parts.group.aggregations[0] if parts.group and parts.group.aggregations else None
    if figure is None or figure.column is None:
        reason = "Counts and lists have no spread between rows"
        return say(
            f"{reason}, so no test of them is made. Ask for a mean or a share of groups, then ask this again."
        )
    keys = [key for key in (parts.group.keys if parts.group else ()) if not key.endswith(" number")]
    by = f" by {keys[0]}" if keys else ""
    return say(
        f"No test is made of a {figure.function}: only means and shares have intervals here. Say `average "
        f"{figure.column}{by}`, then ask this again."
    )
