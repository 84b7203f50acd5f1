"""SELECTs that make one table of what the plan names.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from pydantic import BaseModel


class Cut(BaseModel):
    """A number turned into yes or no: is the target above (or below) this value?"""

    above: bool
    value: float


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def cut_name(target: str, cut: Cut) -> str:
    return f"{target}_{'above' if cut.above else 'below'}_{cut.value:g}"


def with_cut(source: str, target: str, cut: Cut) -> str:
    """The source with the target replaced by a yes or no: is it above (below) the value?"""
    sign = ">" if cut.above else "<"
    made = f"CASE WHEN {quoted(target)} {sign} {cut.value:g} THEN 'yes' ELSE 'no' END"
    return (
        f"SELECT * EXCLUDE ({quoted(target)}), {made} AS {quoted(cut_name(target, cut))} "
        f"FROM ({source}) AS whole WHERE {quoted(target)} IS NOT NULL"
    )


def whole(table: str) -> str:
    return f"SELECT * FROM {quoted(table)}"
