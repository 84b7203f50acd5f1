"""Encodings of short texts and of their words by meaning: a transformer of six layers, run in NumPy.

The weights are those of all-MiniLM-L6-v2, reduced by `scripts/sentence_encoder.py`, which names their source
and licence, and fitted to requests on tables by `scripts/fit_column_links.py`. Texts of similar meaning have
encodings of a high cosine, without a word in common.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from app.agents.goals.words.tokenizer import without_accents

if TYPE_CHECKING:
    import numpy as np
    from threadpoolctl import ThreadpoolController

FILE = Path(__file__).with_name("sentence_encoder.npz")
# Sizes of the published model.
DIMENSIONS = 384
LAYERS, HEADS = 6, 12
MAX_PIECES = 64
"""Pieces of words that are read of a text, with the two that mark its ends: as many places as are stored."""
MAX_MEAN_PIECES = 12
"""Pieces of a text whose mean is taken."""
MAX_WORD_LETTERS = 40
"""Letters of a word that is split into pieces; the tokenizer of the published model stops at 100."""
MAX_BATCH = 32
"""Texts that are encoded at once: more do not go faster on one core."""
MAX_CACHED_TEXTS = 4_096
"""Encodings that are kept, about 6 MB: the columns of some hundred tables."""
MAX_CACHED_PIECES = 32
"""Texts of which the states of all pieces are kept, some 50 kB each."""
# Added to logits of padding, and to variances: numbers of the published model.
_MASKED = -1e4
_EPSILON = 1e-12
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")


class Piece(NamedTuple):
    """A piece of a word: its number in the vocabulary, and the part of the text that its word takes."""

    number: int
    start: int
    end: int


class _Model(NamedTuple):
    pieces: "dict[str, int]"
    weights: "dict[str, np.ndarray]"
    threads: "ThreadpoolController"


@cache
def _load() -> _Model:
    """Load the weights as float32, about 60 MB."""
    # Here, since a process that plans no goal needs neither NumPy nor the weights.
    import numpy as np  # noqa: PLC0415
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415

    with np.load(FILE) as stored:
        arrays = {name: stored[name] for name in stored.files}
    pieces = str(arrays.pop("pieces")).split("\n")
    scales = {name: array for name, array in arrays.items() if name.endswith(".scales")}
    weights = {
        name: array * scales[f"{name}.scales"] if f"{name}.scales" in scales else array
        for name, array in arrays.items()
        if name not in scales
    }
    places = {piece: place for place, piece in enumerate(pieces)}
    return _Model(places, weights, ThreadpoolController())


_encodings: "OrderedDict[str, np.ndarray]" = OrderedDict()
_lock = Lock()


def forget() -> None:
    """Forget the weights and the encodings, so that others are loaded from `FILE`."""
    _load.cache_clear()
    encode_pieces.cache_clear()
    with _lock:
        _encodings.clear()


def encode(texts: Sequence[str]) -> "np.ndarray":
    """Return the unit vectors of texts, float32 (texts, `DIMENSIONS`). The latest encodings are cached."""
    import numpy as np  # noqa: PLC0415

    with _lock:
        vectors = {text: _encodings[text] for text in texts if text in _encodings}
    # Texts of similar length together, as all of a batch are padded to the longest.
    missing = sorted({text for text in texts if text not in vectors}, key=len)
    for start in range(0, len(missing), MAX_BATCH):
        batch = missing[start : start + MAX_BATCH]
        # Products this small gain nothing from a second thread, and wait for it where all cores are busy: a
        # question took nine times the processor time.
        with _load().threads.limit(limits=1, user_api="blas"):
            vectors |= dict(zip(batch, _encode_batch(batch), strict=True))
    with _lock:
        for text in missing:
            _encodings[text] = vectors[text]
        while len(_encodings) > MAX_CACHED_TEXTS:
            _encodings.popitem(last=False)
    return np.stack([vectors[text] for text in texts]) if texts else np.zeros((0, DIMENSIONS), "float32")


@lru_cache(maxsize=MAX_CACHED_PIECES)
def encode_pieces(text: str) -> "tuple[list[Piece], np.ndarray]":
    """Return the pieces of a text, and their last hidden states, float32 (pieces, `DIMENSIONS`).

    Those of the latest texts are kept, and must not be changed: links and the decoder of questions share them.
    """
    pieces = split_pieces(text)
    with _load().threads.limit(limits=1, user_api="blas"):
        hidden, _ = _run([[piece.number for piece in pieces]])
    return pieces, hidden[0]


def mean_pieces(texts: Sequence[str]) -> "np.ndarray":
    """Return the means of the pieces of texts before any layer, float32 (texts, `DIMENSIONS`)."""
    import numpy as np  # noqa: PLC0415

    pieces = _load().weights["embeddings.word_embeddings.weight"]
    means = np.zeros((len(texts), DIMENSIONS), "float32")
    for place, text in enumerate(texts):
        if numbers := [piece.number for piece in split_pieces(text)[1:-1]]:
            means[place] = pieces[numbers[:MAX_MEAN_PIECES]].mean(axis=0)
    return means


def split_pieces(text: str) -> list[Piece]:
    """Return the pieces of a text: the longest known beginning of each word, and so on.

    The first and the last one mark its ends, and take no part of it.
    """
    vocabulary = _load().pieces
    pieces = [Piece(vocabulary["[CLS]"], 0, 0)]
    for match in _TOKEN.finditer(text):
        if len(pieces) >= MAX_PIECES - 1:
            break
        for word in _TOKEN.findall(without_accents(match[0].casefold())):
            numbers = _split_word(word[:MAX_WORD_LETTERS], vocabulary)
            pieces += [Piece(number, match.start(), match.end()) for number in numbers]
    return [*pieces[: MAX_PIECES - 1], Piece(vocabulary["[SEP]"], len(text), len(text))]


def is_whole_piece(word: str) -> bool:
    """Tell if the vocabulary has a word of small letters whole."""
    return word in _load().pieces


def _split_word(word: str, vocabulary: dict[str, int]) -> list[int]:
    numbers: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [vocabulary["[UNK]"]]
        numbers.append(vocabulary[mark + word[start:end]])
        start = end
    return numbers


def _encode_batch(texts: Sequence[str]) -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    hidden, mask = _run([[piece.number for piece in split_pieces(text)] for text in texts])
    means = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))


def _run(rows: Sequence[Sequence[int]]) -> "tuple[np.ndarray, np.ndarray]":
    """Return the hidden states of rows of pieces (rows, pieces, `DIMENSIONS`), and which are no padding."""
    import numpy as np  # noqa: PLC0415

    weights = _load().weights
    length = max(map(len, rows))
    numbers, mask = np.zeros((len(rows), length), int), np.zeros((len(rows), length), "float32")
    for place, row in enumerate(rows):
        numbers[place, : len(row)], mask[place, : len(row)] = row, 1.0
    hidden = (
        weights["embeddings.word_embeddings.weight"][numbers]
        + weights["embeddings.position_embeddings.weight"][:length]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _normalise(hidden, weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        hidden = _run_layer(hidden, mask, weights, f"encoder.layer.{layer}")
    return hidden, mask


def _run_layer(
    hidden: "np.ndarray", mask: "np.ndarray", weights: "dict[str, np.ndarray]", name: str
) -> "np.ndarray":
    """Run attention and the feed-forward part of a layer over (texts, pieces, `DIMENSIONS`)."""
    import numpy as np  # noqa: PLC0415

    texts, length, width = hidden.shape
    query, key, value = (
        _apply(hidden, weights, f"{name}.attention.self.{part}")
        .reshape(texts, length, HEADS, width // HEADS)
        .transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    logits = query @ key.transpose(0, 1, 3, 2) / np.float32((width // HEADS) ** 0.5)
    logits += ((1 - mask) * np.float32(_MASKED))[:, None, None, :]
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    attended = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
    attended = _apply(attended, weights, f"{name}.attention.output.dense")
    hidden = _normalise(hidden + attended, weights, f"{name}.attention.output.LayerNorm")
    inner = _apply(hidden, weights, f"{name}.intermediate.dense")
    # GELU by its approximation with tanh, within 0.001 of the exact one, which needs SciPy.
    inner = inner * 0.5 * (1 + np.tanh(np.float32(0.7978846) * (inner + np.float32(0.044715) * inner**3)))
    return _normalise(
        hidden + _apply(inner, weights, f"{name}.output.dense"), weights, f"{name}.output.LayerNorm"
    )


def _apply(hidden: "np.ndarray", weights: "dict[str, np.ndarray]", name: str) -> "np.ndarray":
    # One matrix product for all texts: NumPy would make one for each.
    flat = hidden.reshape(-1, hidden.shape[-1]) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    shaped: np.ndarray = flat.reshape(*hidden.shape[:-1], -1)
    return shaped


def _normalise(hidden: "np.ndarray", weights: "dict[str, np.ndarray]", name: str) -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
    return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"])
