"""Messages that are whole questions: they name a figure and what it is of, whatever was answered before."""

import re
from collections.abc import Iterator

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.questions.parsed_question import ParsedQuestion
from app.plans.conditions import list_columns
from app.plans.editing import split_plan
from app.plans.plan import DatasetSource, FilterStep, JoinStep, Plan, SortStep, WorkspaceSource

_ASKS = re.compile(
    r"^\W{0,5}(?:(?:please|can you|could you|ok|okay|now|then) ){0,2}"
    r"(?:what|which|who|how (?:many|much|often)|rank|list|find|count|compute|calculate|(?:is|are) there|do"
    r"|does)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:that|this|those|these|them|it|its|their|they|same|again|instead|too|also|others?|rest|remaining|left"
    r"|previous|last (?:answer|result|one))\b",
    re.IGNORECASE,
)


def asks_whole_question(message: str) -> bool:
    """Test for the form of a question that refers to no answer."""
    return _ASKS.match(message) is not None and _REFERS.search(message) is None


def names_subject(message: str, parsed: ParsedQuestion) -> bool:
    """Test for a message that names the rows or the measure of its own reading."""
    names = {stem(word) for word in split_words(message)}
    return any(
        {stem(word) for word in split_words(name)} & names for name in _list_subjects(parsed.plan) if name
    )


def _list_subjects(plan: Plan) -> Iterator[str]:
    """The tables of a plan, and the columns that its figures and orders are of."""
    parts = split_plan(plan)
    sources = [plan.source, *(step.source for step in parts.preparation if isinstance(step, JoinStep))]
    yield from (source.table for source in sources if isinstance(source, DatasetSource | WorkspaceSource))
    for figure in parts.group.aggregations if parts.group else ():
        yield figure.column or ""
        if figure.column in parts.derivations:
            yield from list_columns(parts.derivations[figure.column], {})
    if parts.group is None:
        for step in parts.preparation:
            if isinstance(step, FilterStep):
                yield from list_columns(step.condition, parts.derivations)
        order = parts.find(SortStep)
        yield from (key.column for key in (order.keys if order else ()))
