"""Products that two tables imply together: the price of one piece in one, the number of pieces in the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.tables.derived_columns import PRICES, QUANTITIES, REVENUES, DerivedColumns
from app.agents.questions.tables.scope import QuestionScope, Reference, TableLink
from app.plans import build
from app.plans.expressions import Expression


def derive_joined_products(
    tables: Sequence[TableProfile], derived: DerivedColumns
) -> tuple[list[TableProfile], DerivedColumns]:
    """Add the revenue of rows whose price stands in the table that they belong to, where no table has it."""
    if len(tables) < 2 or any(_is_revenue(column) for table in tables for column in table.columns):
        return [*tables], derived
    scope = QuestionScope(tuple(tables), frozenset(), derived)
    added: dict[str, tuple[Column, Expression]] = {}
    for link in scope.links:
        for column, expression in _products(link, scope):
            added.setdefault(link.many, (column, expression))
    profiles = [
        replace(table, columns=(*table.columns, added[table.name][0])) if table.name in added else table
        for table in tables
    ]
    return profiles, derived | {(name, c.name): expression for name, (c, expression) in added.items()}


def _products(link: TableLink, scope: QuestionScope) -> Iterator[tuple[Column, Expression]]:
    own, others = scope.table(link.many), scope.table(link.single)
    quantities = [c for c in own.columns if c.type == "integer" and QUANTITIES & _words(c)]
    own_prices = [c for c in own.columns if _is_price(c)]
    prices = [c for c in others.columns if _is_price(c)]
    # A price of the line itself is the one that was paid; that of the catalogue may have changed since.
    if len(quantities) != 1 or len(prices) != 1 or own_prices:
        return
    price = Reference(link.single, prices[0])
    product = build.arithmetic("*", price.expression, Reference(link.many, quantities[0]).expression)
    missing = max(prices[0].missing, quantities[0].missing, 0.001)
    yield Column("revenue", "number", "numeric", distinct=own.rows, missing=missing), product


def _words(column: Column) -> set[str]:
    return {*name_parts(column.name), *words(column.name)}


def _is_price(column: Column) -> bool:
    return column.is_number and not column.is_stored_as_text and bool(PRICES & _words(column))


def _is_revenue(column: Column) -> bool:
    return column.is_number and bool(REVENUES & _words(column))
