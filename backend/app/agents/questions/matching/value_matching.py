"""Matching of words with the values of columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from rapidfuzz import fuzz

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.matching.place_names import load_place_names
from app.plans.expressions import Scalar

MIN_PREFIX_LETTERS = 3
"""Letters of a code that begins the word that it stands for (`ENG` for engineering)."""
MIN_WORD_LETTERS = 4
"""Letters of a value in lower case that begins the word that it stands for (`herbi` for herbivore)."""
MAX_SPELLED_VALUES = 2_000
"""Values that are compared with a word by their spelling."""
MIN_SPELLING_RATIO = 90.0
"""Similarity in percent from which a word is a misspelt value."""

_WOMEN = ("women", "woman", "females", "ladies", "girls", "girl", "lady")
_MEN = ("men", "man", "males", "gentlemen", "boys", "boy")
ALIASES = {
    **dict.fromkeys(_WOMEN, ("female", "f", "w", "woman", "women")),
    **dict.fromkeys(("female",), ("f", "w", "woman", "women")),
    **dict.fromkeys(_MEN, ("male", "m", "man", "men")),
    **dict.fromkeys(("male",), ("m", "man", "men")),
    "first": ("1st",),
    "second": ("2nd",),
    "third": ("3rd",),
    "undecided": ("u",),
}
"""Words for a value that is written otherwise, the likelier first."""
OPPOSITES: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(
        ("died", "dead", "death", "deaths", "die", "perished", "drowned", "killed", "fatal"), "surviv"
    ),
    **dict.fromkeys(
        ("stayed", "retained", "remained", "loyal"),
        ("churn", "cancel", "left", "leav", "quit", "attrit", "exit", "terminat", "resign", "drop", "lapse"),
    ),
    **dict.fromkeys((*_MEN, "male"), "femal"),
    **dict.fromkeys((*_WOMEN, "female"), "male"),
    **dict.fromkeys(("failed", "fail", "failing"), "pass"),
    **dict.fromkeys(("passed", "pass", "passing"), "fail"),
    **dict.fromkeys(("rejected", "denied", "declined", "refused"), "approv"),
    **dict.fromkeys(("lost", "lose"), "won"),
    **dict.fromkeys(("unpaid",), "paid"),
    **dict.fromkeys(("inactive",), "activ"),
    **dict.fromkeys(("legitimate", "genuine"), "fraud"),
    **dict.fromkeys(("punctual", "punctually"), "late"),
    **dict.fromkeys(("overdue",), "punctual"),
}
"""Words that deny a yes/no column whose name has the stem, or one of the stems."""
YES, NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
YES_NO = tuple(frozenset(pair) for pair in zip(YES, NO, strict=True))


@dataclass(frozen=True)
class StoredValue:
    """A value of a column as it is spelled."""

    table: str
    column: Column
    value: Scalar


@dataclass(frozen=True)
class ValueMatch:
    """Stored spellings of a value that a phrase may mean. `score`: 1 for its full spelling."""

    table: str
    column: Column
    values: tuple[Scalar, ...]
    score: float
    is_denied: bool = False
    """The phrase says that a row has another value: `unpaid` of `paid`."""

    @property
    def key(self) -> tuple[str, str]:
        return self.table, self.column.name


def flag_values(column: Column) -> tuple[Scalar, Scalar] | None:
    """The no and yes of a column with two such values, or several spellings of them; else None."""
    if column.type == "boolean" and not column.is_stored_as_text:
        return False, True
    by_word = {str(value).casefold(): value for value in column.values}
    answers = frozenset(by_word) - _UNDECIDED
    is_mixed = column.type == "boolean" and {*NO} & answers and {*YES} & answers and answers <= {*NO, *YES}
    if column.distinct != len(by_word) or not (answers in YES_NO or is_mixed):
        return None
    return next(by_word[no] for no in NO if no in by_word), next(by_word[yes] for yes in YES if yes in by_word)


def flag_spellings(column: Column, value: Scalar) -> tuple[Scalar, ...]:
    """The stored spellings of the no or yes of a yes/no column: `Y` and `Yes`."""
    side = YES if str(value).casefold() in YES else NO
    return tuple(own for own in column.values if str(own).casefold() in side) or (value,)


_UNDECIDED = frozenset(
    {"unsure", "unknown", "undecided", "maybe", "n/a", "na", "not sure", "don't know", "no answer", "-", "?"}
)
"""Values beside yes and no that are neither."""
_VALUELESS_TYPES = frozenset({"integer", "number", "datetime", "boolean"})
"""Types whose values are no words."""


class ValueIndex:
    """The values of all columns of texts, made once for a question."""

    def __init__(self, tables: Sequence[TableProfile]) -> None:
        self._stems: dict[tuple[str, ...], list[StoredValue]] = {}
        self._joined: dict[str, list[StoredValue]] = {}
        self._texts: dict[str, list[StoredValue]] = {}
        for table in tables:
            for column in table.columns:
                if not column.is_stored_as_text and column.type in _VALUELESS_TYPES:
                    continue
                for value in column.values:
                    stored = StoredValue(table.name, column, value)
                    parts = words(str(value))
                    self._stems.setdefault(tuple(map(stem, parts)), []).append(stored)
                    self._joined.setdefault("".join(parts), []).append(stored)
                    self._texts.setdefault(str(value).casefold(), []).append(stored)

    def match(self, phrase: Sequence[str]) -> tuple[ValueMatch, ...]:
        """Values that a phrase of one to five words may mean, best first."""
        candidates = [
            *self._stems.get(tuple(map(_stem_of, phrase)), ()),
            *self._joined.get("".join(phrase), ()),
        ]
        candidates += [stored for alias in _other_spellings(phrase) for stored in self._texts.get(alias, ())]
        if len(phrase) == 1:
            word = phrase[0]
            if not candidates:
                for text in islice(self._texts, MAX_SPELLED_VALUES):
                    if text[:2] == word[:2] and " " not in text:
                        candidates += self._texts[text]
        by_column: dict[tuple[str, str], list[StoredValue]] = {}
        for stored in dict.fromkeys(candidates):
            by_column.setdefault((stored.table, stored.column.name), []).append(stored)
        bests = [match for group in by_column.values() if (match := _best(tuple(phrase), group))]
        matches = [_with_bare_denials(match, phrase) for match in bests]
        if (
            not matches
            and len(phrase) == 1
            and phrase[0].startswith("un")
            and len(phrase[0]) > MIN_DENIED_LETTERS
        ):
            denied = self.match((phrase[0].removeprefix("un"),))
            matches = [replace(m, is_denied=True) for m in denied if m.score >= MIN_DENIED_SCORE]
        return tuple(sorted(matches, key=lambda match: -match.score)[:6])


def _with_bare_denials(match: ValueMatch, phrase: Sequence[str]) -> ValueMatch:
    """Add the `no` of a column to a value that denies the column's own name: `no receipt` of `receipt`."""
    if [*phrase] != ["no", *words(match.column.name)]:
        return match
    denials = tuple(value for value in match.column.values if str(value).casefold() in NO)
    return replace(match, values=(*match.values, *(v for v in denials if v not in match.values)))


