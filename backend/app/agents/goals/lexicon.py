"""Lexicon of what people ask for: names under which tables store it, and words in which it is asked for.

`lexicon/*.txt` holds a concept in each line, `names = ways to ask`, both separated by commas. "who will walk
out on us" asks for a column `Churn`, and "flats that let within a week" for `days_online`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import fuzz, process

from app.agents.goals.clauses import GoalWord, Part
from app.agents.goals.stemming import stem
from app.agents.goals.tokenizer import words
from app.agents.goals.vocabulary import FUNCTION_WORDS

_DIRECTORY = Path(__file__).with_name("lexicon")
_NAMES_FILE = "names.txt"
"""File of abbreviations and of names in other languages."""
MAX_GAP = 2
"""Words that may stand between two words of a phrase: "turn the lights up"."""
MAX_GOAL_STEMS = 300
"""Words of a goal that are searched for phrases: several sentences."""
RARITY = 0.3
"""Exponent by which a phrase loses strength with the number of concepts that it asks for: the best of 0 to 0.5
in ten folds of the tuned goals."""
_SINGLE_WORD_SHARE = 0.8
"""Share of the strength of a phrase that a single word has: it has more meanings."""

MIN_SPELLED_LETTERS, MAX_SPELLED_LETTERS, MIN_SPELLING_RATIO = 6, 30, 88.0
"""Letters of a stem that may be misspelt, and its similarity in percent: one letter of eight."""

Phrase = tuple[str, ...]
"""Stems of a phrase without function words."""


class ConceptMatch(NamedTuple):
    """A concept that a goal asks for, or that a column stores: how strongly (0 to 1), and by which part."""

    strength: float
    part: Part


@dataclass
class _Lexicon:
    """Concepts by the first stem of their phrases, and by all stems of their names."""

    questions: dict[str, list[tuple[Phrase, int]]] = field(default_factory=dict)
    names: dict[str, list[tuple[Phrase, int]]] = field(default_factory=dict)
    concepts_by_phrase: dict[Phrase, int] = field(default_factory=dict)


def _phrase(text: str) -> Phrase:
    parts = words(text)
    content = [word for word in parts if word not in FUNCTION_WORDS] or parts
    return tuple(map(stem, content))


class ConceptLine(NamedTuple):
    """A line of the lexicon: names of columns, and ways to ask for what they store.

    `asks_by_name`: people ask by the names too; abbreviations and foreign names are other words in a request.
    """

    names: list[str]
    ways: list[str]
    asks_by_name: bool


def load_concept_lines(left_out: frozenset[str] = frozenset()) -> list[ConceptLine]:
    """Load the lines of all files of the lexicon, except for those of these names."""
    return [
        ConceptLine(_split_list(names), _split_list(ways), path.name != _NAMES_FILE)
        for path in sorted(_DIRECTORY.glob("*.txt"))
        if path.name not in left_out
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
        for names, _, ways in [line.partition("=")]
    ]


def _split_list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


@cache
def _load() -> _Lexicon:
    return _index(load_concept_lines(_left_out))


_left_out: frozenset[str] = frozenset()


def leave_out(files: frozenset[str]) -> None:
    """Use the lexicon without some of its files, for a fit that must not rely on them."""
    global _left_out
    _left_out = files
    _load.cache_clear()
    stored_concepts.cache_clear()


def _index(lines: Sequence[ConceptLine]) -> _Lexicon:
    lexicon = _Lexicon()
    for concept, line in enumerate(lines):
        name_phrases = set(map(_phrase, line.names))
        asked_phrases = set(map(_phrase, line.ways)) | (name_phrases if line.asks_by_name else set())
        for phrase in filter(None, name_phrases):
            lexicon.names.setdefault(phrase[0], []).append((phrase, concept))
        for phrase in filter(None, asked_phrases):
            lexicon.questions.setdefault(phrase[0], []).append((phrase, concept))
            lexicon.concepts_by_phrase[phrase] = lexicon.concepts_by_phrase.get(phrase, 0) + 1
    return lexicon


def asked_concepts(text: str, parted_words: Sequence[GoalWord]) -> dict[int, ConceptMatch]:
    """Return the concepts that a goal asks for. A phrase is as strong as it is rare and long."""
    lexicon = _load()
    goal_stems = [_mend_spelling(stem(word)) for word in words(text)[:MAX_GOAL_STEMS]]
    parts: dict[str, Part] = {}
    for word in parted_words:
        key = _mend_spelling(stem(word.word))
        if key not in parts or parts[key].value < word.part.value:
            parts[key] = word.part
    matches: dict[int, ConceptMatch] = {}
    for start, first in enumerate(goal_stems):
        for phrase, concept in lexicon.questions.get(first, ()):
            if not _follows(goal_stems, start, phrase):
                continue
            rarity = lexicon.concepts_by_phrase[phrase] ** -RARITY
            part = max((parts.get(part, Part.CIRCUMSTANCE) for part in phrase), key=lambda part: part.value)
            match = ConceptMatch(rarity * (1.0 if len(phrase) > 1 else _SINGLE_WORD_SHARE), part)
            if concept not in matches or _weight(match) > _weight(matches[concept]):
                matches[concept] = match
    return matches


@cache
def _long_stems() -> tuple[frozenset[str], list[str]]:
    lexicon = _load()
    all_stems = frozenset(
        part for phrases in lexicon.questions.values() for phrase, _ in phrases for part in phrase
    )
    return all_stems, sorted(part for part in all_stems if len(part) >= MIN_SPELLED_LETTERS)


@lru_cache(maxsize=4_096)
def _mend_spelling(word_stem: str) -> str:
    """Return the stem of the lexicon that a stem misspells (`satisfacton`), or the stem."""
    if not MIN_SPELLED_LETTERS <= len(word_stem) <= MAX_SPELLED_LETTERS:
        return word_stem
    all_stems, candidates = _long_stems()
    if word_stem in all_stems:
        return word_stem
    nearest = process.extractOne(word_stem, candidates, scorer=fuzz.ratio, score_cutoff=MIN_SPELLING_RATIO)
    return nearest[0] if nearest else word_stem


def _weight(match: ConceptMatch) -> float:
    return match.strength * match.part.value


def _follows(stems: Sequence[str], start: int, phrase: Phrase) -> bool:
    """Test if the words of a phrase stand behind each other, from `start` on, with small gaps."""
    at = start
    for part in phrase[1:]:
        window = stems[at + 1 : at + 2 + MAX_GAP]
        if part not in window:
            return False
        at += 1 + window.index(part)
    return True


@lru_cache(maxsize=4_096)
def stored_concepts(name_stems: tuple[str, ...]) -> Mapping[int, float]:
    """Return the concepts that a column of this name stores, with the share of the name that says so."""
    lexicon = _load()
    shares: dict[int, float] = {}
    for phrase, concept in _contained(lexicon, name_stems):
        share = min(1.0, len(phrase) / max(len(name_stems), 1))
        shares[concept] = max(shares.get(concept, 0.0), share)
    return shares


def _contained(lexicon: _Lexicon, name_stems: Sequence[str]) -> Iterator[tuple[Phrase, int]]:
    available = set(name_stems)
    for part in available:
        for phrase, concept in lexicon.names.get(part, ()):
            if available.issuperset(phrase):
                yield phrase, concept
