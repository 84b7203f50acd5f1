"""Fits `app/agents/questions/learned/decoder.npz` to the training programs.

`PYTHONPATH=. python scripts/fit_question_decoder.py examples FOLDER [--part K --of N]`, then
`... fit FOLDER --minutes 60 [--processes 2]`: first the questions are read as the decoder reads them, once,
into a file each; then the decoder is fitted to the actions that say their programs, by processes that share
their gradients, and stored in 8 bits. From time to time the share of the held-out programs that are written
whole is printed. It needs `torch`, which the project does not install, and an hour on two processors.
"""

import argparse
import math
import pickle
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
import torch.nn.functional as functional
from tests.corpora.training_programs import (
    HELD_OUT_PROGRAMS_DIRECTORY,
    PROGRAMS_DIRECTORY,
    TrainingPrograms,
    load_training_programs,
)
from torch import Tensor, nn

from app.agents.questions.learned import decoder
from app.agents.questions.learned.date_writing import CannotWriteError
from app.agents.questions.learned.decoder import DECODER_LAYERS
from app.agents.questions.learned.grammar import MAX_ACTIONS, SYMBOL_NUMBERS, Machine
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.layers import HEADS, WIDTH
from app.agents.questions.learned.question_encoder import ENCODER_LAYERS, RELATIONS, relation_features
from app.agents.questions.learned.text_nodes import MAX_WORDS
from app.agents.questions.learned.tokens import TOKEN_NUMBERS, TOKENS
from app.agents.questions.learned.writing import frame_of, write_actions

DROPPED, HIDDEN_EVIDENCE, DROPPED_COLUMNS = 0.15, 0.12, 0.5
"""Shares of states that are dropped, of words whose matches are hidden, and of examples that lose columns."""
LEARNING_RATE, FURTHER_LEARNING_RATE = 8e-4, 4e-4
WARMING_STEPS, MAX_GRADIENT_NORM, WEIGHT_DECAY = 200, 1.0, 0.02
SHOWN_STEPS = 500
"""Steps after which the parameters are stored, and tried on the held-out programs."""
BATCH = 32
"""Questions of a step of each process."""
_MASKED = -1e4
Example = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["examples", "fit"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--further", action="store_true", help="go on from the stored decoder")
    parser.add_argument("--port", type=int, default=29_500, help="of loopback, by which the processes share")
    arguments = parser.parse_args()
    if arguments.action == "examples":
        write_examples(arguments.folder, arguments.part, arguments.of)
        return
    torch.multiprocessing.spawn(
        fit,
        (arguments.folder, arguments.minutes, arguments.processes, arguments.port, arguments.further),
        nprocs=arguments.processes,
    )


def write_examples(folder: Path, part: int, of: int) -> None:
    """Write the examples of every file of programs, held-out ones into a folder of their own."""
    for directory, name in ((PROGRAMS_DIRECTORY, "fitted"), (HELD_OUT_PROGRAMS_DIRECTORY, "held_out")):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(load_training_programs(directory)):
            if number % of == part:
                (folder / name / f"{file.id}.pickle").write_bytes(pickle.dumps(make_examples(file)))


def make_examples(file: TrainingPrograms) -> dict[str, Any]:
    examples = []
    inputs = QuestionInputs("", file.tables)
    for question, program in file.questions:
        inputs = QuestionInputs(question, file.tables)
        try:
            examples.append(make_example(inputs, program))
        except CannotWriteError as error:
            print(f"{file.id}: {question}: {error}", flush=True)
    half = np.float16
    return {
        "columns": inputs.column_vectors().astype(half),
        "column_facts": inputs.column_facts().astype(half),
        "tables": [table.name for table, _ in inputs.columns],
        "examples": examples,
    }


def make_example(inputs: QuestionInputs, program: Any) -> Example:
    """Return what the decoder reads of a question, and after each action those that may follow."""
    actions = write_actions(program, inputs)
    machine, steps = Machine(frame_of(inputs)), []
    for action in actions:
        allowed = machine.allowed()
        tokens = [TOKEN_NUMBERS[name] for name in allowed.tokens]
        steps.append((machine.stack[-1], tokens, allowed.columns, allowed.nodes, allowed.words))
        machine.advance(action)
    relations, half = inputs.relations(), np.float16
    return {
        "actions": actions,
        "steps": steps,
        "names": relations.names.astype(half),
        "values": relations.values.astype(half),
        "words": inputs.word_vectors().astype(half),
        "nodes": inputs.node_vectors().astype(half),
        "node_facts": inputs.node_facts().astype(half),
        "owners": inputs.owners(),
    }


class Attention(nn.Module):
    def __init__(self, has_relations: bool = False) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.r = nn.Linear(RELATIONS, HEADS, bias=False) if has_relations else None

    def forward(self, queries: Tensor, memory: Tensor, bias: Tensor, relations: Tensor | None = None) -> Tensor:
        batch, length, _ = queries.shape
        query, key, value = (
            layer(states).view(batch, states.shape[1], HEADS, -1).transpose(1, 2)
            for layer, states in ((self.q, queries), (self.k, memory), (self.v, memory))
        )
        if self.r is not None and relations is not None:
            bias = bias + self.r(relations).permute(0, 3, 1, 2)
        logits = (query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)).float() + bias.float()
        shares = functional.dropout(logits.softmax(-1), DROPPED / 2, self.training).to(value.dtype)
        attended: Tensor = self.o((shares @ value).transpose(1, 2).reshape(batch, length, WIDTH))
        return attended


