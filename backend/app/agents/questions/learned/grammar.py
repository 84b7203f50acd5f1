"""The language in which the decoder writes programs: actions in prefix order, and which of them may follow.

An action is a token of `TOKENS`, or points at a column, a node or a word of the question. A stack of symbols
says what is expected next, so that every sequence that the decoder can write is a program.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from app.agents.questions.learned.inputs import ColumnKind
from app.agents.questions.learned.tokens import (
    AFTERNOON,
    ARITHMETIC,
    CONSTANTS,
    DATE_PARTS,
    FIGURES,
    GOALS,
    OF_ANY,
    OF_NUMBERS,
    ORDERS,
    OVER,
    SCALES,
    SHOWS,
    SIGNS,
    SPANS,
    STATISTICS,
    TESTS,
    TOKEN_NUMBERS,
    TOKENS,
    UNITS,
)

ActionKind = Literal["token", "column", "node", "word"]


class Action(NamedTuple):
    """A token by its number, or the place of a column, a node or a word."""

    kind: ActionKind
    place: int


def as_token(name: str) -> Action:
    """Return the action of a token by its name."""
    return Action("token", TOKEN_NUMBERS[name])


MAX_ACTIONS = 48
"""Actions of a program; the longest of the training programs has 41."""
MAX_DEPTH = 12
"""Symbols on the stack beyond which no figure or condition is begun within another one."""

Symbol = Literal[
    "program",
    "figure",
    "figures",
    "term",
    "number_term",
    "date_term",
    "terms",
    "key",
    "keys",
    "condition",
    "conditions",
    "operand",
    "operands",
    "value",
    "having",
    "bound",
    "order",
    "count",
    "ranked",
    "share",
    "unit",
    "number_column",
    "date_column",
    "text_column",
    "date_node",
    "number_node",
    "first_word",
    "last_word",
    "target",
    "measure",
    "excluded",
]

_TERM_SYMBOLS: frozenset[Symbol] = frozenset(
    {"term", "number_term", "date_term", "terms", "key", "keys", "ranked", "text_column", "target", "measure"}
)
_NUMBER_KINDS: frozenset[ColumnKind] = frozenset({"number", "integer"})
_AFTER_SHOWS: dict[str, tuple[Symbol, ...]] = {
    "figures": ("figure", "figures", "conditions"),
    "table": ("figure", "figures", "key", "keys", "conditions", "having", "order"),
    "groups": ("key", "keys", "conditions", "having", "order"),
    "count_groups": ("key", "keys", "conditions", "having"),
    **{f"over_{name}": ("figure", "key", "keys", "conditions", "having") for name in OVER},
    "rows": ("terms", "conditions", "order"),
    "values": ("term", "terms", "conditions", "order"),
    "none": (),
}
_AFTER_GOALS: dict[str, tuple[Symbol, ...]] = {
    **{f"goal_{name}": () for name in GOALS},
    **dict.fromkeys(("goal_predict", "goal_drivers"), ("target", "excluded", "conditions")),
    "goal_forecast": ("measure", "keys", "conditions"),
}
_AFTER_FIGURE: dict[str, tuple[Symbol, ...]] = {
    "count": (),
    "count_if": ("condition",),
    **dict.fromkeys(OF_ANY, ("term",)),
    **{f"{name}_if": ("term", "condition") for name in OF_ANY},
    **dict.fromkeys(OF_NUMBERS, ("number_term",)),
    **{f"{name}_if": ("number_term", "condition") for name in OF_NUMBERS},
    "quantile": ("number_term", "share"),
    "corr": ("number_term", "number_term"),
    "share": ("condition",),
    **dict.fromkeys(("part", "change", "cumulative"), ("figure",)),
    **dict.fromkeys(("ratio", "minus"), ("figure", "figure")),
}
_AFTER_TEST: dict[str, tuple[Symbol, ...]] = {
    **dict.fromkeys(SIGNS, ("term", "operand")),
    "in": ("term", "value", "operands"),
    "between": ("term", "value", "value"),
    **dict.fromkeys(("contains", "starts"), ("text_column", "first_word", "last_word")),
    **dict.fromkeys(("missing", "present"), ("term",)),
    "last": ("date_column", "count", "unit"),
    **dict.fromkeys(("this", "previous"), ("date_column", "unit")),
    "not": ("condition",),
    "or": ("condition", "condition", "conditions"),
    "within": ("date_column", "date_node"),
    **dict.fromkeys(("weekend", "workday"), ("date_column",)),
}


@dataclass(frozen=True)
class QuestionFrame:
    """The parts of a question that the grammar needs: kinds of columns and nodes, owners of values."""

    column_kinds: tuple[ColumnKind, ...]
    node_kinds: tuple[str, ...]
    owners: tuple[int, ...]
    words: int


@dataclass
class Allowed:
    tokens: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)


class Machine:
    """The state of a program that is being written: the symbols that are expected, the next one last."""

    def __init__(self, frame: QuestionFrame, stack: tuple[Symbol, ...] = ("program",)) -> None:
        self.frame = frame
        self.stack: tuple[Symbol, ...] = stack
        self.term: tuple[int, str] = (-1, "")
        """The column of the latest term, and its part or sign."""
        self.first_word = 0

    def copy(self) -> "Machine":
        twin = Machine(self.frame, self.stack)
        twin.term, twin.first_word = self.term, self.first_word
        return twin

    @property
    def is_done(self) -> bool:
        return not self.stack

    def allowed(self) -> Allowed:
        """Return the actions that may follow."""
        return _ALLOWED[self.stack[-1]](self)

    def advance(self, action: Action) -> None:
        """Take an action. Raises ValueError where it may not follow."""
        symbol, self.stack = self.stack[-1], self.stack[:-1]
        if action.kind != "token":
            self._point(symbol, action)
            return
        following = _after(symbol, TOKENS[action.place])
        name = TOKENS[action.place]
        if name.startswith(("part_", "term_")):
            self.term = (-1, name.partition("_")[2])
        elif name == "other_column":
            self.term = (-1, "")
        self.stack += tuple(reversed(following))

    def _point(self, symbol: Symbol, action: Action) -> None:
        if action.kind == "column":
            if symbol in ("terms", "keys", "excluded"):
                self.stack += (symbol,)
            # The first column of a term decides what it is compared with.
            if symbol in _TERM_SYMBOLS:
                self.term = (action.place, "")
            elif self.term[0] < 0:
                self.term = (action.place, self.term[1])
        elif action.kind == "word" and symbol == "first_word":
            self.first_word = action.place
        elif action.kind == "node" and symbol == "operands":
            self.stack += (symbol,)

    def columns(self, test: Callable[[ColumnKind], bool]) -> list[int]:
        return [place for place, kind in enumerate(self.frame.column_kinds) if test(kind)]

    def nodes(self, *kinds: str) -> list[int]:
        return [place for place, kind in enumerate(self.frame.node_kinds) if kind in kinds]

    def values_of(self, column: int) -> list[int]:
        return [place for place, owner in enumerate(self.frame.owners) if owner == column and owner >= 0]


_ITEMS: dict[Symbol, Symbol] = {
    "figures": "figure",
    "conditions": "condition",
    "keys": "key",
    "terms": "term",
    "operands": "value",
}
"""Symbols of lists, which go on until `end`, and of what they list."""


def _after(symbol: Symbol, name: str) -> tuple[Symbol, ...]:
    """The symbols that a token puts in the place of one."""
    if name == "end":
        return ()
    if symbol == "program":
        return _AFTER_GOALS[name] if name in _AFTER_GOALS else _AFTER_SHOWS[name]
    if symbol in _ITEMS:
        return (*_after(_ITEMS[symbol], name), symbol)
    if symbol == "having":
        return ("figure", "bound", "having")
    if symbol == "order":
        return ("count", "ranked") if name in ("order_top", "order_bottom") else ("ranked",)
    return _AFTER_OTHERS.get(name, ())


_AFTER_OTHERS: dict[str, tuple[Symbol, ...]] = {
    **{f"figure_{name}": following for name, following in _AFTER_FIGURE.items()},
    **{f"test_{name}": following for name, following in _AFTER_TEST.items()},
    **{f"part_{name}": ("date_column",) for name in DATE_PARTS},
    "part_bins": ("number_column",),
    **{f"term_{name}": ("date_column", "date_column") for name in SPANS},
    **{f"term_{name}": ("number_column", "number_term") for name in ARITHMETIC},
    **dict.fromkeys((*SCALES, AFTERNOON), ("number_node",)),
    "stat_quantile": ("share",),
    "other_column": ("term",),
}


def _figures(machine: Machine) -> Allowed:
    simple = len(machine.stack) > MAX_DEPTH
    names = [
        name for name in FIGURES if not simple or name not in ("part", "change", "cumulative", "ratio", "minus")
    ]
    return Allowed([f"figure_{name}" for name in names])


def _terms(machine: Machine, is_number: bool = False, is_date: bool = False) -> Allowed:
    has_dates = bool(machine.columns(lambda kind: kind == "date"))
    has_numbers = bool(machine.columns(lambda kind: kind in _NUMBER_KINDS))
    tokens = [f"part_{name}" for name in DATE_PARTS] if has_dates and not is_number else []
    if has_numbers and not is_date:
        tokens += [f"term_{name}" for name in ARITHMETIC]
    if has_dates and not is_date:
        tokens += [f"term_{name}" for name in SPANS]
    if has_numbers and not is_number and not is_date:
        tokens.append("part_bins")
    columns = machine.columns(
        lambda kind: kind in _NUMBER_KINDS or kind == "id" if is_number else kind == "date" if is_date else True
    )
    return Allowed(tokens, columns)


def _conditions(machine: Machine) -> Allowed:
    has_dates = bool(machine.columns(lambda kind: kind == "date"))
    of_dates = ("last", "this", "previous", "within", "weekend", "workday")
    is_deep = len(machine.stack) > MAX_DEPTH
    names = [
        name
        for name in TESTS
        if (has_dates or name not in of_dates)
        and (name != "within" or machine.nodes("date"))
        and not (is_deep and name in ("not", "or"))
        and (name not in ("contains", "starts") or machine.columns(_is_text))
    ]
    return Allowed([f"test_{name}" for name in names])


def _is_text(kind: ColumnKind) -> bool:
    return kind in ("text", "category", "id")


def _keys(machine: Machine) -> Allowed:
    terms, conditions = _terms(machine), _conditions(machine)
    return Allowed([*terms.tokens, *conditions.tokens], terms.columns)


def _with_end(allowed: Callable[[Machine], Allowed]) -> Callable[[Machine], Allowed]:
    def with_end(machine: Machine) -> Allowed:
        own = allowed(machine)
        return Allowed(["end", *own.tokens], own.columns, own.nodes, own.words)

    return with_end


def _numbers(machine: Machine) -> Allowed:
    scaled = [*SCALES, AFTERNOON] if machine.nodes("number") else []
    return Allowed([*scaled, *(f"number_{number}" for number in CONSTANTS)], nodes=machine.nodes("number"))


def _values(machine: Machine) -> Allowed:
    """The values that a term may be compared with, by its column and part."""
    column, part = machine.term
    kind = machine.frame.column_kinds[column] if column >= 0 else "number"
    if part == "month":
        numbers = _numbers(machine)
        return Allowed(numbers.tokens, nodes=[*numbers.nodes, *machine.nodes("month")])
    if part == "weekday":
        return Allowed(nodes=machine.nodes("weekday"))
    if part or kind in _NUMBER_KINDS:
        numbers = _numbers(machine)
        return Allowed(numbers.tokens, nodes=[*numbers.nodes, *machine.values_of(column)])
    if kind == "date":
        return Allowed(nodes=machine.nodes("date"))
    if kind == "flag":
        return Allowed(["true", "false"], nodes=machine.values_of(column))
    return Allowed(nodes=[*machine.values_of(column), *(machine.nodes("number") if kind == "id" else ())])


def _operands(machine: Machine) -> Allowed:
    column, part = machine.term
    kind = machine.frame.column_kinds[column] if column >= 0 else "number"
    own = _values(machine)
    tokens = [*own.tokens]
    if kind in _NUMBER_KINDS and not part:
        tokens += STATISTICS
    if kind in (*_NUMBER_KINDS, "date"):
        tokens.append("other_column")
    return Allowed(tokens, nodes=own.nodes)


def _ranked(machine: Machine) -> Allowed:
    figures, terms = _figures(machine), _terms(machine)
    return Allowed(["same_figure", *figures.tokens, *terms.tokens], terms.columns)


def _bounds(machine: Machine) -> Allowed:
    numbers = _numbers(machine)
    return Allowed([*numbers.tokens, "mean_of_groups"], nodes=numbers.nodes)


_ALLOWED: dict[Symbol, Callable[[Machine], Allowed]] = {
    "program": lambda _: Allowed([*SHOWS, *(f"goal_{name}" for name in GOALS)]),
    "figure": _figures,
    "figures": _with_end(_figures),
    "term": _terms,
    "number_term": lambda machine: _terms(machine, is_number=True),
    "date_term": lambda machine: _terms(machine, is_date=True),
    "terms": _with_end(_terms),
    "key": _keys,
    "keys": _with_end(_keys),
    "condition": _conditions,
    "conditions": _with_end(_conditions),
    "operand": _operands,
    "operands": _with_end(_values),
    "value": _values,
    "having": lambda _: Allowed(["end", *(f"test_{sign}" for sign in SIGNS)]),
    "bound": _bounds,
    "order": lambda _: Allowed(["end", *(f"order_{name}" for name in ORDERS)]),
    "count": _numbers,
    "ranked": _ranked,
    "share": _numbers,
    "unit": lambda _: Allowed([f"unit_{name}" for name in UNITS]),
    "number_column": lambda machine: Allowed(columns=machine.columns(lambda kind: kind in _NUMBER_KINDS)),
    "date_column": lambda machine: Allowed(columns=machine.columns(lambda kind: kind == "date")),
    "text_column": lambda machine: Allowed(columns=machine.columns(_is_text)),
    "date_node": lambda machine: Allowed(nodes=machine.nodes("date")),
    "number_node": lambda machine: Allowed(nodes=machine.nodes("number")),
    "first_word": lambda machine: Allowed(words=[*range(machine.frame.words)]),
    "last_word": lambda machine: Allowed(words=[*range(machine.first_word, machine.frame.words)]),
    "target": _keys,
    "measure": lambda machine: Allowed(["figure_count", "figure_count_if"], _terms(machine).columns),
    "excluded": lambda machine: Allowed(["end"], _terms(machine).columns),
}


SYMBOLS: tuple[Symbol, ...] = tuple(_ALLOWED)
"""All symbols, in the order in which the decoder numbers them."""
SYMBOL_NUMBERS = {symbol: number for number, symbol in enumerate(SYMBOLS)}
