"""Fits `words/sentence_encoder.npz` and `columns/links.npz` of `app/agents/goals` to the training goals.

`PYTHONPATH=. python scripts/fit_column_links.py ENCODER [--further | --folds FOLDER]`: `ENCODER` is the file
that `scripts/sentence_encoder.py` makes of the published model. Changes of low rank to the upper layers of the
encoder (Hu et al., LoRA, ICLR 2022) and the comparison of words and requests with columns are fitted to the
columns that phrases of the training goals mean and that whole goals ask for, and to made-up tables of concepts
of the lexicon. It takes half an hour on two processors that compute in bfloat16, twice as long on others, and
needs `jax` and `optax`, which the project does not install.

With `--further` the encoder is a copy of the stored one, from which the fit goes on, and so do the links. The
stored links were fitted in 3 epochs, in steps of 40 goals, to all files but those of x2, z4 and g1 to g4.

With `--folds` two fits, each without the tables of one fold, are written to the folder instead: links of goals
that a fit has not seen, for `scripts/fit_column_weights.py`.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tests.corpora.planned_goals import make_schema
from tests.corpora.training import FOLDS, TrainingGoal, TrainingTables, fold_of, load_training_goals

from app.agents.goals.columns import links as column_links
from app.agents.goals.columns.links import column_text
from app.agents.goals.lexicon.concept_matches import lexicon_files
from app.agents.goals.tables.profiles import make_table_profile
from app.agents.goals.words import sentence_encoder
from app.agents.goals.words.sentence_encoder import DIMENSIONS, HEADS, LAYERS, split_pieces

EPOCHS = 3
"""Passes over the training tables of a first fit."""
RANK, RANK_SCALE, FIRST_LAYER = 12, 2.0, 2
"""Rank and factor of the changes, and the first layer that is changed: those below tell words, not meanings."""
MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
LEARNING_RATE, FURTHER_LEARNING_RATE, MAX_GRADIENT_NORM = 1e-3, 6e-4, 5.0
"""Learning rates of Adam for a first and for a further fit, and the norm to which gradients are cut."""
WARMING_STEPS = 12
"""Steps of a further fit in which its rate grows: its first gradients tell little."""
KEPT_PIECES = 0.9
"""Share of pieces that are kept in a step of the fit; the others are hidden from it."""
TUNED_FILES = frozenset({"general.txt"})
"""Files of the lexicon that were written with the tuned goals at hand."""
MAX_COLUMNS, MAX_GOALS, MAX_COLUMN_PIECES, MAX_GOAL_PIECES = 96, 116, 24, 32
"""Shape of a step: its columns and goals, of several tables, and their pieces."""
GOALS_OF_TABLE, CONCEPTS_OF_TABLE = 24, 10
"""Goals of one table in a step, and columns of a made-up table."""
NO_COLUMN_WEIGHT, CONCEPT_WEIGHT = 0.25, 0.5
"""Weights of words that mean no column, and of goals on made-up tables."""
WORDS_OF_STEP, GOALS_OF_STEP = 110.0, 55.0
"""Words and goals by which the losses of a step are divided."""
CLOSENESS = 0.01
"""Penalty of the squared differences between the matrices of the comparison and the identity."""
REQUESTS = (
    ("predict the ", ""),
    ("how ", " will it be"),
    ("what makes ", ""),
    ("which ones ", ""),
    ("", ""),
    ("forecast ", " for next month"),
    ("what drives ", ""),
    ("estimate ", ""),
    ("", " per month"),
    ("will it ", ""),
    ("I want to know ", ""),
    ("average ", " by region"),
    ("how much ", ""),
)
"""Words before and after what is asked for, in goals on made-up tables."""
SEED = 1
"""Seed of batches and masks, so that a fit can be repeated."""
MULTIPLIED = jnp.bfloat16 if "bf16" in Path("/proc/cpuinfo").read_text() else jnp.float32
"""Type in which weights that are not fitted are multiplied: bfloat16 is twice as fast where a processor has it,
and slow elsewhere."""

Parameters = dict[str, Any]


class Request(NamedTuple):
    """A goal as the fit sees it. `labels`: for each piece the place of the column that it means, the number of
    columns if it means none, and -1 where that is not known. `targets`: which columns are meant, and none."""

    pieces: list[int]
    labels: list[int]
    targets: list[bool]
    weight: float = 1.0


@dataclass
class Table:
    file: str
    columns: list[list[int]]
    requests: list[Request] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--folds", type=Path)
    parser.add_argument("--epochs", type=float, default=EPOCHS)
    parser.add_argument("--without", nargs="*", default=[], help="beginnings of ids that are left out")
    parser.add_argument("--further", action="store_true", help="go on from the stored weights")
    arguments = parser.parse_args()
    stored = dict(np.load(arguments.encoder))
    left_out = tuple(arguments.without)
    tables = [make_table(file) for file in load_training_goals() if not file.id.startswith(left_out)]
    if arguments.folds is None:
        links = dict(np.load(column_links.FILE)) if arguments.further else None
        fitted = fit(tables, stored, arguments.epochs, links)
        write(fitted, stored, sentence_encoder.FILE, column_links.FILE)
        return
    for fold in range(FOLDS):
        training_tables = [table for table in tables if fold_of(table.file) != fold]
        folder = arguments.folds / str(fold)
        folder.mkdir(parents=True, exist_ok=True)
        fitted = fit(training_tables, stored, arguments.epochs)
        write(fitted, stored, folder / sentence_encoder.FILE.name, folder / column_links.FILE.name)


def make_table(file: TrainingTables) -> Table:
    profiles = [make_table_profile(make_schema(table)) for table in file.tables]
    columns = [(profile, column) for profile in profiles for column in profile.columns]
    names = [column.name for _, column in columns]
    table = Table(file.id, [numbers(column_text(*column))[:MAX_COLUMN_PIECES] for column in columns])
    table.requests = [make_request(goal, names) for goal in file.goals if goal.aim != "other_language"]
    return table


def make_request(goal: TrainingGoal, names: list[str]) -> Request:
    pieces = split_pieces(goal.goal)
    labels = [-1] * len(pieces)
    if goal.mentions:
        labels = [len(names) if piece.end > piece.start else -1 for piece in pieces]
    for phrase, column in goal.mentions.items():
        for match in re.finditer(re.escape(phrase.casefold()), goal.goal.casefold()):
            for place, piece in enumerate(pieces):
                if piece.end > piece.start and match.start() <= piece.start and piece.end <= match.end():
                    labels[place] = names.index(column) if column in names else labels[place]
    targets = [*(name in goal.targets for name in names), not goal.targets]
    return Request([piece.number for piece in pieces], labels, targets)


def numbers(text: str) -> list[int]:
    return [piece.number for piece in split_pieces(text)]


class Concept(NamedTuple):
    names: list[list[int]]
    phrases: list[list[int]]


def load_concepts() -> list[list[Concept]]:
    """Load the concepts of the lexicon by the headings under which they stand."""
    sections: list[list[Concept]] = []
    for path in lexicon_files():
        if path.name in TUNED_FILES:
            continue
        sections.append([])
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                sections.append([])
                continue
            names, phrases = (
                [part.strip() for part in side.split(",") if part.strip()]
                for side in (line + "=").split("=")[:2]
            )
            if names and (phrases or len(names) > 1):
                sections[-1].append(
                    Concept([numbers(n)[:20] for n in names], [numbers(p)[1:-1][:16] for p in phrases])
                )
    return [section for section in sections if len(section) >= 4]


def make_up_table(sections: Sequence[list[Concept]], random: np.random.Generator) -> Table:
    """Make up a table of concepts under one heading, and requests that ask for them in other words."""
    section = sections[random.integers(len(sections))]
    concepts = [section[place] for place in random.permutation(len(section))[:CONCEPTS_OF_TABLE]]
    table = Table("", [])
    first, last = numbers("")
    for place, concept in enumerate(concepts):
        name = random.integers(len(concept.names))
        table.columns.append(concept.names[name])
        others = [other[1:-1] for number, other in enumerate(concept.names) if number != name]
        if ways := [*concept.phrases, *others]:
            phrase = ways[random.integers(len(ways))]
            before, after = (numbers(part)[1:-1] for part in REQUESTS[random.integers(len(REQUESTS))])
            none = len(concepts)
            labels = [-1, *[none] * len(before), *[place] * len(phrase), *[none] * len(after), -1]
            targets = [number == place for number in range(none + 1)]
            table.requests.append(
                Request([first, *before, *phrase, *after, last], labels, targets, CONCEPT_WEIGHT)
            )
    return table


def batches(
    tables: Sequence[Table], sections: Sequence[list[Concept]], random: np.random.Generator
) -> Iterator[dict[str, np.ndarray]]:
    """Return each request of the tables once, in steps of several tables and a made-up one."""
    parts = [
        Table(
            table.file,
            table.columns,
            [table.requests[place] for place in order[start : start + GOALS_OF_TABLE]],
        )
        for table in tables
        if len(table.columns) <= MAX_COLUMNS - CONCEPTS_OF_TABLE
        for order in [random.permutation(len(table.requests))]
        for start in range(0, len(order), GOALS_OF_TABLE)
    ]
    parts = [parts[place] for place in random.permutation(len(parts))]
    while parts:
        step: list[Table] = []
        remaining = []
        for part in parts:
            columns = sum(len(other.columns) for other in step) + len(part.columns)
            requests = sum(len(other.requests) for other in step) + len(part.requests)
            fits = columns <= MAX_COLUMNS - CONCEPTS_OF_TABLE and requests <= MAX_GOALS - CONCEPTS_OF_TABLE
            (step if fits else remaining).append(part)
        parts = remaining
        yield make_batch([*step, make_up_table(sections, random)])


def make_batch(tables: Sequence[Table]) -> dict[str, np.ndarray]:
    """Put columns and requests of several tables below each other, padded to the shape of a step."""
    columns, column_mask, column_table = _padded(
        [(number, column) for number, table in enumerate(tables) for column in table.columns],
        (MAX_COLUMNS, MAX_COLUMN_PIECES),
        -2,
    )
    requests = [(number, request) for number, table in enumerate(tables) for request in table.requests][
        :MAX_GOALS
    ]
    goals, goal_mask, goal_table = _padded(
        [(number, request.pieces) for number, request in requests], (MAX_GOALS, MAX_GOAL_PIECES), -1
    )
    labels = np.full((MAX_GOALS, MAX_GOAL_PIECES), -1)
    targets = np.zeros((MAX_GOALS, MAX_COLUMNS + 1), "float32")
    weights = np.zeros(MAX_GOALS, "float32")
    starts = np.cumsum([0, *(len(table.columns) for table in tables)])
    for row, (number, request) in enumerate(requests):
        count = len(tables[number].columns)
        places = [*range(starts[number], starts[number] + count), MAX_COLUMNS]
        for place, label in enumerate(request.labels[:MAX_GOAL_PIECES]):
            labels[row, place] = places[label] if label >= 0 else -1
        targets[row, places] = request.targets
        weights[row] = request.weight
    return {
        "columns": columns,
        "column_mask": column_mask,
        "column_table": column_table,
        "goals": goals,
        "goal_mask": goal_mask,
        "goal_table": goal_table,
        "labels": labels,
        "targets": targets,
        "weights": weights,
    }


def _padded(
    rows: Sequence[tuple[int, list[int]]], shape: tuple[int, int], no_table: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pieces, mask, table = np.zeros(shape, int), np.zeros(shape, "float32"), np.full(shape[0], no_table)
    for row, (number, own) in enumerate(rows):
        size = min(len(own), shape[1])
        pieces[row, :size], mask[row, :size], table[row] = own[:size], 1.0, number
    mask[len(rows) :, 0] = 1.0  # a row of padding alone has no mean
    return pieces, mask, table


class Fit:
    """The encoder with the changes that are fitted to it."""

    def __init__(self, stored: dict[str, np.ndarray]) -> None:
        self.base = {name: jnp.asarray(array) for name, array in dequantised(stored).items()}
        self.frozen = {
            name: array.astype(MULTIPLIED)
            for name, array in self.base.items()
            if name.endswith(tuple(f"{matrix}.weight" for matrix in MATRICES))
        }

    def start(self, links: dict[str, np.ndarray] | None) -> Parameters:
        """Return the parameters before the first step: no changes, and stored or neutral comparisons."""
        random = np.random.default_rng(0)
        parameters: Parameters = {}
        for layer in range(FIRST_LAYER, LAYERS):
            for matrix in MATRICES:
                rows, width = self.base[f"encoder.layer.{layer}.{matrix}.weight"].shape
                down = random.normal(0, width**-0.5, (RANK, width)).astype("float32")
                parameters |= {
                    f"{layer}.{matrix}.down": down,
                    f"{layer}.{matrix}.up": np.zeros((rows, RANK), "f4"),
                }
        parameters |= {name: np.eye(DIMENSIONS, dtype="float32") for name in SQUARE}
        parameters |= {name: np.zeros(DIMENSIONS, "float32") for name in FLAT}
        parameters |= {"bias_of_words": np.float32(4), "bias": np.float32(2)}
        scale = np.float32(np.log(12))
        parameters |= {"log_scale_of_words": scale, "log_scale": scale}
        if links is not None:
            parameters |= {name: links[name].astype("float32") for name in (*SQUARE, "bias_of_words", "bias")}
            parameters |= {name: links[name] / np.float32(_FACTORS[name]) for name in FLAT}
            parameters |= {
                f"log_{name}": np.log(links[name].astype("float32")) for name in ("scale_of_words", "scale")
            }
        return jax.tree.map(jnp.asarray, parameters)

    def encode(self, parameters: Parameters, pieces: Any, mask: Any, key: Any) -> Any:
        count, length = pieces.shape
        base = self.base
        hidden = (
            base["embeddings.word_embeddings.weight"][pieces]
            + base["embeddings.position_embeddings.weight"][:length]
            + base["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normalise(hidden, "embeddings.LayerNorm")
        hidden = hidden * jax.random.bernoulli(key, KEPT_PIECES, (count, length, 1))
        for layer in range(LAYERS):
            query, key_, value = (
                self._apply(parameters, hidden, layer, f"attention.self.{part}")
                .reshape(count, length, HEADS, DIMENSIONS // HEADS)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            logits = query @ key_.transpose(0, 1, 3, 2) / (DIMENSIONS // HEADS) ** 0.5
            shares = jax.nn.softmax(logits + ((1 - mask) * -1e4)[:, None, None, :])
            attended = (shares @ value).transpose(0, 2, 1, 3).reshape(count, length, DIMENSIONS)
            attended = self._apply(parameters, attended, layer, "attention.output.dense")
            hidden = self._normalise(hidden + attended, f"encoder.layer.{layer}.attention.output.LayerNorm")
            inner = jax.nn.gelu(self._apply(parameters, hidden, layer, "intermediate.dense"))
            outer = self._apply(parameters, inner, layer, "output.dense")
            hidden = self._normalise(hidden + outer, f"encoder.layer.{layer}.output.LayerNorm")
        return hidden

    def _apply(self, parameters: Parameters, hidden: Any, layer: int, matrix: str) -> Any:
        name = f"encoder.layer.{layer}.{matrix}"
        applied = times_frozen(hidden, self.frozen[f"{name}.weight"]) + self.base[f"{name}.bias"]
        if layer < FIRST_LAYER:
            return applied
        down, up = parameters[f"{layer}.{matrix}.down"], parameters[f"{layer}.{matrix}.up"]
        return applied + RANK_SCALE * (hidden @ down.T) @ up.T

    def _normalise(self, hidden: Any, name: str) -> Any:
        centred = hidden - hidden.mean(-1, keepdims=True)
        spread = jnp.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * self.base[f"{name}.weight"] + self.base[f"{name}.bias"]

    def loss(self, parameters: Parameters, batch: dict[str, Any], key: Any) -> Any:
        """Return the negative log likelihood of the columns that words and goals mean."""
        of_columns, of_goals = jax.random.split(key)
        hidden = self.encode(parameters, batch["columns"], batch["column_mask"], of_columns)
        mask = batch["column_mask"][:, :, None]
        columns = unit((hidden * mask).sum(1) / mask.sum(1))
        states = self.encode(parameters, batch["goals"], batch["goal_mask"], of_goals)
        same_table = batch["goal_table"][:, None] == batch["column_table"][None]
        of_words = word_logits(parameters, states, columns)
        of_words = of_words.at[:, :, :-1].set(jnp.where(same_table[:, None, :], of_words[:, :, :-1], -1e4))
        of_targets = target_logits(parameters, states, batch["goal_mask"], columns)
        of_targets = of_targets.at[:, :-1].set(jnp.where(same_table, of_targets[:, :-1], -1e4))
        labels = batch["labels"]
        weights = (labels >= 0) * jnp.where(labels == MAX_COLUMNS, NO_COLUMN_WEIGHT, 1.0)
        hits = jnp.take_along_axis(jax.nn.log_softmax(of_words), jnp.maximum(labels, 0)[:, :, None], -1)[
            :, :, 0
        ]
        meant = jnp.where(batch["targets"] > 0, jax.nn.log_softmax(of_targets), -1e4)
        target_likelihood = jnp.where(batch["targets"].sum(-1) > 0, jax.nn.logsumexp(meant, -1), 0.0)
        distance = sum(((parameters[name] - jnp.eye(DIMENSIONS)) ** 2).sum() for name in SQUARE)
        return (
            -(hits * weights).sum() / WORDS_OF_STEP
            - (target_likelihood * batch["weights"]).sum() / GOALS_OF_STEP
            + CLOSENESS * distance
        )


@jax.custom_vjp
def times_frozen(hidden: Any, weights: Any) -> Any:
    """Multiply by weights that are not fitted, in the type that this processor multiplies faster."""
    return jnp.dot(hidden.astype(MULTIPLIED), weights.T, preferred_element_type=jnp.float32)


def _times_forward(hidden: Any, weights: Any) -> tuple[Any, Any]:
    return times_frozen(hidden, weights), weights


def _times_backward(weights: Any, gradient: Any) -> tuple[Any, Any]:
    own = jnp.dot(gradient.astype(MULTIPLIED), weights, preferred_element_type=jnp.float32)
    return own, jnp.zeros_like(weights)


times_frozen.defvjp(_times_forward, _times_backward)

SQUARE = ("words", "columns_of_words", "request", "columns")
FLAT = ("none_of_words", "target_pieces", "prior", "none")
_FACTORS = {"none_of_words": 4.0, "target_pieces": 8.0, "prior": 4.0, "none": 4.0}
"""Factors of vectors that start at zero: with them they move as fast as the rest."""


def word_logits(parameters: Parameters, states: Any, columns: Any) -> Any:
    """Return the logits of the columns and of none for each piece: see `column_links`."""
    likeness = unit(states @ parameters["words"]) @ unit(columns @ parameters["columns_of_words"]).T
    none = unit(states) @ parameters["none_of_words"] * _FACTORS["none_of_words"] + parameters["bias_of_words"]
    scale = jnp.exp(parameters["log_scale_of_words"])
    return jnp.concatenate([scale * likeness, none[:, :, None]], -1)


def target_logits(parameters: Parameters, states: Any, mask: Any, columns: Any) -> Any:
    """Return the logits of the columns and of none as the target of each goal."""
    weights = unit(states) @ parameters["target_pieces"] * _FACTORS["target_pieces"]
    shares = jax.nn.softmax(jnp.where(mask > 0, weights, -1e4), -1)
    request = unit(jnp.einsum("gp,gpd->gd", shares, states @ parameters["request"]))
    likeness = jnp.exp(parameters["log_scale"]) * request @ unit(columns @ parameters["columns"]).T
    own = (columns @ parameters["prior"])[None] * _FACTORS["prior"]
    none = request @ parameters["none"] * _FACTORS["none"] + parameters["bias"]
    return jnp.concatenate([likeness + own, none[:, None]], -1)


def unit(vectors: Any) -> Any:
    return vectors / jnp.sqrt((vectors * vectors).sum(-1, keepdims=True) + 1e-9)


def fit(
    tables: Sequence[Table],
    stored: dict[str, np.ndarray],
    epochs: float,
    links: dict[str, np.ndarray] | None = None,
) -> tuple[Fit, Parameters]:
    """Fit the changes of an encoder to some tables, from stored links on if they are given."""
    model = Fit(stored)
    parameters, sections = model.start(links), load_concepts()
    random, key = np.random.default_rng(SEED), jax.random.PRNGKey(0)
    steps = max(1, int(epochs * sum(1 for _ in batches(tables, sections, np.random.default_rng(0)))))
    schedule = optax.cosine_decay_schedule(LEARNING_RATE, steps, 0.05)
    if links is not None:
        schedule = optax.warmup_cosine_decay_schedule(0.0, FURTHER_LEARNING_RATE, WARMING_STEPS, steps, 0.0)
    optimiser = optax.chain(optax.clip_by_global_norm(MAX_GRADIENT_NORM), optax.adam(schedule))
    state = optimiser.init(parameters)

    @jax.jit
    def take_step(parameters: Parameters, state: Any, batch: dict[str, Any], key: Any) -> Any:
        loss, gradient = jax.value_and_grad(model.loss)(parameters, batch, key)
        updates, state = optimiser.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    done = 0
    while done < steps:
        for batch in batches(tables, sections, random):
            key, own = jax.random.split(key)
            parameters, state, loss = take_step(parameters, state, batch, own)
            done += 1
            if done % 25 == 0:
                print(f"step {done} of {steps}: loss {float(loss):.2f}", flush=True)
            if done == steps:
                break
    return model, parameters


def dequantised(stored: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the weights of the encoder as float32."""
    return {
        name: (array * stored[f"{name}.scales"] if f"{name}.scales" in stored else array).astype("float32")
        for name, array in stored.items()
        if name != "pieces" and not name.endswith(".scales")
    }


