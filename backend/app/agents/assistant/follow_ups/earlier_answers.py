"""Messages that return to an earlier answer: `undo that`, `go back to before the filter`, `back to 2026`.

The answers that a conversation can return to are found by going through its turns once more: each result is
put on a stack, and each turn that returned took the stack back. So `undo` twice goes back two changes.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.goals.words.vocabulary import word_set
from app.number_words import NUMBER_WORDS, read_number_words
from app.plans.editing import split_plan
from app.plans.plan import GroupStep, LimitStep, Plan, SortStep, TopKStep

_COURTESY = (
    r"[\s,.]{0,5}(?:(?:please|no|ok|okay|can you|could you|let's|let us|now|actually|sorry)[\s,]{1,3}){0,3}"
)
_COUNT = rf"(?:\d|{'|'.join(NUMBER_WORDS)})"
_BACK = r"(?:(?:go|get|step|switch|take me|bring me|move|jump) back|return|back)"
_LAST_CHANGE = r"(?:the|that|my|this) (?:last |previous )?(?:change|step|one|thing|message)"
_UNDO = re.compile(
    rf"{_COURTESY}(?:"
    rf"(?:undo|revert|roll back|rollback|take back)"
    rf"(?: (?:that|this|it|{_LAST_CHANGE}|(?P<changes>{_COUNT}) (?:changes|steps)))?(?: again)?"
    r"|take (?:that|it|this) back"
    rf"|(?:(?:go|get|step) )?back(?: (?:again|(?P<steps>one|{_COUNT}) steps?|one))?"
    rf"|(?:{_BACK} to |(?:show(?: me| us)?|give me) )?(?:the )?(?:previous|former) "
    r"(?:one|result|answer|table|chart|version|state|view)(?: again)?"
    rf"|(?:{_BACK} to |show(?: me| us)? )?(?:how|as|like) (?:it|that) was(?: before)?"
    r")(?:,? please)?[\s.!?]{0,5}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"{_COURTESY}(?:{_BACK} to (?:(?:how|as|what) (?:it|that) was |the (?:result|answer|table|chart) )?"
    r"|(?:show(?: me| us)?|give me) (?:it|that|the (?:result|answer|table|chart)) (?:as it was )?)before "
    r"(?P<before>.{1,80}?)"
    r"|[\s,.]{0,5}(?:please )?(?:undo|revert|take back) (?:the|that|my) (?:last )?(?P<undone>.{1,40}?)"
    r"[\s.!?]{0,5}$",
    re.IGNORECASE,
)
_FIRST = re.compile(
    rf"{_COURTESY}{_BACK} to the (?:very )?(?:first|original|initial|beginning|start)"
    r"(?: (?:one|result|answer|question|table|chart|query|list))?[\s.!?]{0,5}",
    re.IGNORECASE,
)
_BY_WORDS = re.compile(
    rf"{_COURTESY}{_BACK} to (?:the |those |that )?(?P<words>.{{1,80}}?)(?: again)?(?:,? please)?"
    r"[\s.!?]{0,5}",
    re.IGNORECASE,
)
_ONE_STEP = 1
"""Changes that `undo` takes back without a number."""
_SILENT_WORDS = word_set(
    """
    the a an of by for in i we you to and it that this only just filter filtered filters condition conditions
    restriction last show me one chart result answer table version with adding added
    """
)
"""Words of a message that tell no answer from another."""


class EarlierAnswer(NamedTuple):
    """An answer that the conversation can return to. `plan`: None for that of a program or of SQL."""

    message: str
    plan: Plan | None
    chart: LastChart | None


class ReturnedAnswer(NamedTuple):
    """An earlier answer that a message returns to, in words."""

    answer: EarlierAnswer
    reading: str


_ORIGINALS = re.compile(
    rf"{_COURTESY}(?:{_BACK} to|restore|reset|bring back|start over with|undo (?:all|everything))"
    r"(?: (?:to|in|of))?(?: (?:the|my|all))?(?: (?:original|initial|uploaded))?"
    r"(?: (?:tables?|data|datasets?|changes|columns))?[\s.!?]{0,5}",
    re.IGNORECASE,
)


def asks_for_originals(message: str) -> bool:
    """Tell if a message takes all changes of tables back: `back to the original data`."""
    text = " ".join(message.split())
    is_of_tables = re.search(r"\b(?:table|data|dataset|changes|columns)", text, re.IGNORECASE) is not None
    return is_of_tables and _ORIGINALS.fullmatch(text) is not None


def count_undone(message: str) -> int:
    """Return how many changes a message takes back: `undo`, `go back two steps`; 0 for other messages."""
    undo = _UNDO.fullmatch(" ".join(message.split()))
    if undo is None:
        return 0
    count = undo["changes"] or undo["steps"]
    return (read_number_words(count) if count else None) or _ONE_STEP


def return_to_answer(message: str, earlier: Sequence[EarlierTurn]) -> ReturnedAnswer | None:
    """Read a message that returns to an earlier answer; None for another one.

    Raises UnclearChange where there is no such answer, or it cannot be shown again.
    """
    request = _parse(message)
    if request is None:
        return None
    stack = list_answers(earlier)
    changed = next((turn for turn in reversed(earlier) if turn.has_result or turn.changed), None)
    if changed is not None and changed.changed and not request.topic:
        names = ", ".join(f"`{name}`" for name in changed.changed)
        raise UnclearChange(
            f"{changed.message!r} changed {names}, and changes of tables stay. Begin a branch before that "
            "message to have the tables as they were."
        )
    place = request.find(stack)
    if place is None:
        if request.topic:
            return None  # `back to south` may be a change of the answer
        missing = f"the answer before {request.before!r}" if request.before else "an earlier answer"
        raise UnclearChange(f"I did not find {missing}. {_list_answers(stack)}".strip())
    answer = stack[place]
    if answer.plan is None:
        raise UnclearChange(f"The answer to {answer.message!r} came from code. Send that message again.")
    undone = [f"{later.message!r}" for later in stack[place + 1 :]]
    return ReturnedAnswer(answer, f"As it was before {' and '.join(undone)}.")


def list_answers(earlier: Sequence[EarlierTurn]) -> list[EarlierAnswer]:
    """List the answers that the conversation has not taken back, the newest last."""
    stack: list[EarlierAnswer] = []
    for turn in earlier:
        if not turn.has_result:
            continue
        request = _parse(turn.message)
        place = request.find(stack) if request else None
        if place is not None:
            stack = stack[: place + 1]
        else:
            plan = Plan.model_validate(turn.plan) if turn.plan else None
            stack.append(EarlierAnswer(turn.message, plan, turn.chart))
    return stack


class _ReturnRequest(NamedTuple):
    """A place to return to: some `steps` back, `before` a change, the first answer, or that of a `topic`."""

    steps: int = 0
    before: str = ""
    topic: str = ""

    def find(self, stack: Sequence[EarlierAnswer]) -> int | None:
        """Find the place of the answer in a stack; None if it is not there."""
        if self.before:
            return _find_before(self.before, stack)
        if self.topic:
            return _find_named(self.topic, stack)
        place = len(stack) - 1 - self.steps if self.steps else 0
        return place if 0 <= place < len(stack) - 1 else None


def _parse(message: str) -> _ReturnRequest | None:
    text = " ".join(message.split())
    if steps := count_undone(text):
        return _ReturnRequest(steps=steps)
    if _FIRST.fullmatch(text):
        return _ReturnRequest()
    if before := _BEFORE.fullmatch(text):
        return _ReturnRequest(before=(before["before"] or before["undone"]).casefold())
    if by_words := _BY_WORDS.fullmatch(text):
        return _ReturnRequest(topic=by_words["words"].casefold())
    return None


def _find_before(words: str, stack: Sequence[EarlierAnswer]) -> int | None:
    """Find the answer before the newest change of a kind that words name, or that was asked for in them."""
    kinds = [differs for pattern, differs in _CHANGES if pattern.search(words)]
    request_words = _content(words)
    for place in range(len(stack) - 2, -1, -1):
        before, after = stack[place], stack[place + 1]
        if before.plan is None or after.plan is None:
            continue
        is_kind = any(differs(before, after) for differs in kinds)
        is_named = bool(request_words) and request_words <= _content(after.message)
        # `before the filter on phones` names both: then the words decide.
        if is_named or (
            is_kind and (not request_words or not any(request_words <= _content(a.message) for a in stack[1:]))
        ):
            return place
    return None


def _find_named(words: str, stack: Sequence[EarlierAnswer]) -> int | None:
    """Find the newest answer but the last one that was asked for in some words, or drawn as they say."""
    request_words = _content(words)
    for place in range(len(stack) - 2, -1, -1):
        answer = stack[place]
        kind = answer.chart.kind if answer.chart else ""
        if (request_words and request_words <= _content(answer.message)) or (kind and words == f"{kind} chart"):
            return place
    return None


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_words(text) if word not in _SILENT_WORDS)


def _list_answers(stack: Sequence[EarlierAnswer]) -> str:
    messages = "; ".join(f"{answer.message!r}" for answer in stack[-_MAX_LISTED:])
    return f"The conversation has the answers to {messages}." if messages else "There is no answer yet."


_MAX_LISTED = 5
"""Answers that a question lists."""


def _adds_condition(before: EarlierAnswer, after: EarlierAnswer) -> bool:
    former, later = (split_plan(a.plan).conditions if a.plan else [] for a in (before, after))
    return any(step not in former for step in later)


def _differs_in(*kinds: type) -> Callable[[EarlierAnswer, EarlierAnswer], bool]:
    def differs(before: EarlierAnswer, after: EarlierAnswer) -> bool:
        former, later = (
            [step for step in (a.plan.steps if a.plan else []) if isinstance(step, kinds)]
            for a in (before, after)
        )
        return former != later

    return differs


_CHANGES: tuple[tuple[re.Pattern[str], Callable[[EarlierAnswer, EarlierAnswer], bool]], ...] = (
    (re.compile(r"\bfilter|\bcondition|\brestrict|\bselect|\bexclu"), _adds_condition),
    (re.compile(r"\bsort|\border|\brank"), _differs_in(SortStep, TopKStep)),
    (re.compile(r"\bgroup|\bsplit|\bbreakdown|\bbroken|\bbroke"), _differs_in(GroupStep)),
    (re.compile(r"\blimit|\btop\b"), _differs_in(LimitStep, TopKStep)),
    (re.compile(r"\bchart|\bplot|\bdraw|\bgraph"), lambda before, after: before.chart != after.chart),
)
"""Words of kinds of changes, and the test that two answers differ so."""
