"""Evidence that a goal's words mean a column: its name, an abbreviation, a concept, or one of its values."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import islice

from rapidfuzz import fuzz, process

from app.agents.goals.clauses import GoalWord, Part, goal_words
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.concepts import expand, find_concepts
from app.agents.goals.words.joined_names import column_words, shortens
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vectors import known_words, most_similar
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, UNITS_OF_MEASURE

MAX_RELATED_WORDS = 30
"""Words of a goal that are compared by their use: more than a request has."""
MAX_CLASSES = 10
"""Classes whose words say what a column is about: of more, each says little."""
MAX_VALUES = 50
"""Values of a column that are compared with the goal: profiles list fewer."""
MIN_SPELLING_RATIO, MIN_SPELLED_LETTERS = 84.0, 5
"""Similarity in percent, and length, from which a word is a misspelt name: one letter of six."""
MIN_SHARED_LETTERS, MAX_PREFIX_GAP = 5, 4
"""Letters that two stems share, and by which one may continue the other (`surviv` and `survival`)."""
MAX_WORDS, MAX_SPELLED_WORDS = 2_000, 100
"""Words of a goal that are compared with names, and those compared by their spelling, which takes 0.1 s for
2,000 columns. Names in the rest of a longer text are not looked for."""


class Link(StrEnum):
    """Kind of a match between a word and a column."""

    NAME = "name"
    SHORT_FORM = "short form"
    SPELLING = "spelling"
    CONCEPT = "meaning"
    VALUE = "value"
    VALUE_CONCEPT = "meaning of a value"
    RELATED = "related"


_STRENGTH = {
    Link.NAME: 1.0,
    Link.SHORT_FORM: 0.85,
    Link.SPELLING: 0.8,
    Link.CONCEPT: 0.72,
    Link.VALUE: 0.8,
    Link.VALUE_CONCEPT: 0.62,
}
"""Share of an exact match that each kind counts for: a synonym may mean another column."""


MIN_SIMILARITY, MAX_RELATED_STRENGTH = 0.3, 0.55
"""Cosine from which words count as related: two in a hundred random pairs of the 20,000 words are above it. The
strongest relation counts less than a concept."""


def _related_strength(similarity: float) -> float:
    # A cosine of 0.77 already has the full strength: only forms of one word are nearer.
    return MAX_RELATED_STRENGTH * min(1.0, 1.5 * max(0.0, similarity - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY))


@dataclass(frozen=True)
class Match:
    """A word of the goal that means a column. `term`: the stem of the name, or the value, that it matches."""

    word: GoalWord
    link: Link
    term: str
    similarity: float = 1.0
    """Cosine of related words."""

    @property
    def weight(self) -> float:
        strength = _related_strength(self.similarity) if self.link is Link.RELATED else _STRENGTH[self.link]
        return self.word.part.value * strength


@dataclass(frozen=True)
class Evidence:
    """All matches of a goal with a column. `coverage`: share of the column's name that is matched."""

    matches: tuple[Match, ...]
    coverage: float

    @property
    def strength(self) -> float:
        """Strength, from 0 to 1 and a little more: the best match, and less of the next, by coverage."""
        if not self.matches:
            return 0.0
        weights = sorted((match.weight for match in self.matches), reverse=True)
        return (weights[0] + 0.35 * sum(weights[1:3])) * (0.62 + 0.38 * self.coverage)

    @property
    def value(self) -> str | None:
        """The value of the column that the goal names, if that is why the column is meant."""
        return next(
            (match.term for match in self.matches if match.link in (Link.VALUE, Link.VALUE_CONCEPT)), None
        )


class WordTable:
    """The words of a goal by stem, by concept and by beginning; of equal ones the one with the weightiest part.

    It is made once for a goal and asked for every column of a wide table.
    """

    def __init__(self, parted_words: Iterable[GoalWord]) -> None:
        self._by_stem: dict[str, GoalWord] = {}
        for word in parted_words:
            for key in {stem(word.word), expand(word.word)}:
                if key not in self._by_stem or self._by_stem[key].part.value < word.part.value:
                    self._by_stem[key] = word
        self._by_concept: dict[int, GoalWord] = {}
        self._by_beginning: dict[str, list[str]] = {}
        for word_stem, word in sorted(self._by_stem.items(), key=lambda item: item[1].part.value):
            self._by_concept |= dict.fromkeys(find_concepts(word_stem), word)
            if word.word not in GENERIC:  # a classifier is no class
                self._by_beginning.setdefault(word_stem[:MIN_SHARED_LETTERS], []).append(word_stem)
        self._by_letter: dict[str, list[GoalWord]] = {}
        for word in islice(dict.fromkeys(self._by_stem.values()), MAX_SPELLED_WORDS):
            self._by_letter.setdefault(word.word[:1], []).append(word)
        long_stems = (word_stem for word_stem in self._by_stem if len(word_stem) >= MIN_SPELLED_LETTERS)
        self._spelled = list(islice(long_stems, MAX_SPELLED_WORDS))

    def find(self, term: str) -> Match | None:
        """Return the best match of a stem of a column's name."""
        if word := self._by_stem.get(term) or self._find_continued(term):
            return Match(word, Link.NAME, term)
        if word := self._find_shortened(term):
            return Match(word, Link.SHORT_FORM, term)
        if word := self.find_concept(term):
            return Match(word, Link.CONCEPT, term)
        if len(term) < MIN_SPELLED_LETTERS:
            return None
        nearest = process.extractOne(term, self._spelled, scorer=fuzz.ratio, score_cutoff=MIN_SPELLING_RATIO)
        return Match(self._by_stem[nearest[0]], Link.SPELLING, term) if nearest else None

    @cached_property
    def _related_words(self) -> list[GoalWord]:
        """Words with vectors that may mean a column by their use."""
        candidates = [
            word
            for word in self._by_stem.values()
            if word.part.value >= Part.COMPLEMENT.value and word.word not in GENERIC
        ]
        vocabulary = set(known_words([word.word for word in candidates]))
        return [word for word in candidates if word.word in vocabulary][:MAX_RELATED_WORDS]

    def find_related(self, names: Sequence[str]) -> Match | None:
        """Return the weightiest match of a word that is used like one of these words."""
        names = known_words(names)
        if not names or not self._related_words:
            return None
        nearest = most_similar([word.word for word in self._related_words], names)
        matches = (
            Match(word, Link.RELATED, name, cosine)
            for word, (name, cosine) in zip(self._related_words, nearest, strict=True)
        )
        best = max(matches, key=lambda match: match.weight)
        return best if best.weight > 0 else None

    def find_stem(self, term: str) -> GoalWord | None:
        return self._by_stem.get(term)

    def find_concept(self, term: str) -> GoalWord | None:
        """Return the weightiest word that means the same as a stem."""
        words_of_concept = (self._by_concept[c] for c in find_concepts(term) if c in self._by_concept)
        return max(words_of_concept, key=lambda word: word.part.value, default=None)

    def _find_shortened(self, term: str) -> GoalWord | None:
        """Return the weightiest word that a term shortens (`yld`: yield)."""
        meant = (word for word in self._by_letter.get(term[:1], ()) if shortens(term, word.word))
        return max(meant, key=lambda word: word.part.value, default=None)

    def _find_continued(self, term: str) -> GoalWord | None:
        """Return a word whose stem continues the term or is continued by it (`surviv`, `survival`)."""
        for other in self._by_beginning.get(term[:MIN_SHARED_LETTERS], ()):
            shorter, longer = sorted((other, term), key=len)
            if (
                len(shorter) >= MIN_SHARED_LETTERS
                and longer.startswith(shorter)
                and len(longer) - len(shorter) <= MAX_PREFIX_GAP
            ):
                return self._by_stem[other]
        return None


