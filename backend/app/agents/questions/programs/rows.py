"""Plans of programs that show rows, or every value of some columns once."""

from collections.abc import Iterator, Sequence

from app.agents.questions.programs.program import ProgramFigure, ProgramOrder, Statistic, Term, Test
from app.agents.questions.programs.program_reading import ProgramReading
from app.agents.questions.programs.terms import walk_parts
from app.agents.questions.question_reading import NotUnderstood, Value
from app.agents.questions.rows_plan import Figure as PlanFigure
from app.agents.questions.rows_plan import PlanDraft
from app.agents.questions.tables.scope import tables_of
from app.plans import build
from app.plans.plan import Plan

_BOUNDS = ("<", "<=", ">", ">=")


def plan_rows(reading: ProgramReading) -> Plan:
    """Plan the rows that meet the conditions, in order. All with the extreme value count as the first one."""
    program, terms = reading.program, reading.terms
    columns = [terms.listed_value(term) for term in program.columns]
    base = reading.main_table or _only_table(columns)
    bounded = [terms.listed_value(term) for term in _bounded_terms(reading)]
    # Rows of another table that belong to those of the base are not shown: each of the base counts once.
    bounded = [value for value in bounded if base is None or _is_reached(reading, base, value)]
    ranked = _ranked_term(program.order) if program.order else None
    values = [*columns, *bounded, *([terms.listed_value(ranked)] if ranked else [])]
    draft = reading.start(values, base)
    names = [draft.name_of(value) for value in columns]
    if not names:
        names = [column.name for column in reading.scope.stored_columns(draft.source.base)]
    names = list(dict.fromkeys([*names, *map(draft.name_of, bounded)]))
    if ranked is not None and program.order is not None:
        measure = draft.name_of(terms.listed_value(ranked))
        names = list(dict.fromkeys([*names, measure]))
        steps = terms.value(ranked).order
        key = draft.name_of(Value(steps, f"{measure} number", "integer")) if steps else measure
        _order_rows(draft, measure, key, program.order, names[0])
    draft.select(names)
    return draft.plan()


def _only_table(columns: Sequence[Value]) -> str | None:
    tables = tables_of([value.expression for value in columns])
    return tables[0] if len(tables) == 1 else None


def _is_reached(reading: ProgramReading, base: str, value: Value) -> bool:
    return all(reading.scope.reaches(base, table) for table in tables_of([value.expression]))


def _ranked_term(order: ProgramOrder) -> Term:
    if isinstance(order.by, ProgramFigure):
        raise NotUnderstood("Single rows have no figure by which they are ordered.")
    return order.by


def _bounded_terms(reading: ProgramReading) -> Iterator[Term]:
    """Yield the values that conditions compare with a bound, by which a reader judges the rows."""
    for test in walk_parts(reading.program.where):
        if isinstance(test, Test) and test.term.part is None:
            is_bound = test.kind == "between" or (test.kind == "compare" and test.sign in _BOUNDS)
            if is_bound or isinstance(test.other, Statistic):
                yield test.term


def _order_rows(draft: PlanDraft, measure: str, key: str, order: ProgramOrder, first_name: str) -> None:
    """Order rows by `key`, the place of `measure` on its scale or itself, and keep the first ones."""
    if order.count is None:
        draft.steps.append(build.sort((key, order.descending)))
        return
    # A row without a value has no place in the order.
    draft.keep(build.is_present(build.column(measure)))
    if order.count == 1:
        rank = draft.new_name("rank")
        draft.steps.append(build.window(rank, "rank", order=[(key, order.descending)]))
        draft.keep(build.compare("=", build.column(rank), build.literal(1)))
        draft.steps.append(build.sort((first_name, False)))
        return
    draft.steps += [build.sort((key, order.descending)), build.limit(order.count)]


def plan_values(reading: ProgramReading) -> Plan:
    """Plan every value of some columns once, with its number of rows; the commonest come first."""
    program = reading.program
    keys = [reading.terms.key(term) for term in program.columns]
    if not keys:
        raise NotUnderstood("It is not told of which column the values are asked for.")
    draft = reading.start(keys)
    count = PlanFigure("count", label="rows")
    orders = draft.group(keys, [count])
    names = [draft.name_of(key) for key in keys]
    sort_keys = [(count.name, True), *((name, False) for name in orders)]
    if program.order is not None:
        if not isinstance(program.order.by, Term) or program.order.by not in program.columns:
            raise NotUnderstood("Values are ordered by themselves only.")
        place = program.columns.index(program.order.by)
        sort_keys.insert(0, (orders[place], program.order.descending))
    draft.steps.append(build.sort(*sort_keys))
    if orders != names:
        draft.select([*names, count.name])
    if program.order is not None and program.order.count is not None:
        draft.steps.append(build.limit(program.order.count))
    return draft.plan()
