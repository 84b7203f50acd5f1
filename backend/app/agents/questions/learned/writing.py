"""Programs as actions of the grammar: what the decoder has to write of the questions that it is fitted to."""

from collections.abc import Callable, Iterator, Sequence

from app.agents.questions.learned.date_writing import CannotWriteError, write_date_test
from app.agents.questions.learned.grammar import Action, Allowed, Machine, QuestionFrame, as_token
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.text_nodes import FRACTIONS, MONTHS, WEEKDAYS, TextNode
from app.agents.questions.learned.tokens import AFTERNOON, CONSTANTS, SCALES, TOKENS
from app.agents.questions.programs.goal_program import GoalProgram
from app.agents.questions.programs.program import (
    AnyOf,
    Condition,
    Denial,
    Program,
    ProgramFigure,
    Scalar,
    Statistic,
    Term,
    Test,
)

_TOLERANCE = 1e-9
"""Relative difference of numbers that are the same."""
_ROUNDED = 0.005
"""Difference up to which a program's number is a fraction that is written out, as 0.33."""


def frame_of(inputs: QuestionInputs) -> QuestionFrame:
    return QuestionFrame(
        tuple(inputs.column_kinds),
        tuple(node.kind for node in inputs.nodes),
        tuple(inputs.owners()),
        len(inputs.words),
    )


def write_actions(program: Program | GoalProgram, inputs: QuestionInputs) -> list[Action]:
    """Return the actions that say a program. Raises CannotWriteError."""
    writer = _Writer(inputs)
    actions = [*(writer.goal(program) if isinstance(program, GoalProgram) else writer.program(program))]
    machine = Machine(frame_of(inputs))
    for action in actions:
        allowed = machine.allowed() if not machine.is_done else None
        if allowed is None or not _is_in(action, allowed):
            raise CannotWriteError(f"{_name(action)} may not follow")
        machine.advance(action)
    if not machine.is_done:
        raise CannotWriteError("the program does not end")
    return actions


def _is_in(action: Action, allowed: Allowed) -> bool:
    match action.kind:
        case "token":
            return TOKENS[action.place] in allowed.tokens
        case "column":
            return action.place in allowed.columns
        case "node":
            return action.place in allowed.nodes
        case "word":
            return action.place in allowed.words


def _name(action: Action) -> str:
    return TOKENS[action.place] if action.kind == "token" else f"{action.kind} {action.place}"


def _shows(program: Program) -> str:
    """The token of what a program shows."""
    if program.shows == "over":
        return f"over_{program.over}"
    return "table" if program.shows == "figures" and program.keys else program.shows