@lru_cache(maxsize=128)
def make_word_table(text: str) -> WordTable:
    """Return the word table of a goal's text; those of the latest sessions are cached."""
    return WordTable(islice(goal_words(text), MAX_WORDS))


def find_evidence(table: WordTable, column: Column, table_name: str) -> Evidence:
    """Find all evidence in a goal's words that they mean a column."""
    name_stems, joined = distinctive_stems(column.name, table_name), stem("".join(words(column.name)))
    matches = [match for term in name_stems if (match := table.find(term))]
    if joined_word := table.find_stem(joined) or table.find_concept(joined):
        matches.append(Match(joined_word, Link.NAME, joined))
    matched_terms = {match.term for match in matches if match.word.part.value >= Part.COMPLEMENT.value}
    coverage = len(matched_terms & set(name_stems)) / max(len(name_stems), 1)
    if joined in matched_terms:
        coverage = 1.0
    values = list(_match_values(table, column))
    # Relation by use is the weakest evidence, and sought only where nothing better speaks for the column.
    strongest = max((match.weight for match in (*matches, *values)), default=0.0)
    if strongest < Part.COMPLEMENT.value and (related := table.find_related(related_names(column, table_name))):
        matches.append(related)
        coverage = max(coverage, 0.5)
    strongest = max((match.weight for match in matches), default=0.0)
    # A value says all that its column is about, whatever share of the name is matched.
    if values and max(match.weight for match in values) > strongest:
        coverage = 1.0
    return Evidence((*matches, *values), coverage)


SCALE = re.compile(r"(?<=[a-z])[ _](?:0|1)[ _-](?:to[ _-])?(?:\d|10|100)$", re.IGNORECASE)
"""The ends of a scale behind a name (`csat_1_5`), which no goal says."""


@lru_cache(maxsize=4_096)
def distinctive_stems(name: str, table: str) -> tuple[str, ...]:
    """Return the distinctive stems of a name: without units, marks of identifiers and the table's own name."""
    parts = column_words(SCALE.sub("", name))
    nouns = [part for part in parts if part not in UNITS_OF_MEASURE and part not in IDENTIFIER_WORDS] or parts
    expanded = [expand(part) for part in nouns]
    return tuple(dict.fromkeys(part for part in expanded if part not in stems(table))) or tuple(expanded)


def related_names(column: Column, table_name: str) -> list[str]:
    """Return the words of a column's name, unabbreviated, and of its few classes."""
    own = [
        part
        for part in column_words(column.name)
        if part not in UNITS_OF_MEASURE and part not in IDENTIFIER_WORDS
    ]
    distinct = [part for part in own if part not in words(table_name)] or own
    classes = column.top[:MAX_CLASSES] if column.has_few_values and not column.is_number else ()
    return [*map(unabbreviate, distinct), *(part for value in classes for part in words(str(value)))]


def _match_values(table: WordTable, column: Column) -> Iterator[Match]:
    """Match the values of a column: all words of a value, or a word that means it (`Charged Off`: default)."""
    # Numbers and free texts share words with any goal by chance.
    if column.is_number or column.type == "datetime" or column.hint in ("id", "text"):
        return
    for value in map(str, column.top[:MAX_VALUES]):
        value_stems = stems(value)
        matched = [word for part in value_stems if (word := table.find_stem(part))]
        # All words of a value: of "new york" the word `new` stands in many goals.
        if len(matched) == len(value_stems) and len("".join(value_stems)) > 2:
            yield Match(max(matched, key=lambda word: word.part.value), Link.VALUE, value)
        elif word := table.find_concept(stem("".join(words(value)))):
            yield Match(word, Link.VALUE_CONCEPT, value)
