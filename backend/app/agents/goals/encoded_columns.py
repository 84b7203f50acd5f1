"""Similarity by meaning of a goal and the columns of its tables, from encodings of their texts."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.concepts import unabbreviate
from app.agents.goals.goal import Goal
from app.agents.goals.sentence_encoder import encode
from app.agents.goals.tables import Column, TableProfile
from app.agents.goals.tokenizer import words

if TYPE_CHECKING:
    import numpy as np

MAX_COLUMNS = 80
"""Columns up to which they are encoded, some 25 ms of a processor each, once for a table: of wider tables names
and the lexicon must do."""
MAX_VALUES = 5
"""Values of a column that say what it is about."""
MAX_TEXT = 300
"""Characters of a text that are read: the encoder reads 64 pieces of words."""
_PROJECTION = Path(__file__).with_name("column_projection.npz")


def goal_texts(goal: Goal) -> tuple[str, str]:
    """Return what a goal says of its target, and the words at its head."""
    heads = [word.word for word in goal_words(goal.target_text) if word.part is Part.HEAD]
    return goal.target_text[:MAX_TEXT], " ".join(heads)[:MAX_TEXT]


def column_texts(table: TableProfile, column: Column) -> tuple[str, str]:
    """Return the name of a column spelled out, and the same with its table and its values."""
    name = " ".join(map(unabbreviate, words(column.name)))
    sentence = f"{' '.join(map(unabbreviate, words(table.name)))} {name}"
    shows_values = not column.is_number and column.type != "datetime" and column.hint != "id"
    values = ", ".join(map(str, column.top[:MAX_VALUES])) if shows_values else ""
    return name[:MAX_TEXT], (f"{sentence}: {values}" if values else sentence)[:MAX_TEXT]


@cache
def _projection() -> "tuple[np.ndarray, np.ndarray]":
    """Load the matrices (dimensions, components) that project encodings of goals and of columns."""
    # Here, since a process that plans no goal needs no NumPy.
    import numpy as np  # noqa: PLC0415

    with np.load(_PROJECTION) as stored:
        return stored["goals"].astype("float32"), stored["columns"].astype("float32")


def encode_goal(goal: Goal) -> "tuple[np.ndarray, np.ndarray]":
    """Return the encodings of `goal_texts`; without words at the head the second is zero."""
    texts = goal_texts(goal)
    sentence, head = encode(texts)
    return sentence, head if texts[1] else head * 0


def encode_columns(columns: Sequence[tuple[TableProfile, Column]]) -> "tuple[np.ndarray, np.ndarray]":
    """Return the encodings of `column_texts`: those of the names, and of the whole texts."""
    texts = [column_texts(table, column) for table, column in columns]
    return encode([name for name, _ in texts]), encode([text for _, text in texts])


def meaning_features(goal: Goal, columns: Sequence[tuple[TableProfile, Column]]) -> list[Mapping[str, float]]:
    """Return the features of each column by the meaning of its texts: none in wide tables."""
    if not columns or len(columns) > MAX_COLUMNS:
        return [{} for _ in columns]
    encoded_goal, encoded = encode_goal(goal), encode_columns(columns)
    for_goals, for_columns = _projection()
    learned = ((encoded[0] + encoded[1]) / 2) @ for_columns @ (encoded_goal[0] @ for_goals)
    return [
        {**similar, "meaning_learned": float(product)}
        for similar, product in zip(similarities(encoded_goal, encoded), learned, strict=True)
    ]


def similarities(
    goal: "tuple[np.ndarray, np.ndarray]", columns: "tuple[np.ndarray, np.ndarray]"
) -> list[dict[str, float]]:
    """Return the cosines of each column's encodings with those of the goal."""
    (sentence, head), (names, texts) = goal, columns
    figures = {
        "meaning_name": names @ sentence,
        "meaning_text": texts @ sentence,
        "meaning_head_name": names @ head,
        "meaning_head_text": texts @ head,
    }
    return [{key: float(values[place]) for key, values in figures.items()} for place in range(len(names))]
