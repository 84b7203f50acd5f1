"""The decoder: a small transformer that writes programs of questions and reads goals, run in NumPy.

Words, columns and values of a question attend to each other with what is known of their pairs (relation-aware
attention as in RAT-SQL, Wang et al., ACL 2020), and a second transformer writes the actions of the grammar one
by one, or points at what it read. `scripts/question_decoder` fits it.
"""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.agents.questions.learned.action_reading import read_program
from app.agents.questions.learned.grammar import MAX_ACTIONS, SYMBOL_NUMBERS, Action, Machine, as_token
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.layers import apply, attend, feed, normalise, split_heads
from app.agents.questions.learned.question_encoder import encode_question
from app.agents.questions.learned.tokens import GOALS, SHOWS, TOKEN_NUMBERS, TOKENS
from app.agents.questions.learned.writing import frame_of
from app.agents.questions.programs.program import Program

if TYPE_CHECKING:
    import numpy as np
    from threadpoolctl import ThreadpoolController

    from app.agents.questions.learned.layers import Weights

FILE = Path(__file__).with_name("decoder.npz")
DECODER_LAYERS, BEAM = 2, 6
"""Layers of the second transformer, and programs that are written side by side."""


class WrittenProgram(NamedTuple):
    """A program and its probability among those that could be written."""

    program: Program
    probability: float


TARGET_AIMS = ("predict", "drivers", "forecast")
"""Aims that have a target."""


class LearnedGoal(NamedTuple):
    """The aim and the target of a request, by the decoder.

    `aims`: the probability of each aim of `GOALS`, and of `question`. `targets`: of each of `TARGET_AIMS` the
    probability of each column, if that is the aim; they sum to less than 1 where it may be no column.
    """

    aims: dict[str, float]
    targets: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class _Beam:
    """A program that is being written: what is expected next, its actions and the log of its probability.

    `before`: the place of the latest action among tokens and what was read, -1 at the beginning.
    """

    machine: Machine
    actions: tuple[Action, ...] = ()
    before: int = -1
    logarithm: float = 0.0


class _LoadedDecoder(NamedTuple):
    weights: "Weights"
    threads: "ThreadpoolController"


@cache
def _load() -> _LoadedDecoder:
    # Here, since a process that reads no question needs neither NumPy nor the weights.
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415

    return _LoadedDecoder(load_weights(), ThreadpoolController())


def load() -> None:
    """Load the weights now rather than with the first question."""
    _load()


def load_weights() -> "Weights":
    """Load the parameters as float32, about 15 MB."""
    import numpy as np  # noqa: PLC0415

    with np.load(FILE) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return {
        name: (array * arrays[f"{name}.scales"] if f"{name}.scales" in arrays else array).astype("float32")
        for name, array in arrays.items()
        if not name.endswith(".scales")
    }


def forget() -> None:
    """Forget the weights, so that others are loaded from `FILE`."""
    _load.cache_clear()


def write_programs(inputs: QuestionInputs, beam: int = BEAM) -> list[WrittenProgram]:
    """Return the likeliest programs of a question, the best first; none of a question that cannot be read."""
    if not inputs.can_be_read:
        return []
    model = _load()
    with model.threads.limit(limits=1, user_api="blas"):
        finished = _Search(inputs, model.weights, beam).run()
    return [program for entry in finished if (program := _read(entry, inputs)) is not None]


def read_goal(inputs: QuestionInputs) -> LearnedGoal | None:
    """Return the aim and the target of a request; None of one that cannot be read."""
    if not inputs.can_be_read:
        return None
    model = _load()
    with model.threads.limit(limits=1, user_api="blas"):
        return _Search(inputs, model.weights, 1).read_goal()


def _read(finished: _Beam, inputs: QuestionInputs) -> WrittenProgram | None:
    """Read a program; None where its numbers or dates are none of a program: the first half of the groups."""
    try:
        return WrittenProgram(read_program(finished.actions, inputs), math.exp(finished.logarithm))
    except (ValueError, ArithmeticError):
        return None


def _continued(beam: _Beam, token: Action) -> _Beam:
    machine = beam.machine.copy()
    machine.advance(token)
    return _Beam(machine, (*beam.actions, token), token.place, beam.logarithm)


