"""A SELECT under construction: clauses are filled in their order, and wrapped when one comes too late."""

from dataclasses import dataclass, field
from enum import IntEnum

from sqlglot import exp

from app.plans.compile_expression import Typed
from app.plans.expressions import ColumnType
from app.plans.schema import TableSchema

MAX_COLUMN_NODES = 200
"""Nodes of a column's tree before it is computed in a subquery: a column used twice would double it."""


class Clause(IntEnum):
    """The last clause that a draft has, in SQL's order of evaluation."""

    FROM = 0
    WHERE = 1
    GROUP = 2
    WINDOW = 3
    DISTINCT = 4
    ORDER = 5
    LIMIT = 6


@dataclass
class Draft:
    """`columns`: the output. `keys`: those of GROUP BY, which break ties."""

    source: exp.Expr
    columns: dict[str, Typed]
    joins: list[exp.Join] = field(default_factory=list)
    where: list[exp.Expr] = field(default_factory=list)
    keys: list[exp.Expr] = field(default_factory=list)
    having: list[exp.Expr] = field(default_factory=list)
    order: list[exp.Ordered] = field(default_factory=list)
    limit: int | None = None
    distinct: bool = False
    clause: Clause = Clause.FROM

    @property
    def schema(self) -> dict[str, ColumnType]:
        """Output columns; a column of nulls only counts as text."""
        return {name: column.type or "text" for name, column in self.columns.items()}

    def select(self) -> exp.Select:
        """Build the tree."""
        tree = exp.Select(
            # Copies: a tree of sqlglot knows its parent, so that one node cannot stand in two places.
            expressions=[
                exp.Alias(this=column.tree.copy(), alias=identifier(name))
                for name, column in self.columns.items()
            ]
        )
        tree.set("from_", exp.From(this=self.source))
        tree.set("joins", self.joins)
        if self.distinct:
            tree.set("distinct", exp.Distinct())
        if self.where:
            tree.set("where", exp.Where(this=_all(self.where)))
        if self.keys:
            tree.set("group", exp.Group(expressions=[key.copy() for key in self.keys]))
        if self.having:
            tree.set("having", exp.Having(this=_all(self.having)))
        if self.order:
            tree.set("order", exp.Order(expressions=self.order))
        if self.limit is not None:
            tree.set("limit", exp.Limit(expression=exp.Literal.number(self.limit)))
        return tree


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def column(alias: str, name: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=exp.Identifier(this=alias, quoted=False))


def table_draft(name: str, schema: TableSchema, alias: str) -> Draft:
    """Read a table."""
    source = exp.Table(this=identifier(name), alias=exp.TableAlias(this=exp.to_identifier(alias)))
    return Draft(source, {field: Typed(column(alias, field), type_) for field, type_ in schema.items()})


def subquery_draft(tree: exp.Query, schema: TableSchema, alias: str) -> Draft:
    """Read the rows of a query."""
    source = exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier(alias)))
    return Draft(source, {field: Typed(column(alias, field), type_) for field, type_ in schema.items()})


def order_by(tree: exp.Expr, descending: bool = False) -> exp.Ordered:
    """Sort key with nulls last, which is the default of DuckDB in both directions."""
    return exp.Ordered(this=tree.copy(), desc=descending, nulls_first=False)


def _all(conditions: list[exp.Expr]) -> exp.Expr:
    # Trees built by hand carry no precedence: an `or` among the conditions needs its parentheses.
    tree = conditions[0] if len(conditions) == 1 else exp.Paren(this=conditions[0])
    for condition in conditions[1:]:
        tree = exp.And(this=tree, expression=exp.Paren(this=condition))
    return tree
