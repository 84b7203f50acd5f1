"""Batches of examples, padded to one size. In those of the fit some columns and evidence are left out."""

import pickle
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scripts.question_decoder.examples import Example
from torch import Tensor

from app.agents.questions.learned.grammar import MAX_ACTIONS, SYMBOL_NUMBERS
from app.agents.questions.learned.question_encoder import RELATIONS, relation_features
from app.agents.questions.learned.text_nodes import MAX_WORDS
from app.agents.questions.learned.tokens import TOKENS

HIDDEN_EVIDENCE, DROPPED_COLUMNS = 0.12, 0.5
"""Shares of words whose matches are hidden, and of examples that lose columns."""
BATCH = 32
"""Requests of a step of each process."""


def read_examples(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("*.pickle"))
    return [pickle.loads(path.read_bytes()) for path in paths]  # noqa: S301 - written by this script


def batches(
    files: Sequence[dict[str, Any]], is_fitted: bool, generator: random.Random
) -> Iterator[dict[str, Tensor]]:
    """Yield the examples of some files in batches of about one size, in a new order each time."""
    pairs = [(file, example) for file in files for example in file["examples"] if _fits(example)]
    if is_fitted:
        generator.shuffle(pairs)
    for start in range(0, len(pairs), 20 * BATCH):
        part = sorted(pairs[start : start + 20 * BATCH], key=_size)
        groups = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        if is_fitted:
            generator.shuffle(groups)
        for group in groups:
            yield _collate([_arrays(file, example, is_fitted, generator) for file, example in group])


def _fits(example: Example) -> bool:
    return len(example["actions"]) <= MAX_ACTIONS and 0 < len(example["words"]) <= MAX_WORDS


def _size(pair: tuple[dict[str, Any], Example]) -> int:
    file, example = pair
    return len(example["words"]) + len(file["columns"]) + len(example["nodes"])


def _arrays(
    file: dict[str, Any], example: Example, is_fitted: bool, generator: random.Random
) -> dict[str, np.ndarray]:
    """One example: its columns in another order and some of them left out, evidence of some words hidden."""
    columns = [*range(len(file["columns"]))]
    if is_fitted:
        columns = _drop_columns(columns, _used_columns(example), generator)
    at_column = {column: place for place, column in enumerate(columns)}
    nodes = [n for n, owner in enumerate(example["owners"]) if owner < 0 or owner in at_column]
    at_node = {node: place for place, node in enumerate(nodes)}
    names = example["names"][:, columns].astype("float32")
    values = example["values"][:, nodes].astype("float32")
    if is_fitted:
        for word in range(len(names)):
            if generator.random() < HIDDEN_EVIDENCE:
                names[word, :, :4] = 0.0
            if generator.random() < HIDDEN_EVIDENCE:
                names[word, :, 4] = 0.0
    owners = [at_column[owner] if (owner := example["owners"][node]) >= 0 else -1 for node in nodes]
    maxima = values.max(axis=1) if nodes else np.zeros((len(values), 2), "float32")
    return {
        "words": example["words"].astype("float32"),
        "word_facts": np.concatenate([names.max(axis=1), maxima], axis=1),
        "columns": file["columns"][columns].astype("float32"),
        "column_facts": np.concatenate(
            [file["column_facts"][columns].astype("float32"), names.max(axis=0)], axis=1
        ),
        "nodes": example["nodes"][nodes].astype("float32"),
        "node_facts": example["node_facts"][nodes].astype("float32"),
        "relations": relation_features(names, values, owners, [file["tables"][c] for c in columns]),
        **_steps(example, at_column, at_node),
    }


def _used_columns(example: Example) -> set[int]:
    actions = example["actions"]
    used = {action.place for action in actions if action.kind == "column"}
    return used | {example["owners"][action.place] for action in actions if action.kind == "node"}


def _drop_columns(columns: list[int], used: set[int], generator: random.Random) -> list[int]:
    if generator.random() < DROPPED_COLUMNS:
        share = generator.random() * DROPPED_COLUMNS
        columns = [c for c in columns if c in used or generator.random() > share] or columns
    generator.shuffle(columns)
    return columns


