"""Marks of a query plan: the figures, comparisons and orders that it has, by which words are accounted for."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.plans.plan import Plan

_MARKED_KINDS = frozenset(
    {"is_null", "not", "between", "case", "in", "profile", "correlate", "pivot", "top_k", "limit", "sort"}
    | {"distinct", "date_part", "date_trunc", "sample", "unpivot"}
)
"""Kinds of steps and expressions that are marks of their own."""
_DENYING_TEXTS = frozenset({"no", "n", "false", "none", "never", "not", "0"})
"""Stored values that say that something is not so."""


def plan_marks(plan: Plan) -> frozenset[str]:
    """Return the marks of a plan: functions by name, operators, `keys` of groups, `anti` joins, `no` values."""
    return frozenset(_marks_of(plan.model_dump()))


def _marks_of(part: Any) -> Iterator[str]:
    if isinstance(part, list | tuple):
        for value in part:
            yield from _marks_of(value)
    if not isinstance(part, Mapping):
        return
    yield from _own_marks(part)
    for value in part.values():
        yield from _marks_of(value)


def _own_marks(part: Mapping[str, Any]) -> Iterator[str]:
    kind = part.get("kind")
    if kind in _MARKED_KINDS:
        yield str(kind)
    if "function" in part:
        yield str(part["function"])
    if "op" in part and not _converts_unit(part):
        yield str(part["op"])
    if kind == "group" and part.get("keys"):
        yield "keys"
    if part.get("within"):
        yield "keys"
    if kind == "join" and part.get("how") == "anti":
        yield "anti"
    if kind == "literal" and _denies(part.get("value")):
        yield "no"
    if kind == "in" and any(map(_denies, part.get("values", ()))):
        yield "no"


def _converts_unit(part: Mapping[str, Any]) -> bool:
    """Tell if an expression changes the unit of a number, which makes no ratio: seconds to days."""
    right = part.get("right")
    is_factor = isinstance(right, Mapping) and right.get("kind") == "literal"
    return part.get("op") in ("/", "*") and is_factor


def _denies(value: object) -> bool:
    return value is False or value == 0 or (isinstance(value, str) and value.casefold() in _DENYING_TEXTS)
