"""Comparisons of columns with the values of a program, in the spelling and type that the columns have."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.ordinal_scales import ordered_values
from app.agents.goals.tables.profiles import Column
from app.agents.questions.conditions.times_of_day import MINUTES_PER_HOUR
from app.agents.questions.matching.value_matching import NO, YES, flag_spellings, flag_values
from app.agents.questions.programs.periods import compare_time, read_span
from app.agents.questions.programs.program import Scalar
from app.agents.questions.question_reading import NotUnderstood, repeated_spellings
from app.agents.questions.tables.scope import Reference, stored_type
from app.plans import build
from app.plans.expressions import Expression

_CLOCK = re.compile(r"(\d{1,2}):([0-5]\d)")


def equals_one_of(reference: Reference, values: Sequence[Scalar]) -> Expression:
    """Tell if a column has one of some values, in any of their stored spellings."""
    match stored_type(reference.column):
        case "datetime":
            return build.either([_compare_date(reference, "=", value) for value in values])
        case "boolean":
            stored: list[Scalar] = [_as_boolean(reference.column, value) for value in values]
            operand = reference.expression
        case "integer" | "number":
            stored, operand = [as_number(reference.column, value) for value in values], reference.expression
        case _:
            operand, stored = _stored_texts(reference, values)
    return _is_one_of(operand, list(dict.fromkeys(stored)))


def _is_one_of(operand: Expression, values: Sequence[Scalar]) -> Expression:
    if len(values) == 1:
        return build.compare("=", operand, build.literal(values[0]))
    return build.is_one_of(operand, values)


def compare_column(reference: Reference, sign: build.ComparisonSign, value: Scalar) -> Expression:
    """Compare a column with a value."""
    kind = stored_type(reference.column)
    if kind == "datetime":
        return _compare_date(reference, sign, value)
    if sign == "=":
        return equals_one_of(reference, [value])
    if sign == "!=":
        equality = equals_one_of(reference, [value])
        is_plain = equality.kind == "compare"
        return equality.model_copy(update={"op": "!="}) if is_plain else build.negate(equality)
    if kind in ("integer", "number"):
        number = build.literal(as_number(reference.column, value))
        return build.compare(sign, reference.expression, number)
    if kind == "boolean":
        raise NotUnderstood(f"`{reference.column.name}` is yes or no, and neither is more than the other.")
    return _compare_text(reference, sign, value)


def _compare_date(reference: Reference, sign: build.ComparisonSign, value: Scalar) -> Expression:
    span = read_span(value)
    if span is None:
        raise NotUnderstood(f"`{reference.column.name}` holds dates, and {value!r} is none.")
    return compare_time(reference.expression, sign, span)


def _compare_text(reference: Reference, sign: build.ComparisonSign, value: Scalar) -> Expression:
    """Compare a text by the scale of its values, as a number, or by its letters."""
    steps = ordered_values(reference.column)
    place = next((n for n, step in enumerate(steps or ()) if _folded(step) == _folded(value)), None)
    if steps is not None and place is not None:
        limits = {"<": (0, place), "<=": (0, place + 1), ">": (place + 1, None), ">=": (place, None)}
        low, high = limits[sign]
        return _none_or_one_of(reference, steps[low:high])
    if not isinstance(value, str):
        return build.compare(sign, build.cast_to("number", reference.expression), build.literal(value))
    return build.compare(sign, reference.expression, build.literal(value))


def _none_or_one_of(reference: Reference, steps: Sequence[str]) -> Expression:
    if not steps:
        raise NotUnderstood(f"`{reference.column.name}` has no value beyond the end of its scale.")
    return _is_one_of(reference.expression, steps)


def as_number(column: Column, value: Scalar) -> int | float:
    """Return a value as a number of a column; yes and no are 1 and 0, and times of day are hours."""
    if isinstance(value, str):
        if clock := _CLOCK.fullmatch(value.strip()):
            return int(clock[1]) + int(clock[2]) / MINUTES_PER_HOUR
        try:
            number = float(value.replace(",", "").removesuffix("%"))
        except ValueError:
            if _folded(value) in (*YES, *NO) and column.has_few_values:
                return int(_folded(value) in YES)
            raise NotUnderstood(f"`{column.name}` holds numbers, and {value!r} is none.") from None
    else:
        number = float(value)
    return int(number) if number == int(number) else number


def _as_boolean(column: Column, value: Scalar) -> bool:
    if _folded(value) in YES:
        return True
    if _folded(value) not in NO:
        raise NotUnderstood(f"`{column.name}` is yes or no, and never {value!r}.")
    return False


def _stored_texts(reference: Reference, values: Sequence[Scalar]) -> tuple[Expression, list[Scalar]]:
    """The operand that holds some values of a text column, and their spellings in it."""
    column, own = reference.column, reference.expression
    stored = {str(value) for value in column.values}
    texts = [text for value in values for text in _spellings(column, value)]
    if not repeated_spellings(column) and all(text in stored for text in texts):
        return own, [*texts]
    # Of a value that the profile does not list, the spelling is not known.
    return build.call("lower", own), [text.lower() for text in texts]


def _spellings(column: Column, value: Scalar) -> list[str]:
    """The stored spellings of a value: `Yes` of a true flag, `Berlin` of `berlin`."""
    text = str(value)
    if isinstance(value, float) and value == int(value):
        text = str(int(value))
    matches = [str(own) for own in column.values if _folded(own) == _folded(text)]
    flags = flag_values(column)
    side = YES if _folded(text) in YES else NO if _folded(text) in NO else ()
    if matches and (flags is None or not side):
        return matches
    if flags is not None and side:
        return [*map(str, flag_spellings(column, flags[side is YES]))]
    if matches := [str(own) for own in column.values if _folded(own) in side]:
        return matches
    if isinstance(value, bool):
        return [word for word in side if not word.endswith(".0")]
    if column.values and len(column.values) >= column.distinct:
        raise NotUnderstood(f"`{column.name}` has no value {text!r}.")
    return [text]


def _folded(value: object) -> str:
    return str(value).strip().casefold()
