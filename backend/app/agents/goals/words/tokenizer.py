"""The tokenizer of goals, questions and names of columns."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

from app.agents.goals.words.typed_pattern import TypedPattern

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

MAX_NAME_CHARACTERS = 200
"""Longest text that is cached as a name: a preference may not name a longer column either."""
_MAX_CACHED_NAMES, _MAX_CACHED_GOALS = 10_000, 64
"""Entries of the caches: the columns of a few wide tables, and the goals that one process plans at once."""

Tokens = TypeVar("Tokens")


def cache_texts(function: Callable[[str], Tokens]) -> Callable[[str], Tokens]:
    """Cache a function of texts: of many short names and a few long goals.

    Names of columns are compared with every word of a goal, so both would be split again and again. One cache
    of that size for both could fill the memory with long texts.
    """
    of_name = lru_cache(maxsize=_MAX_CACHED_NAMES)(function)
    of_goal = lru_cache(maxsize=_MAX_CACHED_GOALS)(function)
    return lambda text: of_name(text) if len(text) <= MAX_NAME_CHARACTERS else of_goal(text)


def words(text: str) -> list[str]:
    """Split a text into lower-case words without accents; `SalePrice` and `sale_price` are two words each."""
    return list(_split(text))


@cache_texts
def _split(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_CAMEL.sub(" ", without_accents(text))))


def without_accents(text: str) -> str:
    """Return the text with plain letters: `uberlebt`, `Grosse`."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


class Lexeme(NamedTuple):
    """One lexeme of a question: the field of its kind is set, the others are None."""

    backticked: str | None
    quoted: str | None
    date: str | None
    """ISO 8601, with or without a time."""
    number: str | None
    thousand: str | None
    """The `k` after a number."""
    word: str | None
    sign: str | None

    @property
    def value(self) -> float:
        """The value of a number."""
        return float((self.number or "0").replace(",", "")) * (1000 if self.thousand else 1)


_LEXEME = TypedPattern(
    re.compile(
        r"`(?P<backticked>[^`]+)`"
        r"|[\"\u201c](?P<quoted1>[^\"\u201c\u201d]+)[\"\u201d]|(?<!\w)'(?P<quoted2>[^']+)'(?!\w)"
        r"|(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?)"
        r"|(?P<number>(?:(?<!\w)-)?\d[\d,]*(?:\.\d+)?)(?P<thousand>k)?(?![\w])"
        r"|(?P<word>\w+)|(?P<sign>>=|<=|!=|<>|[=<>,;:%()/?.&$\u20ac\u00a3+*-])"
    ),
    Lexeme,
)


def lexemes(text: str) -> Iterator[Lexeme]:
    """Split a question into names, quoted texts, dates, numbers, words and signs. `n't` is the word `not`."""
    return _LEXEME.find_all(re.sub(r"(?i)n['\u2019]t\b", " not", text))
