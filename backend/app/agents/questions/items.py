"""The items of a question: words, numbers, dates and names, with everything that each of them may mean."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from typing import Literal

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import Lexeme, lexemes, without_accents, words
from app.agents.questions.grammar_words import SCALES
from app.agents.questions.matching.column_matching import ColumnMatch
from app.agents.questions.matching.value_matching import ValueMatch
from app.number_words import ABOVE_ONE

ItemKind = Literal["word", "number", "date", "literal", "name", "sign"]
_KEPT_SIGNS = frozenset(
    {",", "=", "<", ">", "<=", ">=", "!=", "<>", "%", "/", "*", "+", "$", "\u20ac", "\u00a3"}
)


@dataclass(frozen=True)
class QuestionItem:
    """A word or a phrase that is taken for one. `literal`: a quoted text. `name`: a name in backticks.

    `columns` and `values`: what it may mean, the likeliest first. `row_tables`: tables whose rows it names.
    `role`: the part of the reading that uses it; empty while nothing does.
    """

    kind: ItemKind
    text: str
    number: float | None = None
    columns: tuple[ColumnMatch, ...] = ()
    values: tuple[ValueMatch, ...] = ()
    row_tables: tuple[str, ...] = ()
    role: str = field(default="", compare=False)

    @property
    def word(self) -> str:
        """The word in lower case; of a phrase its last one."""
        return self.text.split(" ")[-1] if self.kind == "word" else self.text

    @property
    def stem(self) -> str:
        return stem(self.word)


def read_items(question: str) -> list[QuestionItem]:
    """Split a question into items; numbers are joined with their scale (`13 million`)."""
    items: list[QuestionItem] = []
    for lexeme in lexemes(question):
        for item in _make_items(lexeme):
            before = items[-1] if items else None
            # `on time` is no time: as one word it is looked for among the opposites of yes/no columns.
            if before and (before.text, item.text) == ("on", "time"):
                items[-1] = _make_word("punctual")
            elif before and before.text == "half" and item.text in ("a", "an"):
                items[-1] = QuestionItem("number", "half", 0.5)
            # A single letter behind `a` is a name rather than a scale: `a k`.
            elif before and before.text in ("a", "an") and item.text in SCALES and len(item.text) > 2:
                items[-1] = QuestionItem("number", item.text, SCALES[item.text])
            # Behind `2 million` a further scale word is no factor of it.
            elif before and before.kind == "number" and item.text in SCALES and (before.number or 0) < 1e6:
                items[-1] = replace(before, number=(before.number or 0) * SCALES[item.text])
            else:
                items.append(item)
    return [item for place, item in enumerate(items) if not _is_kind_of(items, place)]


def _is_kind_of(items: list[QuestionItem], place: int) -> bool:
    """Tell if an item belongs to `kind of` or `type of`, which add nothing to the noun behind them."""
    texts = [item.text for item in items[max(place - 1, 0) : place + 2]]
    return any(pair in _KINDS_OF for pair in pairwise(texts)) and items[place].text in _KIND_WORDS


_KIND_WORDS = frozenset({"kind", "kinds", "sort", "sorts", "of"})
_KINDS_OF = frozenset((kind, "of") for kind in ("kind", "kinds", "sort", "sorts"))


def _make_items(lexeme: Lexeme) -> Iterator[QuestionItem]:
    if lexeme.backticked:
        yield QuestionItem("name", lexeme.backticked)
    elif lexeme.quoted:
        yield QuestionItem("literal", lexeme.quoted)
    elif lexeme.date:
        yield QuestionItem("date", lexeme.date)
    elif lexeme.number and isfinite(lexeme.value or 0.0):
        yield QuestionItem("number", lexeme.number.rstrip(","), lexeme.value)
        if lexeme.number.endswith(","):
            yield QuestionItem("sign", ",")  # `2022, 2023 and 2024`
    elif lexeme.sign == "&":
        yield QuestionItem("word", "and")
    elif lexeme.sign in _KEPT_SIGNS:
        yield QuestionItem("sign", lexeme.sign or "")
    elif lexeme.word:
        is_single = lexeme.word.islower() or _is_acronyms(lexeme.word)
        parts = [without_accents(lexeme.word).lower()] if is_single else words(lexeme.word)
        yield from (_make_word(piece) for text in parts for piece in text.split("_") if piece)


def _is_acronyms(word: str) -> bool:
    """Tell if a word is the plural of capitals, and no two words: `SKUs`."""
    return word.endswith("s") and len(word) > MIN_ACRONYM_LETTERS and word.removesuffix("s").isupper()


MIN_ACRONYM_LETTERS = 2
"""Letters of an acronym."""


def _make_word(text: str) -> QuestionItem:
    is_number = text in ABOVE_ONE
    return QuestionItem("number", text, float(ABOVE_ONE[text])) if is_number else QuestionItem("word", text)
