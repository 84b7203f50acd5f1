"""A question and its tables as the decoder reads them: words, columns and values, and how they belong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.agents.goals.columns.links import MAX_COLUMNS, column_text, link_columns
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import unit_of
from app.agents.goals.words.sentence_encoder import DIMENSIONS, encode, encode_pieces, mean_pieces
from app.agents.goals.words.tokenizer import words as name_words
from app.agents.questions.learned.text_nodes import MAX_WORDS, TextNode, Word, find_nodes, split_words
from app.agents.questions.matching.column_matching import ColumnIndex
from app.agents.questions.matching.value_matching import ValueIndex

if TYPE_CHECKING:
    import numpy as np

ColumnKind = Literal["number", "integer", "date", "id", "flag", "category", "text"]
COLUMN_KINDS: tuple[ColumnKind, ...] = ("number", "integer", "date", "id", "flag", "category", "text")
NODE_KINDS = ("value", "number", "date", "month", "weekday")
MAX_NODES = 40
"""Values and numbers that a question may point at."""
MAX_LISTED_VALUES = 5
"""Different values up to which all values of a column are nodes, whether the question names them or not."""
MAX_PHRASE_WORDS, MIN_VALUE_SCORE = 4, 0.5
"""Words of a phrase that may name a column or a value, and the score from which it names a value."""
MAX_SPELLINGS = 3
"""Spellings of one value that are nodes."""
MAX_TEXT = 300
"""Characters of a question that are read, as links read them."""


@dataclass(frozen=True)
class QuestionNode:
    """Something that a program can point at beside columns. A value has its column's place and itself."""

    text: TextNode | None = None
    column: int = -1
    value: str | int | float | bool | None = None
    score: float = 0.0
    first: int = -1
    last: int = -1

    @property
    def kind(self) -> str:
        return self.text.kind if self.text else "value"

    @property
    def fit(self) -> float:
        """The fit of the words that name a value: their match, and how many they are."""
        return abs(self.score) + 0.01 * (self.last - self.first)


class Relations(NamedTuple):
    """Figures of each pair, float32: `names` (words, columns, 5), `values` (words, nodes, 2)."""

    names: "np.ndarray"
    values: "np.ndarray"