def write(
    fitted: tuple[Fit, Parameters], stored: dict[str, np.ndarray], encoder_file: Path, links_file: Path
) -> None:
    """Write the encoder with its changes, rounded to 8 bits with a scale for each row, and the comparison."""
    model, parameters = fitted
    arrays = dict(stored)
    for layer in range(FIRST_LAYER, LAYERS):
        for matrix in MATRICES:
            name = f"encoder.layer.{layer}.{matrix}.weight"
            change = RANK_SCALE * parameters[f"{layer}.{matrix}.up"] @ parameters[f"{layer}.{matrix}.down"]
            weights = np.asarray(model.base[name] + change)
            scales = np.abs(weights).max(axis=1, keepdims=True) / 127
            arrays[name] = np.round(weights / scales).astype("int8")
            arrays[f"{name}.scales"] = scales.astype("float32")
    links = {name: np.asarray(parameters[name]).astype("float16") for name in SQUARE}
    links |= {name: np.asarray(parameters[name] * _FACTORS[name]).astype("float32") for name in FLAT}
    links |= {
        "scale_of_words": np.exp(np.asarray(parameters["log_scale_of_words"])),
        "scale": np.exp(np.asarray(parameters["log_scale"])),
        "bias_of_words": np.asarray(parameters["bias_of_words"]),
        "bias": np.asarray(parameters["bias"]),
    }
    np.savez_compressed(encoder_file, **arrays)
    np.savez_compressed(links_file, **links)


if __name__ == "__main__":
    main()
