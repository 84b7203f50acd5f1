"""Lexicon of what people ask for: names under which tables store it, and words in which it is asked for.

`lexicon/*.txt` holds a concept in each line, `names = ways to ask`, both separated by commas. "who will walk
out on us" asks for a column `Churn`, and "flats that let within a week" for `days_online`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import fuzz, process

from app.agents.goals.clauses import GoalWord, Part
from app.agents.goals.lexicon.index import (
    ConceptLine,
    IndexedPhrase,
    LexiconIndex,
    Phrase,
    read_index,
    source_digest,
    write_index,
)
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words

_DIRECTORY = Path(__file__).with_name("sources")
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


class ConceptMatch(NamedTuple):
    """A concept that a goal asks for, or that a column stores: how strongly (0 to 1), and by which part."""

    strength: float
    part: Part


def load_concept_lines(left_out: frozenset[str] = frozenset()) -> list[ConceptLine]:
    """Load the lines of all files of the lexicon, except for those of these names."""
    return [
        ConceptLine(_split_list(names), _split_list(ways), path.name != _NAMES_FILE)
        for path in lexicon_files()
        if path.name not in left_out
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
        for names, _, ways in [line.partition("=")]
    ]


def lexicon_files() -> list[Path]:
    """Return the files of the lexicon in the order by which concepts are numbered."""
    return sorted(_DIRECTORY.glob("*.txt"))


def _split_list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


@cache
def _load() -> LexiconIndex:
    stored = None if _left_out else read_index(source_digest(lexicon_files()))
    # A line that was just written counts at once, only slower, until the index is made again.
    return stored or LexiconIndex(write_index(load_concept_lines(_left_out)))


_left_out: frozenset[str] = frozenset()


def leave_out(files: frozenset[str]) -> None:
    """Use the lexicon without some of its files, for a fit that must not rely on them."""
    global _left_out
    _left_out = files
    _load.cache_clear()
    stored_concepts.cache_clear()


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
        for phrase, concepts in lexicon.request_phrases(first):
            if not _follows(goal_stems, start, phrase):
                continue
            rarity = len(concepts) ** -RARITY
            # A phrase may reach over several parts: the weightiest of its words says where it stands.
            part = max((parts.get(part, Part.CIRCUMSTANCE) for part in phrase), key=lambda part: part.value)
            match = ConceptMatch(rarity * (1.0 if len(phrase) > 1 else _SINGLE_WORD_SHARE), part)
            for concept in concepts:
                if concept not in matches or _weight(match) > _weight(matches[concept]):
                    matches[concept] = match
    return matches


@lru_cache(maxsize=4_096)
def concepts_of_phrase(phrase: Phrase) -> Mapping[int, float]:
    """Return the concepts that a phrase of stems asks for as a whole, with its strength: 1 for a single one."""
    mended = tuple(map(_mend_spelling, phrase))
    entries = _load().request_phrases(mended[0]) if mended else ()
    concepts = {concept for entry in entries if entry.phrase == mended for concept in entry.concepts}
    return dict.fromkeys(concepts, max(len(concepts), 1) ** -RARITY)


@cache
def _long_stems() -> list[str]:
    return sorted(part for part in _load().request_stems if len(part) >= MIN_SPELLED_LETTERS)


@lru_cache(maxsize=4_096)
def _mend_spelling(word_stem: str) -> str:
    """Return the stem of the lexicon that a stem misspells (`satisfacton`), or the stem."""
    if not MIN_SPELLED_LETTERS <= len(word_stem) <= MAX_SPELLED_LETTERS:
        return word_stem
    if word_stem in _load().request_stems:
        return word_stem
    nearest = process.extractOne(word_stem, _long_stems(), scorer=fuzz.ratio, score_cutoff=MIN_SPELLING_RATIO)
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
    for phrase, concepts in _contained(lexicon, name_stems):
        share = min(1.0, len(phrase) / max(len(name_stems), 1))
        for concept in concepts:
            shares[concept] = max(shares.get(concept, 0.0), share)
    return shares


def _contained(lexicon: LexiconIndex, name_stems: Sequence[str]) -> Iterator[IndexedPhrase]:
    available = set(name_stems)
    for part in available:
        for entry in lexicon.name_phrases(part):
            if available.issuperset(entry.phrase):
                yield entry
