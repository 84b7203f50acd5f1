"""Places of words in a text: built once, then asked for every column of a wide table."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from app.agents.goals.stemming import meanings, stems, words

MAX_PREFIX = 64
"""Characters. The prefixes of a word take memory by the square of its length; no name has longer words."""


class WordIndex:
    """Words and stems of a text, with the place of each; places count words from 0."""

    def __init__(self, text: str) -> None:
        self.words = words(text)
        self.stems = stems(text)

    def place(self, name: Sequence[str]) -> int | None:
        """First place where the words of a name stand one after the other."""
        return next(iter(self._all_places(name)), None)

    def count(self, name: Sequence[str]) -> int:
        return len(self._all_places(name))

    def stem_place(self, stem: str) -> int | None:
        return self._stem_places.get(stem)

    def prefix_place(self, prefix: str, ignored: frozenset[str]) -> int | None:
        """First place of a stem that begins with `prefix` and is not `ignored`."""
        places = self._prefix_places.get(prefix[:MAX_PREFIX], ())
        stems = ((i, self.stems[i]) for i in places)
        return next((i for i, stem in stems if stem not in ignored and stem.startswith(prefix)), None)

    def meaning_place(self, stem: str) -> int | None:
        """First place of a stem that means the same."""
        places = self._meaning_places
        return min((places[meaning] for meaning in meanings(stem) if meaning in places), default=None)

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in self.words)

    def _all_places(self, name: Sequence[str]) -> list[int]:
        wanted = list(name)
        return [i for i in self._word_places.get(name[0], ()) if self.words[i : i + len(name)] == wanted]

    @cached_property
    def _word_places(self) -> dict[str, list[int]]:
        places = defaultdict(list)
        for i, word in enumerate(self.words):
            places[word].append(i)
        return dict(places)

    @cached_property
    def _stem_places(self) -> dict[str, int]:
        return {stem: i for i, stem in reversed(list(enumerate(self.stems)))}

    @cached_property
    def _prefix_places(self) -> dict[str, list[int]]:
        """Of each prefix, the first places of the different stems that have it."""
        places = defaultdict(list)
        for stem, i in sorted(self._stem_places.items(), key=lambda item: item[1]):
            for length in range(1, min(len(stem), MAX_PREFIX) + 1):
                places[stem[:length]].append(i)
        return dict(places)

    @cached_property
    def _meaning_places(self) -> dict[int, int]:
        places: dict[int, int] = {}
        for stem, i in self._stem_places.items():
            for meaning in meanings(stem):
                places[meaning] = min(i, places.get(meaning, i))
        return places


@lru_cache(maxsize=64)
def word_index(text: str) -> WordIndex:
    """The index of a text of a goal; the goals of the last sessions are kept."""
    return WordIndex(text)
