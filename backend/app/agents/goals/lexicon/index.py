"""Index of the lexicon by stems, as text that is read without stemming anything.

Stemming the lexicon takes about a second of CPU, which each process would pay. `scripts/index_lexicon.py` does
it once and stores the index beside this module, with the digest of the files that it was made from.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import FUNCTION_WORDS

INDEX_FILE = Path(__file__).with_name("index.txt")

Phrase = tuple[str, ...]
"""Stems of a phrase without function words."""


class ConceptLine(NamedTuple):
    """A line of the lexicon: names of columns, and ways to ask for what they store.

    `asks_by_name`: people ask by the names too; abbreviations and foreign names are other words in a request.
    """

    names: list[str]
    ways: list[str]
    asks_by_name: bool


class IndexedPhrase(NamedTuple):
    """A phrase, and the concepts that it asks for or that a column of this name stores."""

    phrase: Phrase
    concepts: tuple[int, ...]


class LexiconIndex:
    """Phrases by their first stem: those that ask for concepts, and those that name columns.

    `text` is that of `write_index`: a line of all stems, then for each first stem a line
    `stem TAB requests TAB names`, where both are lists `other stems:concepts` separated by `|`. A line is
    parsed when a goal or a column has its stem.
    """

    def __init__(self, text: str) -> None:
        self._stem_line, *lines = text.splitlines()
        self._entries = dict(line.split("\t", 1) for line in lines)
        self._requests: dict[str, list[IndexedPhrase]] = {}
        self._names: dict[str, list[IndexedPhrase]] = {}

    @cached_property
    def request_stems(self) -> frozenset[str]:
        """Stems of all phrases that ask for a concept."""
        return frozenset(self._stem_line.split())

    def request_phrases(self, first: str) -> list[IndexedPhrase]:
        """Return the phrases that ask for concepts and begin with this stem."""
        return self._read_phrases(self._requests, first, 0)

    def name_phrases(self, first: str) -> list[IndexedPhrase]:
        """Return the names of columns that begin with this stem."""
        return self._read_phrases(self._names, first, 1)

    def _read_phrases(
        self, cache: dict[str, list[IndexedPhrase]], first: str, field: int
    ) -> list[IndexedPhrase]:
        # Words that the lexicon does not have are not kept: users could fill the memory with them.
        if first not in self._entries:
            return []
        if first not in cache:
            entries = self._entries[first].split("\t")[field].split("|")
            cache[first] = [_parse_phrase(first, entry) for entry in entries if entry]
        return cache[first]


def _parse_phrase(first: str, entry: str) -> IndexedPhrase:
    others, _, concepts = entry.partition(":")
    return IndexedPhrase((first, *others.split()), tuple(map(int, concepts.split())))


def write_index(lines: Sequence[ConceptLine]) -> str:
    """Return the text of the index of lines; a concept is the place of its line."""
    requests: dict[Phrase, set[int]] = {}
    names: dict[Phrase, set[int]] = {}
    for concept, line in enumerate(lines):
        for name in line.names:
            names.setdefault(_phrase(name), set()).add(concept)
        for way in (*line.ways, *(line.names if line.asks_by_name else ())):
            requests.setdefault(_phrase(way), set()).add(concept)
    firsts = sorted({phrase[0] for phrases in (requests, names) for phrase in phrases if phrase})
    request_entries, name_entries = _write_entries(requests), _write_entries(names)
    request_stems = " ".join(sorted({part for phrase in requests for part in phrase}))
    entries = (f"{first}\t{request_entries.get(first, '')}\t{name_entries.get(first, '')}" for first in firsts)
    return "\n".join((request_stems, *entries)) + "\n"


def _write_entries(phrases: dict[Phrase, set[int]]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    for phrase in sorted(filter(None, phrases)):
        concepts = " ".join(map(str, sorted(phrases[phrase])))
        entries.setdefault(phrase[0], []).append(f"{' '.join(phrase[1:])}:{concepts}")
    return {first: "|".join(texts) for first, texts in entries.items()}


def _phrase(text: str) -> Phrase:
    parts = words(text)
    content = [word for word in parts if word not in FUNCTION_WORDS] or parts
    return tuple(map(stem, content))


def source_digest(paths: Iterable[Path]) -> str:
    """Return the digest of files of the lexicon, by which a stored index that is older than they is told."""
    digest = sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read_index(digest: str) -> LexiconIndex | None:
    """Return the stored index if it was made from files of this digest."""
    if not INDEX_FILE.exists():
        return None
    made_from, _, text = INDEX_FILE.read_text(encoding="utf-8").partition("\n")
    return LexiconIndex(text) if made_from == digest else None