def _steps(example: Example, at_column: dict[int, int], at_node: dict[int, int]) -> dict[str, np.ndarray]:
    """Places of the actions, before and after, the symbols that are expected, and what may follow."""
    tokens, words, columns = len(TOKENS), len(example["words"]), len(at_column)
    starts = {"token": 0, "word": tokens, "column": tokens + words, "node": tokens + words + columns}
    places = {"column": at_column, "node": at_node}
    length, width = len(example["actions"]), tokens + words + columns + len(at_node)
    allowed = np.zeros((length, width), bool)
    targets, expected = np.zeros(length, int), np.zeros(length, int)
    right = np.zeros((length, width), bool)
    for step, (action, (symbol, names, *pointed)) in enumerate(
        zip(example["actions"], example["steps"], strict=True)
    ):
        expected[step] = SYMBOL_NUMBERS[symbol]
        allowed[step, names] = True
        for kind, own in zip(("column", "node", "word"), pointed, strict=True):
            positions = places.get(kind)
            at = [
                place if positions is None else positions[place]
                for place in own
                if positions is None or place in positions
            ]
            allowed[step, [starts[kind] + place for place in at]] = True
        positions = places.get(action.kind)
        targets[step] = starts[action.kind] + (action.place if positions is None else positions[action.place])
        for other in (action, *example["also"].get(step, ())):
            at_kind = places.get(other.kind)
            if at_kind is None or other.place in at_kind:
                right[step, starts[other.kind] + (other.place if at_kind is None else at_kind[other.place])] = (
                    True
                )
    before = np.concatenate([[-1], targets[:-1]])
    return {"right": right, "wanted": targets, "before": before, "symbols": expected, "allowed": allowed}


def _collate(examples: Sequence[dict[str, np.ndarray]]) -> dict[str, Tensor]:
    """Pad examples to one size: words, columns and nodes each begin at the same place in all of them."""
    count, tokens = len(examples), len(TOKENS)
    sizes = [max(1, *(len(example[name]) for example in examples)) for name in ("words", "columns", "nodes")]
    length, total = max(len(example["wanted"]) for example in examples), sum(sizes)
    widths = {"words": 384, "word_facts": 7, "columns": 384, "column_facts": 21, "nodes": 384, "node_facts": 12}
    batch: dict[str, np.ndarray] = {
        name: np.zeros((count, sizes[place // 2], width), "float32")
        for place, (name, width) in enumerate(widths.items())
    }
    batch |= {
        "relations": np.zeros((count, total, total, RELATIONS), "float32"),
        "padding": np.ones((count, total), bool),
        "allowed": np.zeros((count, length, tokens + total), bool),
        "right": np.zeros((count, length, tokens + total), bool),
        "wanted": np.full((count, length), -100),
        "before": np.full((count, length), -2),
        "symbols": np.zeros((count, length), int),
    }
    starts = [0, sizes[0], sizes[0] + sizes[1]]
    for row, example in enumerate(examples):
        for name in widths:
            batch[name][row, : len(example[name])] = example[name]
        own = [len(example[name]) for name in ("words", "columns", "nodes")]
        places = np.concatenate([start + np.arange(size) for start, size in zip(starts, own, strict=True)])
        batch["relations"][row][np.ix_(places, places)] = example["relations"]
        batch["padding"][row, places] = False
        at = np.concatenate([np.arange(tokens), tokens + places])
        steps = len(example["wanted"])
        batch["allowed"][row][:steps, at] = example["allowed"]
        batch["right"][row][:steps, at] = example["right"]
        batch["wanted"][row, :steps] = at[example["wanted"]]
        batch["before"][row, :steps] = [at[place] if place >= 0 else place for place in example["before"]]
        batch["symbols"][row, :steps] = example["symbols"]
    return {name: torch.from_numpy(array) for name, array in batch.items()}