MIN_DENIED_LETTERS, MIN_DENIED_SCORE = 5, 0.95
"""Letters of a word that denies a value by its first two, and score of the value without them."""


def _best(phrase: tuple[str, ...], group: Sequence[StoredValue]) -> ValueMatch | None:
    """The value of a column that a phrase fits best, in all its spellings."""
    scores = {stored: _value_score(phrase, str(stored.value)) for stored in group}
    top = max(scores.values())
    values = tuple(stored.value for stored, score in scores.items() if score == top)
    # A beginning or misspelling that fits two different values as well means neither.
    if top <= 0 or (top < 0.85 and len({str(value).casefold() for value in values}) > 1):
        return None
    return ValueMatch(group[0].table, group[0].column, values, top)


@lru_cache(maxsize=20_000)
def _value_score(phrase: tuple[str, ...], value: str) -> float:
    parts = words(value)
    if not parts or (len(value) == 1 and len(phrase[0]) > 1 and len(phrase) > 1):
        return 0.0
    if [*phrase] == parts:
        # A single letter is a word of its own (`a`): it is a value only beside its column, whose least score
        # this is.
        return 1.0 if len("".join(parts)) > 1 else 0.4
    if "".join(phrase) == "".join(parts) and len(parts[0]) > 1:
        return 0.98
    if len(phrase) == len(parts) and [*map(_stem_of, phrase)] == [*map(stem, parts)]:
        return 0.95
    others = _other_spellings(phrase)
    if value.casefold() in others:
        return max(0.92 - 0.02 * others.index(value.casefold()), MIN_OTHER_SCORE)
    return _word_score(phrase[0], value, len(parts)) if len(phrase) == 1 else 0.0


IRREGULAR_PLURALS = {"children": "child", "people": "person", "wives": "wife", "mice": "mouse", "feet": "foot"}


def plurals_of(word: str) -> tuple[str, ...]:
    """The plurals of a noun."""
    return (f"{word}s", *(plural for plural, singular in IRREGULAR_PLURALS.items() if singular == word))


