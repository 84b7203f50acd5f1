"""Programs of questions and goals as text: Python expressions, which are parsed and never run.

`mean(fare), by(district), where(year(started) == 2023), top(5, mean(fare))`; `predict(fare), without(tip)`
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.agents.questions.learned.tokens import GOALS
from app.agents.questions.programs.goal_program import GoalProgram
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

PARTS = ("year", "quarter", "month", "weekday", "hour", "yearquarter", "yearmonth", "week", "day", "bins")
SPANS = ("days", "hours", "minutes")
PLAIN_FIGURES = ("distinct", "sum", "mean", "median", "min", "max", "std")
OVER_GROUPS = ("mean", "median", "min", "max", "sum", "std")
UNITS = ("year", "quarter", "month", "week", "day", "hour")
_GOAL_CLAUSES = {"predict": ("without", "where"), "drivers": ("without", "where"), "forecast": ("by", "where")}
_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class BadProgramError(ValueError):
    """A text that is no program of the tables, with the reason."""


def parse_program(text: str, columns: Mapping[str, str]) -> Program | GoalProgram:
    """Read the text of a program. `columns`: types by name. Raises BadProgramError."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise BadProgramError(f"no expression: {error.msg}") from error
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    reader = _Reader(columns)
    return reader.goal(parts) if _name_of(parts[0]) in GOALS else reader.program(parts)


