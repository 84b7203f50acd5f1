"""An index of the words in a text, built once and used for every column of a wide table."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from app.agents.goals.words.tokenizer import words


class WordIndex:
    """Words of a text with their positions, counted in words from 0."""

    def __init__(self, text: str) -> None:
        self.words = words(text)

    def find_words(self, name: Sequence[str]) -> int | None:
        """Return the first position of the consecutive words of a name, or None."""
        return next(iter(self._find_all(name)), None)

    def count_words(self, name: Sequence[str]) -> int:
        """Count the places at which the words of a name stand one behind the other."""
        return len(self._find_all(name))

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in self.words)

    def _find_all(self, name: Sequence[str]) -> list[int]:
        if not name:  # `%` is a column without a word
            return []
        name_words = list(name)
        return [i for i in self._word_places.get(name[0], ()) if self.words[i : i + len(name)] == name_words]

    @cached_property
    def _word_places(self) -> dict[str, list[int]]:
        places = defaultdict(list)
        for i, word in enumerate(self.words):
            places[word].append(i)
        return dict(places)


@lru_cache(maxsize=64)
def make_word_index(text: str) -> WordIndex:
    """Return the index of a goal's text. The goals of the latest sessions are cached."""
    return WordIndex(text)