def _stem_of(word: str) -> str:
    # Snowball keeps the plurals of words without a vowel, which initials are: `BMWs`.
    initials = word.removesuffix("s")
    is_of_initials = len(initials) >= MIN_INITIALS and initials != word and not set(initials) & _VOWELS
    return initials if is_of_initials else stem(IRREGULAR_PLURALS.get(word, word))


MIN_INITIALS, _VOWELS = 2, frozenset("aeiouy")
"""Letters of a word of initials in the singular, and the letters that no such word has."""


MIN_OTHER_SCORE = 0.82
"""Score of the last of the other spellings of a word."""


def _other_spellings(phrase: Sequence[str]) -> tuple[str, ...]:
    """Return the spellings that tables may have of what a phrase says, the likelier first."""
    text = " ".join(phrase)
    return (*ALIASES.get(text, ()), *load_place_names().get(text, ()))


def _word_score(word: str, value: str, size: int) -> float:
    """Score of a word that stands for a value: a beginning or a misspelling."""
    text = value.casefold()
    if size > 1:
        return 0.0
    if (
        len(text) >= MIN_PREFIX_LETTERS
        and len(word) > len(text)
        and word.startswith(text)
        # In lower case three letters are words: a value `car` is no short form of `carpet`.
        and (value.isupper() or len(text) >= MIN_WORD_LETTERS)
        and not word.endswith("s")
    ):
        return 0.6
    if len(text) >= 4 and stem(word).startswith(text):
        return 0.7
    if len(word) >= 5 and fuzz.ratio(word, text) >= MIN_SPELLING_RATIO:
        return MISSPELLING_SCORE
    return 0.0


MISSPELLING_SCORE = 0.75
"""Score of a word that is nearly spelled like a value."""


MIN_CONTAINED_LETTERS = 4
"""Letters of a word that is looked for within the names of rows."""


def match_contained(word: str, tables: Sequence[TableProfile]) -> tuple[str, Column, str] | None:
    """Table, column and text of names of which several contain a word: `burgers` in `Cheese Burger`."""
    text = stem(word)
    if len(text) < MIN_CONTAINED_LETTERS:
        return None
    for table in tables:
        for column in table.columns:
            # Few different texts are kinds, which are matched by their full names.
            if column.type != "text" or column.distinct <= 10 or column.hint == "datetime":
                continue
            hits = [value for value in map(str, column.values) if text in {stem(part) for part in words(value)}]
            # A word that a single text holds is the name of that row rather than a kind.
            if len(hits) >= 2:
                return table.name, column, text
    return None


def denied_flags(word: str, tables: Sequence[TableProfile]) -> tuple[tuple[str, Column], ...]:
    """Yes/no columns of which a word says the opposite: `arrived_late` for `punctual`."""
    if word not in OPPOSITES:
        return ()
    return tuple(
        (table.name, column)
        for table in tables
        for column in table.columns
        if flag_values(column) is not None and denies_flag(word, column)
    )


def gender_flags(word: str, tables: Sequence[TableProfile]) -> tuple[tuple[str, Column], ...]:
    """Yes/no columns that tell women from men, of which a noun of one of them says yes or no: `female`."""
    if word not in _WOMEN and word not in _MEN:
        return ()
    return tuple(
        (table.name, column)
        for table in tables
        for column in table.columns
        if flag_values(column) is not None and {*words(column.name)} & {"female", "male", *_WOMEN, *_MEN}
    )


def denies_flag(text: str, column: Column) -> bool:
    """Tell if a word, or the last one of a phrase, says no of a yes/no column: `died` of `survived`."""
    word, parts = text.split(" ")[-1], name_parts(column.name)
    if any(word == prefix + part for part in parts for prefix in ("un", "non", "in", "dis", "im")):
        return True
    if _leaves_denial_out(text, column.name):
        return True
    return any(stem(part).startswith(OPPOSITES[word]) for part in parts) if word in OPPOSITES else False


_DENIALS_BEFORE, _DENIALS_BEHIND = frozenset({"no", "non", "not", "without"}), frozenset({"free", "less"})
"""Words of a name that deny what stands behind or before them: `non_smoker`, `accident_free`."""


def _leaves_denial_out(text: str, name: str) -> bool:
    """Tell if a phrase names what a column denies: `accident` of `accident_free`."""
    parts, phrase = words(name), text.split(" ")
    denials = {*parts[:-1]} & _DENIALS_BEFORE | {*parts[1:]} & _DENIALS_BEHIND
    if not denials or denials & {*phrase}:
        return False
    return stem(phrase[-1]) in {stem(part) for part in parts if part not in denials}
