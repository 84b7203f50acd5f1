"""Compilation of a plan to one SELECT in DuckDB's dialect. The same plan gives the same text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from app.errors import InvalidInput
from app.plans import plan as p
from app.plans.aggregates import compile_aggregation, compile_window_aggregate
from app.plans.compile_expression import Typed, common_type, compile_condition, compile_expression, find_column
from app.plans.expressions import ColumnType
from app.plans.functions import SQL_TYPES, call, cast, group
from app.plans.generated_rows import generate_draft
from app.plans.reshaping import correlate, pivot_aggregations, profile, unpivot
from app.plans.schema import TableSchema, fold_names, refuse, resolve, take_name
from app.plans.select_draft import (
    MAX_COLUMN_NODES,
    Clause,
    Draft,
    order_by,
    subquery_draft,
    table_draft,
)

MAX_SQL_CHARACTERS = 20_000
"""Length of a query that the SQL policy admits."""
MIN_COLUMN_CHARACTERS = 7
"""Characters of a column in a SELECT beside its name: of `1 AS "n"`."""
MAX_COLUMNS_READ = 30_000
"""Columns of the tables that a plan reads, with repetition: three of the widest datasets. 200,000 took 4 s."""


class CompiledPlan(NamedTuple):
    """SQL and its columns in order."""

    sql: str
    columns: dict[str, ColumnType]


def compile_plan(plan: p.Plan, tables: Mapping[str, TableSchema]) -> CompiledPlan:
    """Compile a plan over tables by name. Raises InvalidInput whose `place` is a path in the plan."""
    compiler = _Compiler(tables)
    try:
        draft = compiler.plan(plan, "")
        sql = render(compiler.write(draft))
    except RecursionError as error:  # Subqueries nest with steps, and sqlglot writes them by recursion.
        raise refuse(
            "plan", "Its subqueries are nested too deep; use fewer steps.", "plan_too_large"
        ) from error
    if len(sql) > MAX_SQL_CHARACTERS:
        raise _too_long()
    return CompiledPlan(sql, draft.schema)


def _too_long() -> InvalidInput:
    problem = f"Its SQL has more than {MAX_SQL_CHARACTERS:,} characters; split it."
    return refuse("plan", problem, "plan_too_large")


def render(tree: exp.Expr) -> str:
    """Write a tree as DuckDB's SQL."""
    return tree.sql(dialect=DuckDB, normalize_functions=False, comments=False)