class _Search:
    """A beam search. Programs of the same number of actions are continued together."""

    def __init__(self, inputs: QuestionInputs, weights: "Weights", width: int) -> None:
        self.inputs, self.weights, self.width = inputs, weights, width
        memory = encode_question(inputs, weights)
        self.keys = apply(memory, weights, "keyp")
        self.pointed = apply(memory, weights, "ptr")
        self.crossed = [
            [split_heads(apply(memory, weights, f"dec.{layer}.c.{part}")) for part in "kv"]
            for layer in range(DECODER_LAYERS)
        ]
        self.past: list[list[np.ndarray]] = [[] for _ in range(DECODER_LAYERS)]
        """Keys and values of the actions so far, of each layer: (programs, heads, actions, width of a head)."""

    def run(self) -> list[_Beam]:
        beams = [_Beam(Machine(frame_of(self.inputs)))]
        finished: list[_Beam] = []
        for length in range(MAX_ACTIONS):
            logits = self.next_logits(beams, length)
            candidates = [
                (parent, longer)
                for parent, beam in enumerate(beams)
                for longer in self.continuations(beam, logits[parent])
            ]
            candidates.sort(key=lambda entry: -entry[1].logarithm)
            candidates = candidates[: self.width]
            finished += [beam for _, beam in candidates if beam.machine.is_done]
            candidates = [entry for entry in candidates if not entry[1].machine.is_done]
            if not candidates or len(finished) >= self.width:
                break
            parents = [parent for parent, _ in candidates]
            self.past = [[states[parents] for states in layer] for layer in self.past]
            beams = [beam for _, beam in candidates]
        return sorted(finished, key=lambda beam: -beam.logarithm)[: self.width]

    def read_goal(self) -> LearnedGoal:
        start = _Beam(Machine(frame_of(self.inputs)))
        logits = self.next_logits([start], 0)[0]
        shares = self.shares(self.allowed_places(start.machine), logits)
        aims = {name: shares[as_token(f"goal_{name}")] for name in GOALS}
        aims["question"] = sum(shares[as_token(name)] for name in SHOWS)
        starts = [_continued(start, as_token(f"goal_{name}")) for name in TARGET_AIMS]
        self.past = [[states.repeat(len(starts), axis=0) for states in layer] for layer in self.past]
        targets = {}
        for name, beam, own in zip(TARGET_AIMS, starts, self.next_logits(starts, 1), strict=True):
            by_action = self.shares(self.allowed_places(beam.machine), own)
            columns = range(len(self.inputs.columns))
            targets[name] = tuple(by_action.get(Action("column", place), 0.0) for place in columns)
        return LearnedGoal(aims, targets)

    def shares(self, places: "list[tuple[Action, int]]", logits: "np.ndarray") -> dict[Action, float]:
        """Return the probability of each of the actions that may follow."""
        import numpy as np  # noqa: PLC0415

        own = logits[[number for _, number in places]]
        own = np.exp(own - own.max())
        own /= own.sum()
        return {action: float(share) for (action, _), share in zip(places, own, strict=True)}

    def next_logits(self, beams: "list[_Beam]", length: int) -> "np.ndarray":
        """Return the logits of all tokens and of all that was read (programs, tokens and places)."""
        import numpy as np  # noqa: PLC0415

        weights, tokens = self.weights, len(TOKENS)
        before = [
            weights["start"]
            if beam.before < 0
            else weights["tok.weight"][beam.before]
            if beam.before < tokens
            else self.pointed[beam.before - tokens]
            for beam in beams
        ]
        expected = [SYMBOL_NUMBERS[beam.machine.stack[-1]] for beam in beams]
        states = np.stack(before) + weights["sym.weight"][expected] + weights["spos.weight"][length]
        for layer in range(DECODER_LAYERS):
            states = self.run_layer(states[:, None, :], layer)[:, 0]
        states = normalise(states, weights, "decn")
        of_tokens = apply(states, weights, "outt") @ weights["tok.weight"].T + weights["bias"]
        of_places = apply(states, weights, "outp") @ self.keys.T / np.float32(self.keys.shape[1] ** 0.5)
        return np.concatenate([of_tokens, of_places], axis=1)

    def run_layer(self, states: "np.ndarray", layer: int) -> "np.ndarray":
        """Run a layer over the latest action of each program (programs, 1, width)."""
        import numpy as np  # noqa: PLC0415

        weights, name = self.weights, f"dec.{layer}"
        normal = normalise(states, weights, f"{name}.n1")
        query, key, value = (split_heads(apply(normal, weights, f"{name}.a.{part}")) for part in "qkv")
        past = self.past[layer]
        own = [np.concatenate([past[n], new], axis=2) if past else new for n, new in enumerate((key, value))]
        self.past[layer] = own
        states = states + apply(attend(query, *own), weights, f"{name}.a.o")
        query = split_heads(apply(normalise(states, weights, f"{name}.n3"), weights, f"{name}.c.q"))
        states = states + apply(attend(query, *self.crossed[layer]), weights, f"{name}.c.o")
        return feed(states, weights, name)

    def continuations(self, beam: _Beam, logits: "np.ndarray") -> list[_Beam]:
        """Return a program with each of the likeliest actions that may follow."""
        import numpy as np  # noqa: PLC0415

        places = self.allowed_places(beam.machine)
        if not beam.actions:  # what a question shows; goals are read by `read_goal`
            places = [entry for entry in places if not TOKENS[entry[0].place].startswith("goal_")]
        if not places:  # nothing in the question fits what was starts
            return []
        own = logits[[number for _, number in places]]
        own = own - own.max()
        logarithms = own - np.log(np.exp(own).sum())
        longer = []
        for at in np.argsort(-logarithms)[: self.width]:
            action, number = places[int(at)]
            machine = beam.machine.copy()
            machine.advance(action)
            logarithm = beam.logarithm + float(logarithms[at])
            longer.append(_Beam(machine, (*beam.actions, action), number, logarithm))
        return longer

    def allowed_places(self, machine: Machine) -> list[tuple[Action, int]]:
        """Return the actions that may follow, with their places among tokens and what was read."""
        allowed, tokens = machine.allowed(), len(TOKENS)
        words, columns = len(self.inputs.words), len(self.inputs.columns)
        return [
            *((Action("token", TOKEN_NUMBERS[name]), TOKEN_NUMBERS[name]) for name in allowed.tokens),
            *((Action("column", place), tokens + words + place) for place in allowed.columns),
            *((Action("node", place), tokens + words + columns + place) for place in allowed.nodes),
            *((Action("word", place), tokens + place) for place in allowed.words),
        ]