class _Reader:
    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = columns

    def program(self, parts: Sequence[ast.expr]) -> Program:
        clauses: dict[str, ast.Call] = {}
        outputs: list[ast.expr] = []
        for part in parts:
            name = _name_of(part)
            if name in ("by", "where", "having", "top", "bottom", "sort", "sort_desc"):
                key = "order" if name in ("top", "bottom", "sort", "sort_desc") else name
                if key in clauses:
                    raise BadProgramError(f"two clauses `{key}`")
                clauses[key] = part  # type: ignore[assignment]
            elif clauses:
                raise BadProgramError("what is shown comes first, then by, where, having and the order")
            else:
                outputs.append(part)
        if not outputs:
            raise BadProgramError("nothing is shown")
        keys = tuple(self.key(a) for a in clauses["by"].args) if "by" in clauses else ()
        where = tuple(self.condition(a) for a in clauses["where"].args) if "where" in clauses else ()
        having = tuple(self.bound(a) for a in clauses["having"].args) if "having" in clauses else ()
        order = self.order(clauses["order"]) if "order" in clauses else None
        return self.output_program(outputs, keys, where, having, order)

    def goal(self, parts: Sequence[ast.expr]) -> GoalProgram:
        """Read the program of a goal: `predict(TARGET), without(COLUMNS), where(CONDITIONS)`."""
        aim: Any = _name_of(parts[0])
        first, clauses = _arguments(parts[0]), {_name_of(part): _arguments(part) for part in parts[1:]}
        allowed = _GOAL_CLAUSES.get(aim, ())
        if [name for name in allowed if name in clauses] != [_name_of(part) for part in parts[1:]]:
            raise BadProgramError(f"`{aim}` has no other clauses than {allowed}, each once and in this order")
        if len(first) != bool(allowed):
            raise BadProgramError(f"`{aim}` takes {int(bool(allowed))} arguments")
        excluded = tuple(self.term(node) for node in clauses.get("without", ()))
        keys = tuple(self.key(node) for node in clauses.get("by", ()))
        where = tuple(self.condition(node) for node in clauses.get("where", ()))
        return GoalProgram(aim, self.target(first[0]) if first else None, excluded, keys, where)

    def target(self, node: ast.expr) -> Term | Condition | ProgramFigure:
        return self.figure(node) if _name_of(node) == "count" else self.key(node)

    def output_program(
        self,
        outputs: Sequence[ast.expr],
        keys: tuple[Term | Condition, ...],
        where: tuple[Condition, ...],
        having: tuple[GroupBound, ...],
        order: ProgramOrder | None,
    ) -> Program:
        first = outputs[0]
        name = _name_of(first)
        alone: dict[str, Callable[[], Program]] = {
            "none": lambda: Program("none"),
            "rows": lambda: Program(
                "rows", columns=tuple(self.term(a) for a in _arguments(first)), where=where, order=order
            ),
            "values": lambda: Program(
                "values", columns=tuple(self.term(a) for a in _arguments(first)), where=where, order=order
            ),
            "groups": lambda: Program("groups", keys=keys, where=where, having=having, order=order),
            "count_groups": lambda: Program("count_groups", keys=keys, where=where, having=having),
            "over": lambda: self.over(_arguments(first), keys, where, having),
        }
        if name in alone:
            if len(outputs) > 1:
                raise BadProgramError(f"`{name}` is shown alone")
            program = alone[name]()
            if name in ("groups", "count_groups", "over") and not keys:
                raise BadProgramError(f"`{name}` needs by(...)")
            if name in ("rows", "values") and (keys or having):
                raise BadProgramError(f"`{name}` has no groups")
            return program
        figures = tuple(self.figure(part) for part in outputs)
        if having and not keys:
            raise BadProgramError("having(...) needs by(...)")
        if order and not keys:
            raise BadProgramError("figures of all rows have no order; use rows(...) or by(...)")
        return Program("figures", figures, keys=keys, where=where, having=having, order=order)

    def over(
        self,
        arguments: Sequence[ast.expr],
        keys: tuple[Term | Condition, ...],
        where: tuple[Condition, ...],
        having: tuple[GroupBound, ...],
    ) -> Program:
        if len(arguments) != 2 or not isinstance(arguments[0], ast.Name) or arguments[0].id not in OVER_GROUPS:
            raise BadProgramError(f"over(FUNCTION, FIGURE), with a function of {', '.join(OVER_GROUPS)}")
        function = arguments[0].id
        return Program(
            "over",
            (self.figure(arguments[1]),),
            over=function,  # type: ignore[arg-type]
            keys=keys,
            where=where,
            having=having,
        )

    def order(self, call: ast.Call) -> ProgramOrder:
        name, arguments = _name_of(call), call.args
        if name in ("sort", "sort_desc"):
            if len(arguments) != 1:
                raise BadProgramError(f"`{name}` takes one argument")
            return ProgramOrder(self.figure_or_term(arguments[0]), name == "sort_desc")
        if len(arguments) != 2:
            raise BadProgramError(f"`{name}` takes a number and what is ranked by")
        count = self.literal(arguments[0])
        if not isinstance(count, int) or count < 1:
            raise BadProgramError(f"`{name}` needs a whole number first")
        return ProgramOrder(self.figure_or_term(arguments[1]), name == "top", count)

    def figure_or_term(self, node: ast.expr) -> ProgramFigure | Term:
        try:
            return self.figure(node)
        except BadProgramError as error:
            try:
                return self.term(node)
            except BadProgramError:
                raise error from None

    def figure(self, node: ast.expr) -> ProgramFigure:
        if isinstance(node, ast.BinOp) and type(node.op) in (ast.Div, ast.Sub):
            name = "ratio" if isinstance(node.op, ast.Div) else "minus"
            return ProgramFigure(name, parts=(self.figure(node.left), self.figure(node.right)))  # type: ignore[arg-type]
        name, arguments = _name_of(node), _arguments(node)
        counts = {"count": (0, 1), "share": (1,), "part": (1,), "change": (1,), "cumulative": (1,)}
        counts |= {"quantile": (2,), "corr": (2,), **dict.fromkeys(PLAIN_FIGURES, (1, 2))}
        if name not in counts:
            raise BadProgramError(f"no figure: {ast.unparse(node)}")
        if len(arguments) not in counts[name]:
            raise BadProgramError(f"`{name}` takes {' or '.join(map(str, counts[name]))} arguments")
        return self.called_figure(name, arguments)

    def called_figure(self, name: str, arguments: Sequence[ast.expr]) -> ProgramFigure:
        match name:
            case "count" | "share":
                return ProgramFigure(name, where=self.condition(arguments[0]) if arguments else None)
            case "part" | "change" | "cumulative":
                return ProgramFigure(name, parts=(self.figure(arguments[0]),))
            case "corr":
                return ProgramFigure("corr", self.term(arguments[0]), other=self.term(arguments[1]))
            case "quantile":
                share = self.literal(arguments[1])
                if not isinstance(share, float) or not 0 < share < 1:
                    raise BadProgramError("quantile(COLUMN, 0.9), a share below 1")
                return ProgramFigure("quantile", self.term(arguments[0]), share=share)
            case _:
                where = self.condition(arguments[1]) if len(arguments) == 2 else None
                return ProgramFigure(name, self.term(arguments[0]), where)  # type: ignore[arg-type]

    def bound(self, node: ast.expr) -> GroupBound:
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise BadProgramError("having(FIGURE > NUMBER)")
        right = node.comparators[0]
        value = "mean" if isinstance(right, ast.Name) and right.id == "mean" else self.literal(right)
        if value != "mean" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise BadProgramError("having compares a figure with a number, or with mean")
        return GroupBound(self.figure(node.left), _SIGNS[type(node.ops[0])], value)  # type: ignore[arg-type]

    def key(self, node: ast.expr) -> Term | Condition:
        if isinstance(node, ast.Compare) or _name_of(node) in _TESTS:
            return self.condition(node)
        return self.term(node)

    def condition(self, node: ast.expr) -> Condition:
        name, arguments = _name_of(node), _arguments(node)
        if name == "any_of":
            return AnyOf(tuple(self.condition(a) for a in arguments))
        if name == "not_":
            return Denial(self.condition(arguments[0]))
        if name in ("missing", "present"):
            return Test(name, self.term(arguments[0]))  # type: ignore[arg-type]
        if name == "between":
            if len(arguments) != 3:
                raise BadProgramError("between(COLUMN, LOW, HIGH)")
            low, high = self.literal(arguments[1]), self.literal(arguments[2])
            return Test("between", self.term(arguments[0]), values=(low, high))
        if name in ("contains", "starts"):
            return Test(name, self.term(arguments[0]), values=(self.literal(arguments[1]),))  # type: ignore[arg-type]
        if name in ("last", "this", "previous"):
            unit = self.literal(arguments[-1])
            if unit not in UNITS or len(arguments) != (3 if name == "last" else 2):
                raise BadProgramError("last(DATE, 30, 'day'), this(DATE, 'month'), previous(DATE, 'month')")
            values = (self.literal(arguments[1]),) if name == "last" else ()
            return Test(name, self.term(arguments[0]), values=values, unit=unit)  # type: ignore[arg-type]
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self.comparison(node)
        raise BadProgramError(f"no condition: {ast.unparse(node)}")

    def comparison(self, node: ast.Compare) -> Condition:
        term, right = self.term(node.left), node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            if not isinstance(right, ast.Tuple | ast.List):
                raise BadProgramError("COLUMN in ('a', 'b')")
            test = Test("in", term, values=tuple(self.literal(v) for v in right.elts))
            return Denial(test) if isinstance(node.ops[0], ast.NotIn) else test
        sign = _SIGNS.get(type(node.ops[0]))
        if sign is None:
            raise BadProgramError(f"no condition: {ast.unparse(node)}")
        if _name_of(right) in ("mean", "median", "quantile"):
            share = self.literal(_arguments(right)[1]) if _name_of(right) == "quantile" else None
            return Test("compare", term, sign, other=Statistic(_name_of(right), share))  # type: ignore[arg-type]
        if isinstance(right, ast.Constant | ast.UnaryOp):
            return Test("compare", term, sign, (self.literal(right),))  # type: ignore[arg-type]
        return Test("compare", term, sign, other=self.term(right))  # type: ignore[arg-type]

    def term(self, node: ast.expr) -> Term:
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return self.joined(node)
        if isinstance(node, ast.Name):
            return Term(self.resolve(node.id))
        name, arguments = _name_of(node), _arguments(node)
        if name == "col" and len(arguments) == 1:
            return Term(self.resolve(str(self.literal(arguments[0]))))
        if name in PARTS and len(arguments) == 1:
            inner = self.term(arguments[0])
            if inner.sign or inner.part:
                raise BadProgramError(f"{name}(...) of a column alone")
            if name != "bins" and self.columns[inner.column] not in ("date", "datetime", "time", "text"):
                raise BadProgramError(f"{name}({inner.column}): the column is no date")
            return Term(inner.column, name)  # type: ignore[arg-type]
        if name in SPANS and len(arguments) == 2:
            first, second = self.term(arguments[0]), self.term(arguments[1])
            return Term(first.column, sign=name, second=second)  # type: ignore[arg-type]
        raise BadProgramError(f"no column or value: {ast.unparse(node)}")

    def joined(self, node: ast.BinOp) -> Term:
        first, second = self.term(node.left), self.term(node.right)
        if first.sign or first.part or second.part:
            raise BadProgramError("at most `a * (b - c)`: the first of two is a column")
        return Term(first.column, sign=_ARITHMETIC[type(node.op)], second=second)  # type: ignore[arg-type]

    def resolve(self, name: str) -> str:
        if name not in self.columns:
            raise BadProgramError(f"no column `{name}`")
        return name

    def literal(self, node: ast.expr) -> Scalar:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            raise BadProgramError(f"no value: {ast.unparse(node)}") from None
        if not isinstance(value, str | int | float | bool):
            raise BadProgramError(f"no value: {ast.unparse(node)}")
        return value


_TESTS = (
    "any_of", "not_", "missing", "present", "between", "contains", "starts", "last", "this", "previous"
)  # fmt: skip


def _name_of(node: ast.expr) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _arguments(node: ast.expr) -> list[ast.expr]:
    return node.args if isinstance(node, ast.Call) else []