@dataclass
class _Compiler:
    """Compilation of one plan; aliases are t0, t1 ... in order of use.

    `characters`: those that the text has at least, of all SELECTs so far. `columns_read`: of all tables so far.
    """

    tables: Mapping[str, TableSchema]
    numbers: "count[int]" = field(default_factory=count)
    characters: int = 0
    columns_read: int = 0

    def alias(self) -> str:
        return f"t{next(self.numbers)}"

    def plan(self, plan: p.Plan, place: str) -> Draft:
        draft = self.source(plan.source, f"{place}source")
        for n, step in enumerate(plan.steps):
            draft = _STEPS[type(step)](self, step, draft, f"{place}steps[{n}]")
            if not draft.columns:
                raise refuse(f"{place}steps[{n}]", "No column is left.")
            # A column that is used twice is written twice, so that large ones would double with each step.
            if any(_is_large(typed.tree) for typed in draft.columns.values()):
                draft = self.wrap(draft)
        return draft

    def write(self, draft: Draft) -> exp.Select:
        """Build the tree of a draft. Raises InvalidInput, before the work, if the text gets too long."""
        self.characters += sum(len(name) + MIN_COLUMN_CHARACTERS for name in draft.columns)
        if self.characters > MAX_SQL_CHARACTERS:
            raise _too_long()
        return draft.select()

    def source(self, source: Any, place: str) -> Draft:
        match source:
            case p.PlanSource():
                return self.plan(source.plan, f"{place}.plan.")
            case p.GenerateSource():
                return generate_draft(source, self.alias(), place)
        name = resolve(source.table, self.tables, "table", f"{place}.table")
        self.columns_read += len(self.tables[name])
        if self.columns_read > MAX_COLUMNS_READ:
            problem = f"The tables that it reads have more than {MAX_COLUMNS_READ:,} columns together."
            raise refuse(place, problem, "plan_too_large")
        return table_draft(name, self.tables[name], self.alias())

    def wrap(self, draft: Draft) -> Draft:
        """Make the draft a subquery. Its order goes along where it reads output columns only."""
        names = {typed.tree: name for name, typed in draft.columns.items()} if draft.order else {}
        moved = [(names.get(key.this), bool(key.args.get("desc"))) for key in draft.order]
        # The order of a subquery is lost outside of it, and within it only a limit needs it.
        if draft.limit is None and all(name is not None for name, _ in moved):
            draft.order = []
        outer = subquery_draft(self.write(draft), draft.schema, self.alias())
        if all(name is not None for name, _ in moved):
            outer.order = [order_by(outer.columns[name].tree, down) for name, down in moved if name is not None]
            outer.clause = Clause.FROM
        return outer

    def before(self, draft: Draft, clause: Clause) -> Draft:
        """Wrap a draft that has the clause, or one that is evaluated later."""
        return self.wrap(draft) if draft.clause >= clause else draft

    def join(self, step: p.JoinStep, draft: Draft, place: str) -> Draft:
        draft = self.before(draft, Clause.GROUP)
        right = self.source(step.source, f"{place}.source")
        # Only a plain table joins as it is: other drafts have clauses of their own.
        if right.clause > Clause.FROM or right.joins or not isinstance(right.source, exp.Table):
            right = self.wrap(right)
        conditions: list[exp.Expr] = []
        dropped = set()
        for n, key in enumerate(step.on):
            left_name, left = find_column(key.left, draft.columns, f"{place}.on[{n}].left")
            right_name, other = find_column(key.right, right.columns, f"{place}.on[{n}].right")
            common_type([left, other], f"{place}.on[{n}]")
            conditions.append(exp.EQ(this=group(left.tree.copy()), expression=other.tree.copy()))
            # Both hold the same value in joined rows, so one of them is shown.
            if left_name.casefold() == right_name.casefold():
                dropped.add(right_name)
        on = conditions[0]
        for condition in conditions[1:]:
            on = exp.And(this=on, expression=condition)
        side = {"left": "LEFT"}.get(step.how)
        kind = {"semi": "SEMI", "anti": "ANTI", "inner": "INNER"}.get(step.how)
        draft.joins.append(exp.Join(this=right.source, side=side, kind=kind, on=on))
        if step.how in ("inner", "left"):
            existing = fold_names(draft.columns)
            folded_names = set(existing)
            for name, typed in right.columns.items():
                if name in dropped:
                    continue
                label = name + step.suffix if name.casefold() in existing else name
                take_name(label, folded_names, f"{place}.suffix")
                draft.columns[label] = typed
        return draft

    def filter(self, step: p.FilterStep, draft: Draft, place: str) -> Draft:
        return self.keep(draft, lambda scope: compile_condition(step.condition, scope, f"{place}.condition"))

    def keep(self, draft: Draft, condition: Callable[[dict[str, Typed]], exp.Expr]) -> Draft:
        draft = self.before(draft, Clause.WINDOW)
        if draft.clause == Clause.GROUP and not draft.keys:
            draft = self.wrap(draft)
        if draft.clause == Clause.GROUP:
            draft.having.append(condition(draft.columns))
        else:
            draft.where.append(condition(draft.columns))
            draft.clause = Clause.WHERE
        return draft

    def derive(self, step: p.DeriveStep, draft: Draft, place: str) -> Draft:
        draft = self.before(draft, Clause.DISTINCT) if draft.distinct else draft
        spelled = {name.casefold(): name for name in draft.columns}
        for n, derived in enumerate(step.columns):
            here = f"{place}.columns[{n}]"
            typed = compile_expression(derived.expression, draft.columns, f"{here}.expression")
            # A replaced column stays where it was, spelled as it was.
            draft.columns[spelled.setdefault(derived.name.casefold(), derived.name)] = typed
            if _is_large(typed.tree):
                draft = self.wrap(draft)
        return draft

    def group(self, step: p.GroupStep, draft: Draft, place: str) -> Draft:
        if not step.keys and not step.aggregations:
            raise refuse(place, "A group needs keys or aggregations.")
        draft = self.before(draft, Clause.GROUP)
        resolved = [find_column(key, draft.columns, f"{place}.keys[{n}]") for n, key in enumerate(step.keys)]
        if any(not key.tree.find(exp.Column) for _, key in resolved):
            draft = self.wrap(draft)  # `GROUP BY 1` would be a position.
        columns: dict[str, Typed] = {}
        folded_names: set[str] = set()
        for n, key in enumerate(step.keys):
            # Looked up again, as a wrapped draft has other trees.
            name, typed = find_column(key, draft.columns, f"{place}.keys[{n}]")
            take_name(name, folded_names, f"{place}.keys[{n}]")
            columns[name] = typed
        keys = [typed.tree for typed in columns.values()]
        for n, aggregation in enumerate(step.aggregations):
            here = f"{place}.aggregations[{n}]"
            take_name(aggregation.name, folded_names, f"{here}.name")
            columns[aggregation.name] = compile_aggregation(aggregation, draft.columns, here)
        draft.columns, draft.keys, draft.order, draft.clause = columns, keys, [], Clause.GROUP
        return draft

    def window(self, step: p.WindowStep, draft: Draft, place: str) -> Draft:
        draft = self.before(draft, Clause.GROUP)
        columns = dict(draft.columns)
        folded_names = fold_names(columns)
        for n, figure in enumerate(step.columns):
            take_name(figure.name, folded_names, f"{place}.columns[{n}].name")
            columns[figure.name] = compile_window_aggregate(figure, draft.columns, f"{place}.columns[{n}]")
        draft.columns, draft.clause = columns, Clause.WINDOW
        return draft if not draft.order else self.wrap(draft)

    def sort(self, step: p.SortStep, draft: Draft, place: str) -> Draft:
        draft = self.before(draft, Clause.DISTINCT) if draft.clause != Clause.ORDER else draft
        resolved = [
            find_column(k.column, draft.columns, f"{place}.keys[{n}].column")[1]
            for n, k in enumerate(step.keys)
        ]
        if any(not typed.tree.find(exp.Column) for typed in resolved):
            draft = self.wrap(draft)  # `ORDER BY 1` would be a position.
        draft.order = [
            order_by(find_column(key.column, draft.columns, place)[1].tree, key.descending) for key in step.keys
        ]
        draft.clause = max(draft.clause, Clause.ORDER)
        return draft

    def select(self, step: p.SelectStep, draft: Draft, place: str) -> Draft:
        draft = self.wrap(draft) if draft.distinct else draft
        columns: dict[str, Typed] = {}
        folded_names: set[str] = set()
        for n, selected in enumerate(step.columns):
            name, typed = find_column(selected.name, draft.columns, f"{place}.columns[{n}].name")
            take_name(selected.rename or name, folded_names, f"{place}.columns[{n}]")
            columns[selected.rename or name] = typed
        draft.columns = columns
        return draft

    def top_k(self, step: p.TopKStep, draft: Draft, place: str) -> Draft:
        present = p.FilterStep.model_validate(
            {
                "kind": "filter",
                "condition": {
                    "kind": "not",
                    "operand": {"kind": "is_null", "operand": {"kind": "column", "name": step.by}},
                },
            }
        )
        find_column(step.by, draft.columns, f"{place}.by")
        draft = self.filter(present, draft, place)
        keys = [p.SortKey(column=step.by, descending=step.descending)]
        if not step.within:
            return self.limit_rows(self.sort(p.SortStep(kind="sort", keys=keys), draft, place), step.k)
        draft = self.before(draft, Clause.GROUP)
        names = list(draft.columns)
        # The remaining columns break ties, as many as the 20 keys of a window leave.
        ties = [p.SortKey(column=name) for name in names if name.casefold() != step.by.casefold()][:19]
        rank = p.WindowColumn(name=_unused(names), function="row_number", within=step.within, order=keys + ties)
        draft = self.wrap(self.window(p.WindowStep(kind="window", columns=[rank]), draft, place))
        rank_tree = draft.columns.pop(rank.name).tree
        return self.keep(draft, lambda _: exp.LTE(this=rank_tree, expression=exp.Literal.number(step.k)))

    def limit(self, step: p.LimitStep, draft: Draft, place: str) -> Draft:
        return self.limit_rows(draft, step.rows)

    def limit_rows(self, draft: Draft, rows: int) -> Draft:
        """Limit rows; ties of an order are broken by the keys of the group, else by all columns."""
        draft = self.before(draft, Clause.LIMIT)
        if draft.order:
            sorted_by = {key.this for key in draft.order}
            ties = draft.keys or [typed.tree for typed in draft.columns.values() if typed.tree.find(exp.Column)]
            draft.order += [order_by(tree) for tree in ties if tree not in sorted_by]
        draft.limit, draft.clause = rows, Clause.LIMIT
        return draft

    def distinct(self, step: p.DistinctStep, draft: Draft, place: str) -> Draft:
        draft = self.before(draft, Clause.DISTINCT) if draft.clause != Clause.ORDER else draft
        # The order goes: of rows that are one now, any might have given their place.
        draft.order, draft.distinct, draft.clause = [], True, Clause.DISTINCT
        return draft

    def union(self, step: p.UnionStep, draft: Draft, place: str) -> Draft:
        other = self.source(step.source, f"{place}.source")
        here = f"{place}.source"
        # By names: UNION takes columns by position, and two sources seldom have the same order.
        resolved = {name: find_column(name, other.columns, here)[0] for name in draft.columns}
        extra = [name for name in other.columns if name not in resolved.values()]
        if extra:
            raise refuse(here, f"The first source has no column {extra[0]}; select the same columns of both.")
        pairs = {name: [draft.columns[name], other.columns[resolved[name]]] for name in resolved}
        types = {name: common_type(pair, here) or "text" for name, pair in pairs.items()}
        left = self.side(draft, {name: name for name in resolved}, types)
        right = self.side(other, resolved, types)
        tree = exp.Union(this=left, expression=right, distinct=step.distinct)
        return subquery_draft(tree, types, self.alias())

    def side(self, draft: Draft, names: Mapping[str, str], types: Mapping[str, ColumnType]) -> exp.Select:
        """One side of a union: columns in the order of `names`, cast to `types`."""
        draft = self.before(draft, Clause.DISTINCT)
        draft.order = []
        draft.columns = {
            name: Typed(cast(draft.columns[own].tree, SQL_TYPES[types[name]]), types[name])
            for name, own in names.items()
        }
        return self.write(draft)

    def pivot(self, step: p.PivotStep, draft: Draft, place: str) -> Draft:
        return self.group(pivot_aggregations(step, place), draft, place)

    def unpivot(self, step: p.UnpivotStep, draft: Draft, place: str) -> Draft:
        return unpivot(step, self.wrap(draft), self.alias(), place)

    def sample(self, step: p.SampleStep, draft: Draft, place: str) -> Draft:
        draft = self.wrap(draft)
        # Not SAMPLE: even with a seed its rows depend on threads. A hash of the cells depends on the row alone.
        draft.order = [
            order_by(
                call("hash", exp.Literal.number(step.seed), *(c.tree.copy() for c in draft.columns.values()))
            )
        ]
        draft.clause = Clause.ORDER
        return self.limit_rows(draft, step.rows)

    def profile(self, step: p.ProfileStep, draft: Draft, place: str) -> Draft:
        inner, build = profile(self.wrap(draft), place)
        return build(self.wrap(inner), self.alias())

    def correlate(self, step: p.CorrelateStep, draft: Draft, place: str) -> Draft:
        inner, build = correlate(step, self.wrap(draft), place)
        return build(self.wrap(inner), self.alias())


def _is_large(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Column):  # as most columns of a wide table are
        return False
    return sum(1 for _ in tree.walk()) > MAX_COLUMN_NODES


def _unused(names: list[str]) -> str:
    existing = {name.casefold() for name in names}
    return next(name for n in count() if (name := f"rank_{n}") not in existing)


_STEPS: dict[type, Callable[[_Compiler, Any, Draft, str], Draft]] = {
    p.JoinStep: _Compiler.join,
    p.FilterStep: _Compiler.filter,
    p.DeriveStep: _Compiler.derive,
    p.GroupStep: _Compiler.group,
    p.WindowStep: _Compiler.window,
    p.SortStep: _Compiler.sort,
    p.SelectStep: _Compiler.select,
    p.TopKStep: _Compiler.top_k,
    p.LimitStep: _Compiler.limit,
    p.DistinctStep: _Compiler.distinct,
    p.UnionStep: _Compiler.union,
    p.PivotStep: _Compiler.pivot,
    p.UnpivotStep: _Compiler.unpivot,
    p.SampleStep: _Compiler.sample,
    p.ProfileStep: _Compiler.profile,
    p.CorrelateStep: _Compiler.correlate,
}
