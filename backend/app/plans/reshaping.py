"""Steps that turn columns into rows or rows into columns."""

from collections.abc import Callable
from itertools import combinations

from sqlglot import exp

from app.plans import plan as p
from app.plans.compile_expression import NUMBERS, Typed, common_type, find_column
from app.plans.expressions import ColumnExpression, ColumnType, CompareExpression, LiteralExpression
from app.plans.functions import SQL_TYPES, call, cast
from app.plans.generated_rows import range_table
from app.plans.schema import fold_names, refuse, take_name
from app.plans.select_draft import Clause, Draft, column

Build = Callable[[Draft, str], Draft]
"""Turns the wrapped draft of figures into rows; the text is the alias of the table of row numbers."""


def pivot_aggregations(step: p.PivotStep, place: str) -> p.GroupStep:
    """A pivot as a group with one conditional aggregation for each value."""
    aggregations = []
    for value in step.values:
        same = CompareExpression(
            kind="compare",
            op="=",
            left=ColumnExpression(kind="column", name=step.column),
            right=LiteralExpression(kind="literal", value=value),
        )
        name = str(value).lower() if isinstance(value, bool) else str(value)
        if not name:
            raise refuse(f"{place}.values", "An empty text cannot name a column.")
        aggregations.append(p.Aggregation(name=name, function=step.function, column=step.of, where=same))
    return p.GroupStep(kind="group", keys=step.keys, aggregations=aggregations)


def unpivot(step: p.UnpivotStep, draft: Draft, alias: str, place: str) -> Draft:
    """Multiply each row by its columns."""
    resolved = dict(
        find_column(name, draft.columns, f"{place}.columns[{n}]") for n, name in enumerate(step.columns)
    )
    type_ = common_type(list(resolved.values()), f"{place}.columns") or "text"
    columns = {name: typed for name, typed in draft.columns.items() if name not in resolved}
    values = [cast(typed.tree.copy(), SQL_TYPES[type_]) for typed in resolved.values()]
    folded_names = fold_names(columns)
    for label in (step.name, step.value):
        take_name(label, folded_names, place)
        columns[label] = Typed(exp.Null(), "text")
    columns[step.name] = Typed(_pick(alias, [exp.Literal.string(name) for name in resolved]), "text")
    columns[step.value] = Typed(_pick(alias, values), type_)
    return _multiply(draft, columns, len(resolved), alias)


def profile(draft: Draft, place: str) -> tuple[Draft, Build]:
    """Figures of each column in one row, and how they become rows."""
    names = list(draft.columns)
    if len(names) > p.MAX_PROFILED_COLUMNS:
        raise refuse(
            place, f"A profile takes {p.MAX_PROFILED_COLUMNS} columns; select some first.", "plan_too_large"
        )
    types = draft.schema
    # All figures come from one scan in one row; a union of a SELECT for each column would scan for each.
    figures: dict[str, Typed] = {"rows": Typed(call("count", exp.Star()), "integer")}
    for n, typed in enumerate(draft.columns.values()):
        figures[f"p{n}"] = Typed(call("count", typed.tree.copy()), "integer")
        figures[f"d{n}"] = Typed(call("count", exp.Distinct(expressions=[typed.tree.copy()])), "integer")
        figures[f"a{n}"] = Typed(cast(call("min", typed.tree.copy()), "VARCHAR"), "text")
        figures[f"z{n}"] = Typed(cast(call("max", typed.tree.copy()), "VARCHAR"), "text")
    draft.columns, draft.order, draft.clause = figures, [], Clause.GROUP

    def build(outer: Draft, alias: str) -> Draft:
        def of(prefix: str) -> exp.Expr:
            return _pick(alias, [outer.columns[f"{prefix}{n}"].tree.copy() for n in range(len(names))])

        rows = outer.columns["rows"].tree
        columns = {
            "column": Typed(_pick(alias, [exp.Literal.string(name) for name in names]), "text"),
            "type": Typed(_pick(alias, [exp.Literal.string(types[name]) for name in names]), "text"),
            "rows": Typed(rows, "integer"),
            "missing": Typed(exp.Sub(this=rows.copy(), expression=of("p")), "integer"),
            "distinct": Typed(of("d"), "integer"),
            "min": Typed(of("a"), "text"),
            "max": Typed(of("z"), "text"),
        }
        return _multiply(outer, columns, len(names), alias)

    return draft, build


def correlate(step: p.CorrelateStep, draft: Draft, place: str) -> tuple[Draft, Build]:
    """Correlations of all pairs in one row, and how they become rows."""
    resolved: dict[str, Typed] = {}
    folded_names: set[str] = set()
    for n, name in enumerate(step.columns):
        spelled, typed = find_column(name, draft.columns, f"{place}.columns[{n}]")
        if typed.type not in NUMBERS:
            raise refuse(
                f"{place}.columns[{n}]", f"A correlation needs numbers, not {typed.type}.", "type_mismatch"
            )
        take_name(spelled, folded_names, f"{place}.columns[{n}]")
        resolved[spelled] = typed
    # Correlation is symmetric, so each pair comes once.
    pairs = list(combinations(resolved, 2))
    figures: dict[str, Typed] = {}
    for n, (first, second) in enumerate(pairs):
        a, b = (cast(resolved[name].tree.copy(), "DOUBLE") for name in (first, second))
        figures[f"c{n}"] = Typed(call("corr", a, b), "number")
        figures[f"r{n}"] = Typed(call("regr_count", a.copy(), b.copy()), "integer")
    draft.columns, draft.order, draft.clause = figures, [], Clause.GROUP

    def build(outer: Draft, alias: str) -> Draft:
        def of(trees: list[exp.Expr], type_: ColumnType) -> Typed:
            return Typed(_pick(alias, trees), type_)

        columns = {
            "first": of([exp.Literal.string(first) for first, _ in pairs], "text"),
            "second": of([exp.Literal.string(second) for _, second in pairs], "text"),
            "correlation": of([outer.columns[f"c{n}"].tree.copy() for n in range(len(pairs))], "number"),
            "rows": of([outer.columns[f"r{n}"].tree.copy() for n in range(len(pairs))], "integer"),
        }
        return _multiply(outer, columns, len(pairs), alias)

    return draft, build


def _pick(alias: str, values: list[exp.Expr]) -> exp.Expr:
    """The value of the row's number."""
    ifs = [exp.If(this=exp.Literal.number(n), true=value) for n, value in enumerate(values)]
    return exp.Case(this=column(alias, "n"), ifs=ifs)


def _multiply(draft: Draft, columns: dict[str, Typed], rows: int, alias: str) -> Draft:
    draft.joins.append(exp.Join(this=range_table(rows, alias), kind="CROSS"))
    draft.columns = columns
    return draft
