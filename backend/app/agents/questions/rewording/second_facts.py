"""Rewording of questions that ask for further facts of the row that a superlative picks."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import is_cue
from app.agents.questions.grammar_words import ADJECTIVES, SUPERLATIVES
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.unexplained_words import is_filler

_TAIL_FACT = re.compile(
    r"(?:,|\band\b|, and\b)\s+(?:(?:on|at|in|by|from|with|for|of|to) )?(?:which|what) ([a-z_]{3,30})\b"
    r"((?: [a-z']+){0,5})\W*$",
    re.IGNORECASE,
)
"""A clause that asks for one more column: `and which cashier was on duty`."""
_TAIL_DEGREE = re.compile(
    r"(?:,|\band\b|, and\b)\s+how [a-z]{3,15} (?:was|were|is|are) (?:the|its|their|his|her) ([a-z_]{3,30})\W*$",
    re.IGNORECASE,
)
"""A clause that asks how much or what a further column is: `and how bad was the injury`."""
_TAIL_ASK = re.compile(
    r"((?:,|:|\band\b|, and\b)\s+(?:by |to |for )?(?:who|whom|when|where))\b((?: [a-z']+){1,6})\W*$",
    re.IGNORECASE,
)
"""A clause that asks for the person, time or place: `and where I spent them`."""
_OWNER = re.compile(
    r"^\W*(?:which|what) ([a-z_]{3,30}) (?:had|has|got) the ([a-z]{4,15}est) ([a-z]{3,30})\b", re.IGNORECASE
)
"""What a single thing belongs to: `which host had the longest episode`."""
_BEGINNING = re.compile(
    r"^\W*(?:(?:what|which|who) (?:is|was|were|are)|how [a-z]{3,12} (?:is|was|were|did|does))(?: the)? ",
    re.IGNORECASE,
)
_LASTING = re.compile(r" (?:last|take|go|get|stay|run)$", re.IGNORECASE)
"""A verb that ends `how long did the longest queue last`."""
_PRONOUNS = word_set("it this that them those these he she they i we me us him her itself one")
MIN_NAMED_SCORE = 0.9
"""Score of a column that a word names, whatever values resemble the word."""
MAX_TAILS = 3
"""Further facts of one question."""


def reword_second_facts(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the columns that further clauses ask for: `the longest queue, and which cashier was on duty`."""
    text = _OWNER.sub(lambda match: _name_owner(match, tables), question)
    names: list[str] = []
    for _ in range(MAX_TAILS):
        fact = _TAIL_FACT.search(text) or _TAIL_DEGREE.search(text)
        if fact is None or not _is_superlative(text[: fact.start()]):
            break
        rest = fact[2] if fact.re is _TAIL_FACT else ""
        if not (_is_column(fact[1], tables) and _adds_nothing(rest, tables)):
            break
        # Clauses are taken off from the end, so that the last one found comes first.
        names.insert(0, fact[1])
        text = text[: fact.start()].rstrip(" ,")
    if names:
        subject = _LASTING.sub("", _BEGINNING.sub("", text).rstrip("? "))
        owners = re.match(r"show the ([a-z_]+) of the (.*)", subject)
        if owners:
            names, subject = [owners[1], *names], owners[2]
        return f"show the {' and '.join(names)} of the {subject.removeprefix('the ')}"
    asks = _TAIL_ASK.search(text)
    if asks and _is_superlative(text[: asks.start()]) and _adds_nothing(asks[2], tables):
        return text[: asks.end(1)]
    return text


def _name_owner(match: re.Match[str], tables: Sequence[TableProfile]) -> str:
    """Ask for the owner of a single row; of several rows, or of what is no row, a figure may be meant."""
    is_row = any(item.row_tables for item in mark_items(match[3], tables).items)
    is_single = is_row and not match[3].casefold().endswith("s") and match[2].casefold() in ADJECTIVES
    if not is_single or not _is_column(match[1], tables):
        return match[0]
    return f"show the {match[1]} of the {match[2]} {match[3]}"


def _is_superlative(text: str) -> bool:
    """Tell if a clause has exactly one superlative, which picks a row."""
    return sum(word in SUPERLATIVES for word in re.findall(r"[a-z]+", text.casefold())) == 1


def _is_column(word: str, tables: Sequence[TableProfile]) -> bool:
    items: Sequence[QuestionItem] = mark_items(word, tables).items
    columns = items[0].columns if len(items) == 1 else ()
    return bool(columns) and (columns[0].score >= MIN_NAMED_SCORE or not items[0].values)


def _adds_nothing(rest: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if the words of a clause only say that its fact belongs to the row: `was on duty`, `did it`."""
    return all(_is_empty(item) for item in mark_items(rest, tables).items) if rest.strip() else True


def _is_empty(item: QuestionItem) -> bool:
    if item.kind != "word" or item.values or item.columns or item.row_tables:
        return False
    is_plain = is_filler(item.text) or item.text in _PRONOUNS
    return is_plain or not is_cue(item.text)
