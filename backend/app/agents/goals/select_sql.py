"""SELECT statements that produce the plan's table.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from pydantic import BaseModel


class Cut(BaseModel):
    """A threshold that turns a number into yes or no: above (or below) `value`."""

    above: bool
    value: float


def quote_identifier(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def cut_name(target: str, cut: Cut) -> str:
    return f"{target}_{'above' if cut.above else 'below'}_{cut.value:g}"


def select_with_cut(source: str, target: str, cut: Cut) -> str:
    """Return a SELECT over the source with the target replaced by yes or no, for above or below the value."""
    sign = ">" if cut.above else "<"
    column = quote_identifier(target)
    expression = f"CASE WHEN {column} {sign} {cut.value:g} THEN 'yes' ELSE 'no' END"
    return (
        f"SELECT * EXCLUDE ({column}), {expression} AS {quote_identifier(cut_name(target, cut))} "
        f"FROM ({source}) AS whole WHERE {column} IS NOT NULL"
    )


def select_all(table: str) -> str:
    return f"SELECT * FROM {quote_identifier(table)}"