class _Writer:
    def __init__(self, inputs: QuestionInputs) -> None:
        self.inputs = inputs
        self.places: dict[str, int] = {}
        for place, (_, column) in enumerate(inputs.columns):
            self.places.setdefault(column.name, place)

    def program(self, program: Program) -> Iterator[Action]:
        yield as_token(_shows(program))
        if program.shows == "none":
            return
        yield from self.show(program)
        if program.keys:
            for key in program.keys:
                yield from self.key(key)
            yield as_token("end")
        for condition in self.ordered(program.where):
            yield from self.condition(condition)
        yield as_token("end")
        if program.keys:
            for bound in program.having:
                yield as_token(f"test_{bound.sign}")
                yield from self.figure(bound.figure)
                yield from [as_token("mean_of_groups")] if bound.value == "mean" else self.number(bound.value)
            yield as_token("end")
        if _shows(program) in ("rows", "values", "groups", "table"):
            yield from self.order(program)

    def goal(self, program: GoalProgram) -> Iterator[Action]:
        yield as_token(f"goal_{program.aim}")
        if program.target is None:
            return
        if isinstance(program.target, ProgramFigure):
            yield from self.figure(program.target)
        else:
            yield from self.key(program.target)
        for key in program.keys if program.aim == "forecast" else program.excluded:
            yield from self.key(key)
        yield as_token("end")
        for condition in self.ordered(program.where):
            yield from self.condition(condition)
        yield as_token("end")

    def show(self, program: Program) -> Iterator[Action]:
        if program.figures:
            yield from self.figure(program.figures[0])
        for figure in program.figures[1:]:
            yield from self.figure(figure)
        for column in program.columns:
            yield from self.term(column)
        if program.shows in ("figures", "rows", "values"):
            yield as_token("end")

    def ordered(self, conditions: Sequence[Condition]) -> list[Condition]:
        """The conditions in the order in which the question names their values."""
        return sorted(conditions, key=self._place)

    def _place(self, condition: Condition) -> int:
        try:
            actions = [*self.condition(condition)]
        except CannotWriteError:
            return 0
        nodes = [self.inputs.nodes[a.place].first for a in actions if a.kind == "node"]
        return min((place for place in nodes if place >= 0), default=99)

    def order(self, program: Program) -> Iterator[Action]:
        order = program.order
        if order is None:
            yield as_token("end")
            return
        if order.count is None:
            yield as_token("order_sort_desc" if order.descending else "order_sort")
        else:
            yield as_token("order_top" if order.descending else "order_bottom")
            yield from self.number(order.count)
        if program.figures and order.by == program.figures[0]:
            yield as_token("same_figure")
        elif isinstance(order.by, ProgramFigure):
            yield from self.figure(order.by)
        else:
            yield from self.term(order.by)

    def figure(self, figure: ProgramFigure) -> Iterator[Action]:
        if figure.name == "share":
            yield as_token("figure_share")
        else:
            yield as_token(f"figure_{figure.name}" + ("_if" if figure.where is not None else ""))
        if figure.term is not None:
            yield from self.term(figure.term)
        if figure.other is not None:
            yield from self.term(figure.other)
        if figure.share is not None:
            yield from self.number(figure.share)
        if figure.where is not None:
            yield from self.condition(figure.where)
        for part in figure.parts:
            yield from self.figure(part)

    def column(self, name: str) -> Action:
        return Action("column", self.places[name])

    def term(self, term: Term) -> Iterator[Action]:
        if term.part:
            yield as_token(f"part_{term.part}")
        elif term.sign:
            yield as_token(f"term_{term.sign}")
        yield self.column(term.column)
        if term.second is not None:
            yield from self.term(term.second)

    def key(self, key: Term | Condition) -> Iterator[Action]:
        yield from self.term(key) if isinstance(key, Term) else self.condition(key)

    def condition(self, condition: Condition) -> Iterator[Action]:
        if isinstance(condition, Denial):
            yield as_token("test_not")
            yield from self.condition(condition.test)
            return
        if isinstance(condition, AnyOf):
            yield as_token("test_or")
            for test in condition.tests:
                yield from self.condition(test)
            yield as_token("end")
            return
        yield from self.test(condition)

    def test(self, test: Test) -> Iterator[Action]:
        place = self.places.get(test.term.column, -1)
        if (of_date := write_date_test(test, place, self.inputs)) is not None:
            yield from of_date
            return
        yield as_token(f"test_{test.sign if test.kind == 'compare' else test.kind}")
        match test.kind:
            case "contains" | "starts":
                yield self.column(test.term.column)
                yield from self.words(str(test.values[0]))
                return
            case "last" | "this" | "previous":
                yield self.column(test.term.column)
                if test.kind == "last":
                    yield from self.number(test.values[0])
                yield as_token(f"unit_{test.unit}")
                return
        yield from self.term(test.term)
        if isinstance(test.other, Statistic):
            yield as_token(f"stat_{test.other.name}")
            if test.other.share is not None:
                yield from self.number(test.other.share)
        elif test.other is not None:
            yield as_token("other_column")
            yield from self.term(test.other)
        for value in test.values:
            yield from self.value(test.term, value)
        if test.kind == "in":
            yield as_token("end")

    def words(self, text: str) -> Iterator[Action]:
        letters = "".join(text.casefold().split())
        words = self.inputs.words
        for first in range(len(words)):
            spelled = ""
            for last in range(first, min(len(words), first + 8)):
                spelled += words[last].text
                if spelled == letters:
                    yield Action("word", first)
                    yield Action("word", last)
                    return
        raise CannotWriteError(f"{text!r} is not in the question")

    def value(self, term: Term, value: Scalar) -> Iterator[Action]:
        place = self.places[term.column]
        kind = self.inputs.column_kinds[place]
        if kind == "flag" and value in (0, 1):
            yield as_token("true" if value else "false")
            return
        if term.part == "weekday":
            yield self.node_where(
                "weekday", lambda node: WEEKDAYS[int(node.number)][:3] == str(value).casefold()[:3]
            )
            return
        if term.part == "month":
            number = _month_number(value)
            for at, node in enumerate(self.inputs.nodes):
                if node.text and node.text.kind == "month" and node.text.number == number:
                    yield Action("node", at)
                    return
            yield from self.number(number)
            return
        stored = self.stored(place, value)
        if stored is not None:
            yield Action("node", stored)
        elif isinstance(value, str):
            if kind in ("number", "integer", "id"):
                try:
                    yield from self.number(float(value))
                except ValueError:
                    raise CannotWriteError(f"no value {value!r}") from None
            else:
                raise CannotWriteError(f"no value {value!r}")
        else:
            yield from self.number(value)

    def stored(self, column: int, value: Scalar) -> int | None:
        """The place of a stored value, of several spellings that which the question fits best."""
        nodes = self.inputs.nodes
        places = [
            place
            for place, node in enumerate(nodes)
            if node.column == column
            and node.text is None
            and str(node.value).casefold() == str(value).casefold()
        ]
        return max(places, key=lambda place: abs(nodes[place].score), default=None)

    def node_where(self, kind: str, test: Callable[[TextNode], bool]) -> Action:
        for place, node in enumerate(self.inputs.nodes):
            if node.text is not None and node.text.kind == kind and test(node.text):
                return Action("node", place)
        raise CannotWriteError(f"no such {kind}")

    def number(self, value: Scalar) -> Iterator[Action]:
        if isinstance(value, str):
            raise CannotWriteError(f"no number: {value!r}")
        spelled = [
            (place, node.text.number)
            for place, node in enumerate(self.inputs.nodes)
            if node.text is not None and node.text.kind == "number"
        ]
        actions = _write_said(float(value), spelled) or _write_constant(float(value))
        if actions is None:
            raise CannotWriteError(f"no number {value}")
        yield from actions


def _write_said(value: float, spelled: Sequence[tuple[int, float]]) -> list[Action] | None:
    """The actions of a number that the question says, as it is or in another unit."""
    for place, number in spelled:
        if _equal(number, value) or (number in FRACTIONS.values() and abs(number - value) < _ROUNDED):
            return [Action("node", place)]
    for name, factor in SCALES.items():
        for place, number in spelled:
            if number and _equal(number * factor, value):
                return [as_token(name), Action("node", place)]
    for place, number in spelled:
        if _equal(number + 12, value) and number <= 12:
            return [as_token(AFTERNOON), Action("node", place)]
    return None


def _write_constant(value: float) -> list[Action] | None:
    constant = next((number for number in CONSTANTS if _equal(number, value)), None)
    return None if constant is None else [as_token(f"number_{constant}")]


def _equal(first: float, second: float) -> bool:
    return abs(first - second) <= _TOLERANCE * max(1.0, abs(first), abs(second))


def _month_number(value: Scalar) -> int:
    text = str(value).casefold()
    for number, name in enumerate(MONTHS, start=1):
        if len(text) >= 3 and text[:3] == name[:3]:
            return number
    try:
        return int(float(text))
    except ValueError:
        raise CannotWriteError(f"no month: {value!r}") from None
