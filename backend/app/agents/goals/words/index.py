"""An index of the words in a text, built once and used for every column of a wide table."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from app.agents.goals.words.concepts import synonym_groups
from app.agents.goals.words.stemming import stems
from app.agents.goals.words.tokenizer import words

MAX_PREFIX_CHARACTERS = 64
"""The prefixes of a word take memory by the square of its length; no column name has longer words."""


class WordIndex:
    """Words and stems of a text with their positions, counted in words from 0."""

    def __init__(self, text: str) -> None:
        self.words = words(text)
        self.stems = stems(text)

    def find_words(self, name: Sequence[str]) -> int | None:
        """Return the first position of the consecutive words of a name, or None."""
        return next(iter(self._find_all(name)), None)

    def count_words(self, name: Sequence[str]) -> int:
        return len(self._find_all(name))

    def find_stem(self, stem: str) -> int | None:
        return self._stem_places.get(stem)

    def find_prefix(self, prefix: str, ignored: frozenset[str]) -> int | None:
        """Return the first position of a stem that begins with `prefix` and is not `ignored`."""
        places = self._prefix_places.get(prefix[:MAX_PREFIX_CHARACTERS], ())
        stems = ((i, self.stems[i]) for i in places)
        return next((i for i, stem in stems if stem not in ignored and stem.startswith(prefix)), None)

    def find_synonym(self, stem: str) -> int | None:
        """Return the first position of a synonym of the stem."""
        places = self._meaning_places
        return min((places[meaning] for meaning in synonym_groups(stem) if meaning in places), default=None)

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in self.words)

    def _find_all(self, name: Sequence[str]) -> list[int]:
        name_words = list(name)
        return [i for i in self._word_places.get(name[0], ()) if self.words[i : i + len(name)] == name_words]

    @cached_property
    def _word_places(self) -> dict[str, list[int]]:
        places = defaultdict(list)
        for i, word in enumerate(self.words):
            places[word].append(i)
        return dict(places)

    @cached_property
    def _stem_places(self) -> dict[str, int]:
        # Reversed, so that the first place of a stem is the one that stays.
        return {stem: i for i, stem in reversed(list(enumerate(self.stems)))}

    @cached_property
    def _prefix_places(self) -> dict[str, list[int]]:
        """First positions of the distinct stems that begin with each prefix."""
        places = defaultdict(list)
        for stem, i in sorted(self._stem_places.items(), key=lambda item: item[1]):
            for length in range(1, min(len(stem), MAX_PREFIX_CHARACTERS) + 1):
                places[stem[:length]].append(i)
        return dict(places)

    @cached_property
    def _meaning_places(self) -> dict[int, int]:
        places: dict[int, int] = {}
        for stem, i in self._stem_places.items():
            for meaning in synonym_groups(stem):
                places[meaning] = min(i, places.get(meaning, i))
        return places


@lru_cache(maxsize=64)
def make_word_index(text: str) -> WordIndex:
    """Return the index of a goal's text. The goals of the latest sessions are cached."""
    return WordIndex(text)