class Layer(nn.Module):
    """A layer of the encoder, or of the decoder, which also attends to what was read."""

    def __init__(self, reads_memory: bool = False) -> None:
        super().__init__()
        self.a, self.n1, self.n2 = Attention(not reads_memory), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.f1, self.f2 = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.reads_memory = reads_memory
        if reads_memory:
            self.c, self.n3 = Attention(), nn.LayerNorm(WIDTH)

    def forward(
        self,
        states: Tensor,
        bias: Tensor,
        relations: Tensor | None = None,
        memory: Tensor | None = None,
        memory_bias: Tensor | None = None,
    ) -> Tensor:
        normal = self.n1(states)
        states = states + self._drop(self.a(normal, normal, bias, relations))
        if self.reads_memory:
            states = states + self._drop(self.c(self.n3(states), memory, memory_bias))
        inner = functional.gelu(self.f1(self.n2(states)), approximate="tanh")
        return states + self._drop(self.f2(inner))

    def _drop(self, states: Tensor) -> Tensor:
        return functional.dropout(states, DROPPED, self.training)


class Model(nn.Module):
    """The decoder as it is fitted: its parameters have the names under which `decoder.npz` stores them."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.col, self.node = (nn.Linear(384, WIDTH) for _ in range(3))
        self.wordx, self.colx, self.nodex = nn.Linear(7, WIDTH), nn.Linear(21, WIDTH), nn.Linear(12, WIDTH)
        self.pos, self.seg = nn.Embedding(MAX_WORDS, WIDTH), nn.Embedding(3, WIDTH)
        self.enc = nn.ModuleList(Layer() for _ in range(ENCODER_LAYERS))
        self.dec = nn.ModuleList(Layer(reads_memory=True) for _ in range(DECODER_LAYERS))
        self.encn, self.decn = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.tok, self.sym = nn.Embedding(len(TOKENS), WIDTH), nn.Embedding(len(SYMBOL_NUMBERS), WIDTH)
        self.spos, self.start = nn.Embedding(MAX_ACTIONS, WIDTH), nn.Parameter(torch.zeros(WIDTH))
        self.ptr, self.outt, self.outp, self.keyp = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.bias = nn.Parameter(torch.zeros(len(TOKENS)))
        for embedding in (self.pos, self.seg, self.tok, self.sym, self.spos):
            nn.init.normal_(embedding.weight, std=0.05)

    def encode(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        words, columns, nodes = (
            functional.dropout(batch[name], DROPPED, self.training) for name in ("words", "columns", "nodes")
        )
        states = torch.cat(
            [
                self.word(words)
                + self.wordx(batch["word_facts"])
                + self.pos.weight[: words.shape[1]]
                + self.seg.weight[0],
                self.col(columns) + self.colx(batch["column_facts"]) + self.seg.weight[1],
                self.node(nodes) * 0.3 + self.nodex(batch["node_facts"]) + self.seg.weight[2],
            ],
            1,
        )
        padding = batch["padding"][:, None, None, :]
        bias = torch.zeros(padding.shape).masked_fill(padding, _MASKED)
        for layer in self.enc:
            states = layer(states, bias, batch["relations"])
        return self.encn(states), bias

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        memory, bias = self.encode(batch)
        tokens, before = len(TOKENS), batch["before"]
        places = before.clamp(min=0)
        at = (places - tokens).clamp(min=0)[:, :, None].expand(-1, -1, WIDTH)
        pointed, named = self.ptr(torch.gather(memory, 1, at)).float(), self.tok(places.clamp(max=tokens - 1))
        states = torch.where((places >= tokens)[:, :, None], pointed, named)
        states = torch.where((before < 0)[:, :, None], self.start.expand_as(states), states)
        length = before.shape[1]
        states = states + self.sym(batch["symbols"]) + self.spos.weight[:length]
        causal = torch.triu(torch.full((length, length), _MASKED), 1)[None, None]
        for layer in self.dec:
            states = layer(states, causal, None, memory, bias)
        states = self.decn(states)
        of_tokens = self.outt(states) @ self.tok.weight.T + self.bias
        of_places = self.outp(states) @ self.keyp(memory).transpose(1, 2) / math.sqrt(WIDTH)
        logits = torch.cat([of_tokens, of_places], 2).float()
        return logits.masked_fill(~batch["allowed"], _MASKED)


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
    most = values.max(axis=1) if nodes else np.zeros((len(values), 2), "float32")
    return {
        "words": example["words"].astype("float32"),
        "word_facts": np.concatenate([names.max(axis=1), most], axis=1),
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
    wanted, expected = np.zeros(length, int), np.zeros(length, int)
    for step, (action, (symbol, names, *pointed)) in enumerate(
        zip(example["actions"], example["steps"], strict=True)
    ):
        expected[step] = SYMBOL_NUMBERS[symbol]
        allowed[step, names] = True
        for kind, own in zip(("column", "node", "word"), pointed, strict=True):
            known = places.get(kind)
            at = [place if known is None else known[place] for place in own if known is None or place in known]
            allowed[step, [starts[kind] + place for place in at]] = True
        known = places.get(action.kind)
        wanted[step] = starts[action.kind] + (action.place if known is None else known[action.place])
    before = np.concatenate([[-1], wanted[:-1]])
    return {"wanted": wanted, "before": before, "symbols": expected, "allowed": allowed}


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
        batch["wanted"][row, :steps] = at[example["wanted"]]
        batch["before"][row, :steps] = [at[place] if place >= 0 else place for place in example["before"]]
        batch["symbols"][row, :steps] = example["symbols"]
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def read_examples(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("*.pickle"))
    return [pickle.loads(path.read_bytes()) for path in paths]  # noqa: S301 - written by this script


def fit(rank: int, folder: Path, minutes: float, processes: int, port: int, is_further: bool) -> None:
    """Fit the decoder for some minutes, as one of several processes that take a part of the files each."""
    torch.set_num_threads(1)  # threads of two processes on two processors wait for each other
    torch.manual_seed(1)
    distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=processes)
    files, held_out = read_examples(folder / "fitted")[rank::processes], read_examples(folder / "held_out")
    model, generator = Model(), random.Random(rank)  # noqa: S311 - no secret
    if is_further:
        model.load_state_dict({name: torch.from_numpy(array) for name, array in decoder.load_weights().items()})
    rate = FURTHER_LEARNING_RATE if is_further else LEARNING_RATE
    parameters = [*model.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=rate, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98))
    start, step, share = time.monotonic(), 0, 0.0
    while share < 1:
        # No process knows how many batches the others have: epochs end at different steps.
        for batch in batches(files, True, generator):
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(batch)
            loss = functional.cross_entropy(logits.flatten(0, 1), batch["wanted"].flatten(), ignore_index=-100)
            optimiser.zero_grad(set_to_none=False)
            loss.backward()
            spent = time.monotonic() - start
            share = _share_gradients(parameters, spent) / (60 * minutes)
            nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT_NORM)
            step += 1
            for group in optimiser.param_groups:
                warmth = min(1.0, step / WARMING_STEPS)
                group["lr"] = rate * warmth * max(0.0, 1 - share) ** 0.8 + 1e-6
            optimiser.step()
            if rank == 0 and (step % SHOWN_STEPS == 0 or share >= 1):
                print(f"step {step}, {spent:.0f} s: loss {loss.item():.3f}", end="", flush=True)
                print(f", {share_written(model, held_out):.3f} of the held-out programs", flush=True)
                np.savez_compressed(decoder.FILE, **quantised(model))
            if share >= 1:
                break


def _share_gradients(parameters: Sequence[nn.Parameter], spent: float) -> float:
    """Replace the gradients of all processes by their mean; returns the mean of the seconds that they spent."""
    gradients = [p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()) for p in parameters]
    joined = torch.cat([*gradients, torch.tensor([spent])])
    distributed.all_reduce(joined)
    joined /= distributed.get_world_size()
    at = 0
    for parameter in parameters:
        parameter.grad = joined[at : at + parameter.numel()].view_as(parameter)
        at += parameter.numel()
    return float(joined[-1])


def share_written(model: Model, files: Sequence[dict[str, Any]]) -> float:
    """Return the share of examples all of whose actions are the likeliest ones."""
    model.eval()
    right = count = 0
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for batch in batches(files, False, random.Random(0)):  # noqa: S311 - no secret
            wanted = batch["wanted"]
            is_right = ((model(batch).argmax(-1) == wanted) | (wanted < 0)).all(1)
            right, count = right + int(is_right.sum()), count + len(is_right)
    model.train()
    return right / max(1, count)


def quantised(model: Model) -> dict[str, np.ndarray]:
    """Return the parameters, matrices in 8 bits with a scale for each row."""
    stored: dict[str, np.ndarray] = {}
    for name, parameter in model.state_dict().items():
        array = parameter.float().numpy()
        if array.ndim == 1 or min(array.shape) < 32:
            stored[name] = array
            continue
        scales = np.abs(array).max(axis=1, keepdims=True) / 127
        scales[scales == 0] = 1.0
        stored[name], stored[f"{name}.scales"] = np.round(array / scales).astype(np.int8), scales
    return stored


if __name__ == "__main__":
    main()
