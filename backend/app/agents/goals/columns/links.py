"""Links between the words of a request and the columns of its tables, by meaning: schema linking.

Request and columns are encoded apart, so that the columns of a table are encoded once. "Which ads get pulled by
the manager" links `pulled` to a column `Paused`, without a word in common. How words and whole requests are
compared with columns was fitted to the training goals by `scripts/fit_column_links.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.joined_names import column_words
from app.agents.goals.words.sentence_encoder import Piece, encode, encode_pieces
from app.agents.goals.words.tokenizer import words

if TYPE_CHECKING:
    import numpy as np

MAX_COLUMNS = 80
"""Columns up to which they are encoded, some 25 ms of a processor each, once for a table: of wider tables names
and the lexicon must do."""
MAX_VALUES = 5
"""Values of a column that say what it is about."""
MAX_TEXT = 300
"""Characters of a text that are read: the encoder reads 64 pieces of words."""
MAX_CACHED_REQUESTS = 64
"""Requests whose links are kept, some 10 kB each: more than one process plans at once."""
FILE = Path(__file__).with_name("links.npz")


class WordLink(NamedTuple):
    """A word of a request, where it stands, and the logits of the columns that it may mean and of none."""

    word: str
    start: int
    end: int
    logits: "np.ndarray"


class ColumnLinks(NamedTuple):
    """Links of a request with columns. `targets`: logits of each column, and of none at the end, as what the
    request is about."""

    words: tuple[WordLink, ...]
    targets: "np.ndarray"

    def shares(self, has_part: Callable[[WordLink], bool]) -> "np.ndarray":
        """Return for each column and for none the probability that these words together mean it."""
        import numpy as np  # noqa: PLC0415

        logits = [link.logits for link in self.words if has_part(link)]
        return softmax(np.mean(logits, axis=0)) if logits else np.zeros(len(self.targets), "float32")


def column_text(table: TableProfile, column: Column) -> str:
    """Return what a column is about: its name spelled out, its kind, its table and some values."""
    name = " ".join(map(unabbreviate, column_words(column.name))) or column.name
    shows_values = not column.is_number and column.type != "datetime" and column.hint != "id"
    values = ", ".join(map(str, column.top[:MAX_VALUES])) if shows_values else ""
    described = f"{name}, {_kind(column)} of {' '.join(map(unabbreviate, words(table.name)))}"
    return (f"{described}: {values}" if values else described)[:MAX_TEXT]


def _kind(column: Column) -> str:
    if column.hint == "id":
        return "identifier"
    if column.type == "datetime":
        return "date"
    if column.distinct == 2:
        return "yes or no"
    if column.is_number:
        return "number"
    return "text" if column.hint == "text" else "category"


def link_columns(text: str, columns: Sequence[tuple[TableProfile, Column]]) -> ColumnLinks | None:
    """Link the words of a request with columns. None without columns, or with more than `MAX_COLUMNS`."""
    if not 0 < len(columns) <= MAX_COLUMNS:
        return None
    return _link(text[:MAX_TEXT], tuple(column_text(table, column) for table, column in columns))


def load() -> None:
    """Load the weights now rather than with the first request."""
    _weights()


def forget() -> None:
    """Forget the weights and the links, so that others are loaded from `FILE`."""
    _weights.cache_clear()
    _link.cache_clear()


@cache
def _weights() -> "dict[str, np.ndarray]":
    """Load the fitted matrices (dimensions, dimensions), vectors (dimensions) and numbers."""
    # Here, since a process that plans no goal needs no NumPy.
    import numpy as np  # noqa: PLC0415

    with np.load(FILE) as stored:
        return {name: stored[name].astype("float32") for name in stored.files}


@lru_cache(maxsize=MAX_CACHED_REQUESTS)
def _link(text: str, column_texts: tuple[str, ...]) -> ColumnLinks:
    import numpy as np  # noqa: PLC0415

    weights = _weights()
    pieces, states = encode_pieces(text)
    columns = encode(column_texts)
    of_pieces = _unit(states @ weights["words"]) @ _unit(columns @ weights["columns_of_words"]).T
    none = _unit(states) @ weights["none_of_words"] + weights["bias_of_words"]
    logits = np.hstack([weights["scale_of_words"] * of_pieces, none[:, None]])
    return ColumnLinks(tuple(_join_words(text, pieces, logits)), _target_logits(states, columns))


def _join_words(text: str, pieces: Sequence[Piece], logits: "np.ndarray") -> Iterator[WordLink]:
    spans = dict.fromkeys((piece.start, piece.end) for piece in pieces if piece.end > piece.start)
    for start, end in spans:
        own = [place for place, piece in enumerate(pieces) if (piece.start, piece.end) == (start, end)]
        yield WordLink(text[start:end].casefold(), start, end, logits[own].mean(axis=0))


def _target_logits(states: "np.ndarray", columns: "np.ndarray") -> "np.ndarray":
    """Compare the pieces of a request that tell its target, added up by their weights, with each column."""
    import numpy as np  # noqa: PLC0415

    weights = _weights()
    shares = softmax(_unit(states) @ weights["target_pieces"])
    request = _unit(shares @ states @ weights["request"])
    likeness = _unit(columns @ weights["columns"]) @ request
    own = columns @ weights["prior"]
    return np.append(weights["scale"] * likeness + own, request @ weights["none"] + weights["bias"])


def softmax(logits: "np.ndarray") -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


def _unit(vectors: "np.ndarray") -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