class QuestionInputs:
    """The words of a question, the columns of its tables, and the values that it may point at."""

    def __init__(self, text: str, tables: Sequence[TableProfile]) -> None:
        self.text = text[:MAX_TEXT]
        self.is_whole = len(text) <= MAX_TEXT and len(split_words(text, MAX_WORDS + 1)) <= MAX_WORDS
        """What is cut off may be a condition, and a question without it is another one."""
        self.tables = tables
        self.columns: list[tuple[TableProfile, Column]] = [(t, c) for t in tables for c in t.columns]
        self.words: list[Word] = split_words(self.text)
        self._places = {(t.name, c.name): place for place, (t, c) in enumerate(self.columns)}
        spelled = [_as_node(node) for node in find_nodes(self.words)][: MAX_NODES // 2]
        self.nodes = [*spelled, *self._value_nodes()][:MAX_NODES] if self.can_be_read else spelled

    @property
    def can_be_read(self) -> bool:
        return self.is_whole and bool(self.words) and 0 < len(self.columns) <= MAX_COLUMNS

    @cached_property
    def column_kinds(self) -> list[ColumnKind]:
        return [column_kind(column) for _, column in self.columns]

    def _phrases(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        for first in range(len(self.words)):
            for size in range(1, MAX_PHRASE_WORDS + 1):
                texts = tuple(word.text for word in self.words[first : first + size])
                if len(texts) == size:
                    yield first, first + size - 1, texts

    def _value_nodes(self) -> Iterator[QuestionNode]:
        """Values that words of the question name, the surest first, then those of columns with few."""
        by_value = self._named_values()
        yield from sorted(by_value.values(), key=lambda node: -abs(node.score))
        for place, (_, column) in enumerate(self.columns):
            values = column.values or column.top
            is_listed = column.type == "text" and column.hint in ("category", "text", "boolean")
            if is_listed and len(values) <= MAX_LISTED_VALUES:
                yield from (
                    QuestionNode(None, place, v)
                    for v in values
                    if v is not None and (place, str(v)) not in by_value
                )

    def _named_values(self) -> dict[tuple[int, str], QuestionNode]:
        """The values that phrases of the question name, by column and text, each by its best phrase."""
        index = ValueIndex(self.tables)
        values_by_text: dict[tuple[int, str], QuestionNode] = {}
        matches = (
            (first, last, match)
            for first, last, texts in self._phrases()
            for match in index.match(texts)
            if match.score >= MIN_VALUE_SCORE
        )
        for first, last, match in matches:
            place = self._places[match.key]
            for value in match.values[:MAX_SPELLINGS]:
                score = -match.score if match.is_denied else match.score
                node = QuestionNode(None, place, value, score, first, last)
                former = values_by_text.get((place, str(value)))
                if former is None or former.fit < node.fit:
                    values_by_text[place, str(value)] = node
        return values_by_text

    def relations(self) -> Relations:
        import numpy as np  # noqa: PLC0415

        names = np.zeros((len(self.words), len(self.columns), 5), "float32")
        values = np.zeros((len(self.words), len(self.nodes), 2), "float32")
        index = ColumnIndex(self.tables)
        for first, last, texts in self._phrases():
            for match in index.match(texts):
                place = self._places[match.key]
                own = names[first : last + 1, place]
                own[:, 0] = np.maximum(own[:, 0], match.score)
                own[:, 1] = np.maximum(own[:, 1], match.coverage * (match.score > 0.75))
                if last > first:
                    own[:, 2] = np.maximum(own[:, 2], match.score)
        for place, node in enumerate(self.nodes):
            if node.first < 0:
                continue
            values[node.first : node.last + 1, place, 0] = abs(node.score) if node.text is None else 1.0
            values[node.first : node.last + 1, place, 1] = float(node.score < 0)
            if node.text is None:
                own = names[node.first : node.last + 1, node.column, 3]
                np.maximum(own, abs(node.score), out=own)
        self._add_links(names)
        return Relations(names, values)

    def _add_links(self, names: "np.ndarray") -> None:
        """Add the probabilities with which the fitted links take a word for a column."""
        import numpy as np  # noqa: PLC0415

        links = link_columns(self.text, self.columns)
        if links is None:
            return
        for link in links.words:
            shares = np.exp(link.logits - link.logits.max())
            shares /= shares.sum()
            for place, word in enumerate(self.words):
                if word.start < link.end and link.start < word.end:
                    np.maximum(names[place, :, 4], shares[:-1], out=names[place, :, 4])

    def word_vectors(self) -> "np.ndarray":
        """Return the states of the encoder, float32 (words, `DIMENSIONS`), the mean of the pieces of each."""
        import numpy as np  # noqa: PLC0415

        pieces, states = encode_pieces(self.text)
        vectors = np.zeros((len(self.words), DIMENSIONS), "float32")
        for place, word in enumerate(self.words):
            own = [n for n, piece in enumerate(pieces) if piece.start < word.end and word.start < piece.end]
            if own:
                vectors[place] = states[own].mean(axis=0)
        return vectors

    def column_vectors(self) -> "np.ndarray":
        """Return the encodings of the columns, float32 (columns, `DIMENSIONS`)."""
        return encode([column_text(table, column) for table, column in self.columns])

    def column_facts(self) -> "np.ndarray":
        """Return for each column its kind and further facts, float32 (columns, 16)."""
        import numpy as np  # noqa: PLC0415

        facts = np.zeros((len(self.columns), 16), "float32")
        for place, (table, column) in enumerate(self.columns):
            facts[place, COLUMN_KINDS.index(self.column_kinds[place])] = 1.0
            facts[place, 7] = float(column.unique)
            facts[place, 8] = float(column.missing > 0)
            facts[place, 9] = float(place and self.columns[place - 1][0].name == table.name)
            facts[place, 10] = min(column.distinct, 50) / 50
            facts[place, 11] = float(unit_of(column) is not None)
            low, high = column.low, column.high
            if isinstance(low, int | float) and isinstance(high, int | float):
                facts[place, 12] = float(low >= 0 and high <= 1)
                facts[place, 13] = float(low >= 1500 and high <= 2100)
                facts[place, 14] = float(low >= 0 and high <= 100)
            facts[place, 15] = float(len(name_words(column.name)) == 1)
        return facts

    def node_facts(self) -> "np.ndarray":
        """Return for each node its kind and further facts, float32 (nodes, 12)."""
        import numpy as np  # noqa: PLC0415

        facts = np.zeros((len(self.nodes), 12), "float32")
        for place, node in enumerate(self.nodes):
            facts[place, NODE_KINDS.index(node.kind)] = 1.0
            facts[place, 5] = abs(node.score)
            facts[place, 6] = float(node.first >= 0)
            if node.kind == "number" and node.text is not None:
                number = node.text.number
                facts[place, 7] = float(number == int(number))
                facts[place, 8] = float(1500 <= number <= 2100)
                facts[place, 9] = float(number <= 12)
                facts[place, 10] = float(0 < number < 1)
            if node.kind == "date" and node.text is not None and node.text.start and node.text.end:
                facts[place, 11] = min((node.text.end - node.text.start).days, 366) / 366
        return facts

    def owners(self) -> list[int]:
        """Return the place of each node's column, -1 of those that have none."""
        return [node.column for node in self.nodes]

    def value_texts(self) -> list[str]:
        """Return the text of each node: a value as it is stored, else the words of the question."""
        return [
            str(node.value) if node.text is None else self._text_between(node.first, node.last)
            for node in self.nodes
        ]

    def node_vectors(self) -> "np.ndarray":
        """Return what the pieces of the nodes' texts mean by themselves, float32 (nodes, `DIMENSIONS`)."""
        return mean_pieces(self.value_texts())

    def _text_between(self, first: int, last: int) -> str:
        return self.text[self.words[first].start : self.words[last].end]


def _as_node(text: TextNode) -> QuestionNode:
    return QuestionNode(text, first=text.first, last=text.last, value=text.number)


def column_kind(column: Column) -> ColumnKind:
    """Return what a column may be used for."""
    if column.type == "boolean" or column.hint == "boolean":
        return "flag"
    if column.type == "datetime" or column.hint == "datetime":
        return "date"
    if column.hint == "id":
        return "id"
    if column.type == "integer":
        return "integer"
    if column.is_number:
        return "number"
    return "text" if column.hint == "text" else "category"
