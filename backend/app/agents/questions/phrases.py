"""A small language of phrases, and the items of a question that they are looked for in.

A phrase is elements between blanks: `how many E? C=of`. An element is a word, words between bars, a class of
the lexicon (`@agg`), or a kind of item: `C` a column, `V` a value, `N` a number, `D` a date, `L` a quoted text,
`E` the rows of a table, `W` any word, `U` a word that means nothing in the tables. `?` makes it optional, `+`
reads a list of it (`a, b and c`), and `=name` keeps the items under a name. Fillers such as articles, and items
that another part of the reading uses, are passed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from app.agents.questions.grammar_words import CLASSES, FILLERS, KNOWN_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch

_LIST_SIGNS = frozenset(
    {",", "and", "or", "/", "vs", "versus", "than", "with", "to", "against", "&", "from", "nor", "compared"}
)
_KINDS = frozenset("CVNDLEWU")
MAX_LIST_ITEMS = 12
"""Items of a list that one phrase reads."""


class Element(NamedTuple):
    """One part of a phrase. `kinds`: what may stand there, words or kinds of items."""

    kinds: frozenset[str]
    words: frozenset[str]
    is_optional: bool
    is_list: bool
    name: str


@lru_cache(maxsize=2_000)
def parse_phrase(phrase: str) -> tuple[Element, ...]:
    return tuple(_parse_element(text) for text in phrase.split())


def _parse_element(text: str) -> Element:
    # A sign such as `=` at the start is an element and no name: `=|is`.
    text, _, name = text.partition("=") if "=" in text[1:] else (text, "", "")
    is_optional, is_list = text.endswith("?"), text.endswith("+")
    body = text.rstrip("?+") or text
    kinds: set[str] = set()
    word_set: set[str] = set()
    for option in body.split("|"):
        if option in CLASSES:
            word_set |= CLASSES[option]
        elif option in _KINDS:
            kinds.add(option)
        else:
            word_set.add(option)
    return Element(frozenset(kinds), frozenset(word_set), is_optional, is_list, name)


@dataclass
class PhraseMatch:
    """Places of the items of a phrase, and of those that it names."""

    places: list[int]
    names: dict[str, list[int]] = field(default_factory=dict)


@dataclass
class QuestionItems:
    """The items of a question. Parts of the reading take the items that they use."""

    items: list[QuestionItem]
    measure: ColumnMatch | None = None
    """The number that the question as a whole is about, by its links."""

    def copy(self) -> "QuestionItems":
        return QuestionItems([*self.items], self.measure)

    def find(self, phrase: str, start: int = 0) -> PhraseMatch | None:
        """Find the first place of a phrase among the unused items."""
        elements = parse_phrase(phrase)
        if not self._may_hold(elements):
            return None
        for place in range(start, len(self.items)):
            if self.items[place].role:
                continue
            match = self._match(elements, 0, place)
            # A match further on is found from its own place; optional elements alone match nothing.
            if match is not None and match.places and match.places[0] == place:
                return match
        return None

    def _may_hold(self, elements: Sequence[Element]) -> bool:
        """Test if every required word of a phrase stands somewhere, which spares most searches."""
        texts = self._texts
        return all(e.is_optional or e.kinds or not texts.isdisjoint(e.words) for e in elements)

    @cached_property
    def _texts(self) -> frozenset[str]:
        return frozenset(text for item in self.items for text in (item.text, item.word))

    def has(self, phrase: str) -> bool:
        return self.find(phrase) is not None

    def take(self, phrase: str, role: str) -> PhraseMatch | None:
        """Find a phrase and mark its items as used."""
        match = self.find(phrase)
        if match:
            self.use(match.places, role)
        return match

    def take_any(self, phrases: Sequence[str], role: str) -> PhraseMatch | None:
        """Take the first of several phrases that stands in the question."""
        return next((match for phrase in phrases if (match := self.take(phrase, role))), None)

    def use(self, places: Sequence[int], role: str) -> None:
        for place in places:
            self.items[place] = replace(self.items[place], role=role)

    def item(self, match: PhraseMatch, name: str) -> QuestionItem | None:
        places = match.names.get(name)
        return self.items[places[0]] if places else None

    def required(self, match: PhraseMatch, name: str) -> QuestionItem:
        """The item under a name that every match of its phrase has."""
        return self.items[match.names[name][0]]

    def list_items(self, match: PhraseMatch, name: str) -> list[QuestionItem]:
        return [self.items[place] for place in match.names.get(name, ())]

    @property
    def unused(self) -> list[QuestionItem]:
        return [item for item in self.items if not item.role]

    def _match(self, elements: Sequence[Element], number: int, place: int) -> PhraseMatch | None:
        if number == len(elements):
            return PhraseMatch([])
        element = elements[number]
        for candidate in self._candidates(place, element):
            if element.is_list:
                consumed, matched = self._read_list(element, candidate)
            else:
                consumed, matched = [candidate], [candidate]
            rest = self._match(elements, number + 1, consumed[-1] + 1)
            if rest is not None:
                names = {element.name: matched, **rest.names} if element.name else rest.names
                return PhraseMatch([*consumed, *rest.places], names)
        return self._match(elements, number + 1, place) if element.is_optional else None

    def _candidates(self, place: int, element: Element) -> Iterator[int]:
        """Yield the next place that fits an element, past fillers and used items."""
        while place < len(self.items):
            item = self.items[place]
            if not item.role and _fits(item, element):
                yield place
                return
            if not (item.role or item.text in FILLERS):
                return
            place += 1

    def _read_list(self, element: Element, place: int) -> tuple[list[int], list[int]]:
        consumed, matched = [place], [place]
        single = element._replace(is_list=False)
        while len(matched) < MAX_LIST_ITEMS:
            position, separators = consumed[-1] + 1, []
            while position < len(self.items) and (
                self.items[position].text in _LIST_SIGNS or self.items[position].text in FILLERS
            ):
                separators.append(position)
                position += 1
            # Two nouns without a sign between them are no list: `station name`.
            if not any(self.items[i].text in _LIST_SIGNS for i in separators):
                break
            if (
                position >= len(self.items)
                or self.items[position].role
                or not _fits(self.items[position], single)
            ):
                break
            consumed += [*separators, position]
            matched.append(position)
        return consumed, matched


def _fits(item: QuestionItem, element: Element) -> bool:
    if item.kind in ("word", "sign") and (item.text in element.words or item.word in element.words):
        return True
    kinds = element.kinds
    return (
        ("C" in kinds and bool(item.columns))
        or ("V" in kinds and bool(item.values))
        or ("N" in kinds and item.kind == "number")
        or ("D" in kinds and item.kind == "date")
        or ("L" in kinds and item.kind == "literal")
        or ("E" in kinds and bool(item.row_tables))
        or ("W" in kinds and item.kind == "word")
        or (
            "U" in kinds
            and item.kind == "word"
            and not (item.columns or item.values or item.row_tables)
            and item.word not in KNOWN_WORDS
        )
    )
