"""Programs that come to one answer although they are written otherwise, and programs that ask for nothing."""

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass, replace

from app.agents.questions.programs.program import Program, ProgramFigure, Term, Test

_WITHOUT_NEWS = frozenset({"-", "/", "days", "hours", "minutes", "+"})
"""Signs by which a column and itself come to what the column says already, or to nothing."""


def simplest(program: Program, unique: Collection[str] = ()) -> Program:
    """Return the program in the form that all programs of its answer share. It is compared, and not run.

    `unique`: columns of which every row has another value.
    """
    figures = tuple(_simplest_figure(figure, unique) for figure in program.figures)
    order = program.order
    if order is not None and isinstance(order.by, ProgramFigure):
        order = replace(order, by=_simplest_figure(order.by, unique))
    count_figure = figures[0] if len(figures) == 1 else None
    if count_figure is None or count_figure.name != "count" or count_figure.where is None:
        return replace(program, figures=figures, order=order)
    # The rows that are counted, and the rows that are left: groups without any do not tell them apart.
    alone = replace(count_figure, where=None)
    if order is not None and order.by == count_figure:
        order = replace(order, by=alone)
    return replace(program, figures=(alone,), where=(*program.where, count_figure.where), order=order)


def _simplest_figure(figure: ProgramFigure, unique: Collection[str]) -> ProgramFigure:
    term = figure.term
    if figure.name == "distinct" and term is not None and _is_plain(term) and term.column in unique:
        return ProgramFigure("count", where=figure.where)
    if figure.name == "minus":
        first, second = figure.parts
        if first.name == second.name == "sum" and first.where == second.where and _are_plain(first, second):
            # The sum of differences is the difference of sums.
            difference = replace(first.term, sign="-", second=second.term) if first.term else None
            return replace(first, term=difference)
    return figure


def _is_plain(term: Term) -> bool:
    return term.part is None and term.second is None


def _are_plain(*figures: ProgramFigure) -> bool:
    return all(figure.term is not None and _is_plain(figure.term) for figure in figures)


MAX_RANKED = 1_000
"""Rows or groups that are asked for by their number: a larger one is rather a code or an amount."""


def asks_nothing(program: Program) -> bool:
    """Tell if nobody asks for a program: the days from a date to itself, or the highest 20,095 rows."""
    if program.order is not None and (program.order.count or 0) > MAX_RANKED:
        return True
    return any(_is_void(part) for part in _parts(program))


def _is_void(part: object) -> bool:
    match part:
        case Term(sign=sign, second=Term() as second):
            return sign in _WITHOUT_NEWS and replace(part, sign=None, second=None) == second
        case ProgramFigure(name="corr", term=term, other=other):
            return term == other
        case ProgramFigure(name="ratio" | "minus", parts=(first, second)):
            return first == second
        case Test(kind="compare", term=term, other=Term() as other):
            return term == other
    return False


def _parts(part: object) -> Iterator[object]:
    """Yield a program and all of its parts."""
    yield part
    if is_dataclass(part):
        for field in fields(part):
            yield from _parts(getattr(part, field.name))
    elif isinstance(part, tuple):
        for inner in part:
            yield from _parts(inner)
