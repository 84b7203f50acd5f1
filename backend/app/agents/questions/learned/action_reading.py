"""Programs from the actions of the grammar that say them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from app.agents.questions.learned.grammar import Action
from app.agents.questions.learned.inputs import QuestionInputs, QuestionNode
from app.agents.questions.learned.text_nodes import WEEKDAYS
from app.agents.questions.learned.tokens import AFTERNOON, SCALES, SPANS, TOKENS
from app.agents.questions.programs.program import (
    AnyOf,
    Condition,
    Denial,
    GroupBound,
    Program,
    ProgramFigure,
    ProgramOrder,
    Scalar,
    Statistic,
    Term,
    Test,
)


def read_program(actions: Sequence[Action], inputs: QuestionInputs) -> Program:
    """Return the program of a question that actions of the grammar say."""
    return _ActionReader(actions, inputs).program()


class _ActionReader:
    def __init__(self, actions: Sequence[Action], inputs: QuestionInputs) -> None:
        self.actions = [*actions]
        self.at = 0
        self.inputs = inputs

    def next(self) -> Action:
        self.at += 1
        return self.actions[self.at - 1]

    def peek(self) -> str:
        action = self.actions[self.at]
        return TOKENS[action.place] if action.kind == "token" else ""

    def ends(self) -> bool:
        if self.peek() == "end":
            self.at += 1
            return True
        return False

    def program(self) -> Program:
        name = TOKENS[self.next().place]
        shows: Any = "figures" if name == "table" else "over" if name.startswith("over_") else name
        over: Any = name.removeprefix("over_") if shows == "over" else None
        if shows == "none":
            return Program("none")
        figures: list[ProgramFigure] = []
        columns: list[Term] = []
        keys: list[Term | Condition] = []
        having: list[GroupBound] = []
        if shows in ("figures", "over"):
            figures.append(self.figure())
        if shows == "figures":
            while not self.ends():
                figures.append(self.figure())
        if shows in ("rows", "values"):
            while not self.ends():
                columns.append(self.term())
        is_grouped = shows in ("over", "groups", "count_groups") or name == "table"
        while is_grouped and not self.ends():
            keys.append(self.key())
        where: list[Condition] = []
        while not self.ends():
            where.append(self.condition())
        while is_grouped and not self.ends():
            sign: Any = self.token().removeprefix("test_")
            figure = self.figure()
            having.append(GroupBound(figure, sign, self.bound()))
        order = self.order(figures) if shows in ("rows", "values", "groups") or name == "table" else None
        return Program(
            shows,
            tuple(figures),
            over,
            tuple(dict.fromkeys(columns)),
            tuple(dict.fromkeys(keys)),
            tuple(dict.fromkeys(where)),
            tuple(having),
            order,
        )

    def token(self) -> str:
        return TOKENS[self.next().place]

    def bound(self) -> Any:
        if self.peek() == "mean_of_groups":
            self.at += 1
            return "mean"
        return self.number()

    def order(self, figures: Sequence[ProgramFigure]) -> ProgramOrder | None:
        name = self.token()
        if name == "end":
            return None
        count = self.count() if name in ("order_top", "order_bottom") else None
        return ProgramOrder(self.ranked(figures), name in ("order_top", "order_sort_desc"), count)

    def ranked(self, figures: Sequence[ProgramFigure]) -> ProgramFigure | Term:
        if self.peek() == "same_figure":
            self.at += 1
            return figures[0] if figures else ProgramFigure("count")
        return self.figure() if self.peek().startswith("figure_") else self.term()

    def figure(self) -> ProgramFigure:
        token_name = self.token().removeprefix("figure_")
        name: Any = token_name.removesuffix("_if")
        if name == "share":
            return ProgramFigure("share", where=self.condition())
        if name in ("part", "change", "cumulative"):
            return ProgramFigure(name, parts=(self.figure(),))
        if name in ("ratio", "minus"):
            return ProgramFigure(name, parts=(self.figure(), self.figure()))
        term = None if name == "count" else self.term()
        other = self.term() if name == "corr" else None
        share = float(self.number()) if name == "quantile" else None
        where = self.condition() if token_name.endswith("_if") else None
        return ProgramFigure(name, term, where, other, share)

    def column(self) -> str:
        return self.inputs.columns[self.next().place][1].name

    def term(self) -> Term:
        name = self.peek()
        if name.startswith("part_"):
            self.at += 1
            part: Any = name.removeprefix("part_")
            return Term(self.column(), part)
        if name.startswith("term_"):
            self.at += 1
            sign: Any = name.removeprefix("term_")
            first = self.column()
            return Term(first, sign=sign, second=Term(self.column()) if sign in SPANS else self.term())
        return Term(self.column())

    def key(self) -> Term | Condition:
        return self.condition() if self.peek().startswith("test_") else self.term()

    def condition(self) -> Condition:
        name: Any = self.token().removeprefix("test_")
        if name == "not":
            return Denial(self.condition())
        if name == "or":
            tests = [self.condition(), self.condition()]
            while not self.ends():
                tests.append(self.condition())
            return AnyOf(tuple(tests))
        if name in ("weekend", "workday"):
            names = WEEKDAYS[5:] if name == "weekend" else WEEKDAYS[:5]
            return Test("in", Term(self.column(), "weekday"), values=tuple(day.capitalize() for day in names))
        if name == "within":
            term, node = Term(self.column()), self.node()
            return _between(term, node, node)
        if name in ("contains", "starts"):
            term = Term(self.column())
            words = self.inputs.words
            first, last = self.next().place, self.next().place
            return Test(name, term, values=(self.inputs.text[words[first].start : words[last].end],))
        if name in ("last", "this", "previous"):
            term = Term(self.column())
            count = (self.count(),) if name == "last" else ()
            unit: Any = self.token().removeprefix("unit_")
            return Test(name, term, values=count, unit=unit)
        return self.comparison(name)

    def dates(self) -> list[QuestionNode]:
        """The dates up to the end of a list; none where the list has other values."""
        nodes: list[QuestionNode] = []
        for place in range(self.at, len(self.actions)):
            action = self.actions[place]
            if action.kind == "token" and TOKENS[action.place] == "end" and nodes:
                self.at = place + 1
                return nodes
            node = self.inputs.nodes[action.place] if action.kind == "node" else None
            if node is None or node.text is None or node.text.kind != "date":
                return []
            nodes.append(node)
        return []

    def comparison(self, name: Any) -> Condition:
        term = self.term()
        if name in ("missing", "present"):
            return Test(name, term)
        if name == "in":
            if dates := self.dates():
                return AnyOf(tuple(_between(term, node, node) for node in dates))
            values = [self.value(term)]
            while not self.ends():
                values.append(self.value(term))
            return Test("in", term, values=tuple(dict.fromkeys(values)))
        if name == "between":
            nodes = [
                self.inputs.nodes[a.place] for a in self.actions[self.at : self.at + 2] if a.kind == "node"
            ]
            if (
                len(nodes) == 2
                and all(node.text and node.text.kind == "date" for node in nodes)
                and not term.part
            ):
                self.at += 2
                return _between(term, *nodes)
            return Test("between", term, values=(self.value(term), self.value(term)))
        return self.compared(name, term)

    def compared(self, sign: Any, term: Term) -> Condition:
        name = self.peek()
        if name.startswith("stat_"):
            self.at += 1
            statistic: Any = name.removeprefix("stat_")
            share = float(self.number()) if statistic == "quantile" else None
            return Test("compare", term, sign, other=Statistic(statistic, share))
        if name == "other_column":
            self.at += 1
            return Test("compare", term, sign, other=self.term())
        action = self.actions[self.at]
        if action.kind == "node":
            node = self.inputs.nodes[action.place]
            if node.text is not None and node.text.kind == "date":
                self.at += 1
                return _date_bound(term, sign, node)
        return Test("compare", term, sign, (self.value(term),))

    def node(self) -> QuestionNode:
        return self.inputs.nodes[self.next().place]

    def value(self, term: Term) -> Scalar:
        name = self.peek()
        if name in ("true", "false"):
            self.at += 1
            return name == "true"
        action = self.actions[self.at]
        if action.kind == "node":
            node = self.inputs.nodes[action.place]
            if node.text is None and node.value is not None:
                self.at += 1
                return node.value
            if node.text is not None and node.text.kind == "weekday":
                self.at += 1
                return WEEKDAYS[int(node.text.number)].capitalize()
            if node.text is not None and node.text.kind == "date" and node.text.start:
                self.at += 1
                return node.text.start.isoformat()
        return self.number()

    def count(self) -> int:
        """A number of rows, groups or periods. Raises ValueError for half of one, and for none."""
        number = self.number()
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"{number} is no number of things")
        return number

    def number(self) -> int | float:
        action = self.next()
        if action.kind == "node":
            text = self.inputs.nodes[action.place].text
            if text is None:
                raise ValueError("a value that is missing is no number")
            return _plain(text.number)
        name = TOKENS[action.place]
        if name in SCALES:
            return _plain(float(self.number()) * SCALES[name])
        if name == AFTERNOON:
            return _plain(float(self.number()) % 12 + 12)
        return _plain(float(name.removeprefix("number_")))


def _plain(number: float) -> int | float:
    rounded = round(number, 10)
    return int(rounded) if rounded == int(rounded) else rounded


def _between(term: Term, first: QuestionNode, last: QuestionNode) -> Condition:
    start = first.text.start if first.text else None
    end = last.text.end if last.text else None
    return Test("between", term, values=(str(start), str(end)))


def _date_bound(term: Term, sign: Any, node: QuestionNode) -> Condition:
    """A comparison with a span of days as a whole: after May is from the first of June on."""
    text = node.text
    if text is None or text.start is None or text.end is None:
        raise ValueError("a date of the question has a first and a last day")
    if sign == "==":
        return _between(term, node, node)
    if sign == "!=":
        return Denial(_between(term, node, node))
    if sign in (">", "<="):
        following = text.end + timedelta(days=1)
        return Test("compare", term, ">=" if sign == ">" else "<", (following.isoformat(),))
    return Test("compare", term, sign, (text.start.isoformat(),))
