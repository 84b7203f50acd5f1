"""Sentences of several clauses: each clause is read as a whole and applied in turn to the workflow."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.workflows.document import WorkflowDocument
from app.workflows.intent.spelled_numbers import spell_out
from app.workflows.phrases.change import Change, ChangedDocument, ChangeQuestion, ask_about_unread
from app.workflows.phrases.clause_edits import ClauseEdits
from app.workflows.phrases.schedule_edits import add_schedule
from app.workflows.phrases.schedule_spans import split_schedule
from app.workflows.phrases.work_steps import KnownModel

MAX_SENTENCE_CHARS = 2_000
"""Characters of a sentence about a workflow: reading takes up to 1 s for these, and minutes for ten times as
many, since each clause is read against all nodes that those before it added."""
MAX_JOINED = 4
"""Parts of a sentence that are one clause together: `keep those with a status of open and a price above 5`."""
_LITERAL = r"\"[^\"]*\"|'[^']*'(?!\w)|https?://\S*[^\s,;.]"
_BREAK = (
    r"(?:[,;](?!\d)|\.(?= )|:(?= )) ?(?:(?:and|but|then|finally|also) ){0,3}|"
    r" (?:(?:and|then|finally|afterwards) ){1,3}(?:also )?"
)
_TOKEN = re.compile(rf"{_LITERAL}|(?P<break>{_BREAK})", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:and|then|also|please|finally|next|afterwards|now|just|after that),? |first, )+", re.IGNORECASE
)
_AS_IT_IS = re.compile(
    r"^(?:please )?(?:(?:run|do|repeat|take|use|start|show|display|return|schedule)(?: me| us)? "
    r"(?:it|this|that|them|these|those|the (?:same|workflow|pipeline|result|results|answer|table|rows))"
    r"(?: again)?(?: now)?)$",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\bbetween (?:the )?[$€£]?[\w.,-]{1,60}$", re.IGNORECASE)
_GOVERNS = re.compile(
    r"^(?:only )?(?:if|when|whenever|unless|once|in case|as soon as|for each|for every|before|after|otherwise|"
    r"else)\b",
    re.IGNORECASE,
)
"""The beginning of a part that says nothing without the next one."""
_EDIT = re.compile(
    r"^(?:add (?!an? (?:new )?column)|remove|delete|change|set|rename|move|pause|resume|retry|replace|insert|"
    r"make the|turn off|turn on|disable|enable)\b",
    re.IGNORECASE,
)
_TOP_ALONE = re.compile(r"\b(?:top|best) (?P<k>\d{1,7})\b(?!.{0,40}\b(?:by|with)\b)", re.IGNORECASE)

ReadPhrase = Callable[[str, WorkflowDocument], Change]


class SentenceReading(NamedTuple):
    """The change that a sentence asks for. `clauses`: those that are understood; `unread`: words that are not.

    `acts`: it sends, stores or asks something, or changes a step, so it is no wish for data alone.
    """

    document: WorkflowDocument
    summary: str
    clauses: int
    unread: Sequence[str]
    acts: bool
    is_scheduled: bool

    @property
    def is_whole(self) -> bool:
        return not self.unread and self.clauses > 0

    @property
    def is_for_good(self) -> bool:
        """Check for several clauses of which one does more than compute: no wish for data alone."""
        return self.is_whole and self.acts and self.clauses + self.is_scheduled > 1

    def make_question(self) -> ChangeQuestion:
        words = self.unread[0]
        top = _TOP_ALONE.search(words)
        if top is not None and len(self.unread) == 1:
            return ChangeQuestion(
                f"The top {top['k']} by which column? {words!r} does not say it.",
                (f"top {top['k']} by price",),
            )
        return ask_about_unread(self.unread)


class _Applied(NamedTuple):
    """Parts that were taken as one clause. `asks`: it asks for something, unlike `run it`."""

    length: int
    words: str
    is_understood: bool
    asks: bool


def read_sentence(
    words: str,
    document: WorkflowDocument,
    columns: Sequence[str],
    zone: str,
    models: Sequence[KnownModel] = (),
    read_phrase: ReadPhrase | None = None,
) -> SentenceReading:
    """Apply the clauses of a sentence in turn. `read_phrase`: reads a change of a step that there is.

    A text of more than MAX_SENTENCE_CHARS has no clauses.
    """
    if len(words) > MAX_SENTENCE_CHARS:
        return SentenceReading(document, "", 0, [], False, False)
    # The schedule is taken out first: `at 8 and 18` would be split as two clauses.
    text, trigger, _ = split_schedule(spell_out(re.sub(r"\s+", " ", words).strip(" .!")), zone)
    edits = ClauseEdits(document, columns, models)
    parts = split_clauses(text)
    place, clauses, unread = 0, 0, list[str]()
    while place < len(parts):
        applied = _apply_longest(text, parts[place : place + MAX_JOINED], edits, read_phrase)
        unread += [] if applied.is_understood else [applied.words]
        clauses += applied.asks
        place += applied.length
    changed, summary = edits.document, " ".join(edits.summaries)
    if trigger is not None:
        scheduled = add_schedule(changed, trigger, summary)
        changed, summary = scheduled.document, scheduled.summary.strip()
    # A clause may make several steps, such as groups and their order.
    clauses = max(clauses, len(edits.summaries)) if clauses else 0
    return SentenceReading(changed, summary, clauses, unread, edits.acts, trigger is not None)


def split_clauses(text: str) -> list[tuple[int, int]]:
    """Return begin and end of each part between commas and conjunctions, outside of quotes and addresses."""
    parts, begin = [], 0
    for token in _TOKEN.finditer(text):
        if token["break"] and not _RANGE.search(text[begin : token.start()]):
            parts.append((begin, token.start()))
            begin = token.end()
    parts.append((begin, len(text)))
    return [(start, end) for start, end in parts if _strip(text[start:end])]


def _strip(words: str) -> str:
    return _LEAD.sub("", words.strip(" ,;.:")).strip(" ,;.:")


def _apply_longest(
    text: str, parts: Sequence[tuple[int, int]], edits: ClauseEdits, read_phrase: ReadPhrase | None
) -> _Applied:
    """Apply the most parts that are one clause."""
    # The longest first: the beginning of a clause may be a clause with another meaning.
    for length in range(len(parts), 0, -1):
        clause = _strip(text[parts[0][0] : parts[length - 1][1]])
        if _AS_IT_IS.search(clause):
            return _Applied(length, clause, True, False)
        if edits.apply(clause):
            return _Applied(length, clause, True, True)
    first = _strip(text[slice(*parts[0])])
    is_governing = _GOVERNS.search(first) is not None
    length = min(2, len(parts)) if is_governing else 1
    clause = _strip(text[parts[0][0] : parts[length - 1][1]])
    if read_phrase is not None and (is_governing or _EDIT.search(first)):
        change = read_phrase(clause, edits.document)
        if isinstance(change, ChangedDocument):
            edits.take(change)
            return _Applied(length, clause, True, True)
    return _Applied(length, clause, False, False)
