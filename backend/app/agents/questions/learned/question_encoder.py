"""The encoder of questions: words, columns and values attend to each other, by what is known of their pairs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.layers import apply, attend, feed, normalise, split_heads

if TYPE_CHECKING:
    import numpy as np

    from app.agents.questions.learned.layers import Weights

ENCODER_LAYERS, RELATIONS = 3, 26
"""Layers of the encoder, and figures of a pair."""
_NODE_SCALE = 0.3
"""Factor of the encodings of values: their kinds and matches say more than their words."""


def encode_question(inputs: QuestionInputs, weights: "Weights") -> "np.ndarray":
    """Return the states of the words, columns and nodes of a question, float32 (all, `WIDTH`)."""
    import numpy as np  # noqa: PLC0415

    names, values = inputs.relations()
    states = _first_states(inputs, names, values, weights)
    tables = [table.name for table, _ in inputs.columns]
    pairs = relation_features(names, values, inputs.owners(), tables)
    for layer in range(ENCODER_LAYERS):
        name = f"enc.{layer}"
        bias = (pairs @ weights[f"{name}.a.r.weight"].T).transpose(2, 0, 1)
        normal = normalise(states, weights, f"{name}.n1")
        query, key, value = (split_heads(apply(normal, weights, f"{name}.a.{part}")) for part in "qkv")
        attended = attend(query, key, value, bias)
        states = feed(states + apply(attended, weights, f"{name}.a.o"), weights, name)
    return np.asarray(normalise(states, weights, "encn"))


def _first_states(
    inputs: QuestionInputs, names: "np.ndarray", values: "np.ndarray", weights: "Weights"
) -> "np.ndarray":
    """The states before any layer: encodings and facts, and how well anything matches."""
    import numpy as np  # noqa: PLC0415

    words, segments = len(inputs.words), weights["seg.weight"]
    strongest = values.max(axis=1) if inputs.nodes else np.zeros((words, 2), "float32")
    of_words = np.concatenate([names.max(axis=1), strongest], axis=1)
    of_columns = np.concatenate([inputs.column_facts(), names.max(axis=0)], axis=1)
    parts = [
        apply(inputs.word_vectors(), weights, "word")
        + apply(of_words, weights, "wordx")
        + weights["pos.weight"][:words]
        + segments[0],
        apply(inputs.column_vectors(), weights, "col") + apply(of_columns, weights, "colx") + segments[1],
    ]
    if inputs.nodes:
        vectors = np.float32(_NODE_SCALE) * apply(inputs.node_vectors(), weights, "node")
        parts.append(vectors + apply(inputs.node_facts(), weights, "nodex") + segments[2])
    return np.concatenate(parts)


def relation_features(
    names: "np.ndarray", values: "np.ndarray", owners: Sequence[int], tables: Sequence[str]
) -> "np.ndarray":
    """Return what is known of each pair of words, columns and nodes, float32 (all, all, `RELATIONS`).

    `names`, `values`: as of `Relations`. `owners`: the place of each node's column, -1 for none. `tables`: that
    of each column.
    """
    import numpy as np  # noqa: PLC0415

    words, columns, nodes = *names.shape[:2], values.shape[1]
    size = words + columns + nodes
    pairs = np.zeros((size, size, RELATIONS), "float32")
    first, second = words, words + columns
    pairs[:first, first:second, 0:5] = names
    pairs[first:second, :first, 5:10] = names.transpose(1, 0, 2)
    pairs[:first, second:, 10:12] = values
    pairs[second:, :first, 12:14] = values.transpose(1, 0, 2)
    for place, owner in enumerate(owners):
        if owner >= 0:
            pairs[second + place, first + owner, 14] = 1.0
            pairs[first + owner, second + place, 15] = 1.0
    if len(set(tables)) > 1:
        pairs[first:second, first:second, 16] = np.equal.outer(np.array(tables), np.array(tables))
    distance = np.clip(np.arange(words)[None, :] - np.arange(words)[:, None], -3, 3)
    for step in range(-3, 4):
        pairs[:first, :first, 20 + step] = distance == step
    if nodes:
        owned = np.array(owners, int)
        pairs[second:, second:, 24] = (owned[:, None] == owned[None, :]) & (owned[:, None] >= 0)
    pairs[:, :, 25] = np.eye(size)
    return pairs
