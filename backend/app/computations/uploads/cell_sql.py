"""SQL that parses text cells, made from the tables of `modeling.type_inference`."""

from collections.abc import Collection, Mapping

from app.computations.uploads import sql
from app.computations.uploads.column_types import DATE_RULES
from app.modeling.type_inference.number_spellings import BODY_END, NUMBER_PATTERN, NumberFormat
from app.modeling.type_inference.vocabulary import MISSING_WORDS, OTHER_MARKS

_PARTS = ("open", "sign", "before", "inner", "body", "exponent", "late", "after", "close", "tail", "trail")
"""Groups of NUMBER_PATTERN, in their order."""
_OTHER_MARKS, _ASCII_MARKS = "".join(OTHER_MARKS), "".join(OTHER_MARKS.values())


def present_cell(cell: str, words: Collection[str] = MISSING_WORDS) -> str:
    """SQL of a cell of numbers, dates or booleans, NULL if it is one of `words` (in lower case)."""
    missing = ", ".join(sql.text(word) for word in sorted(words))
    # Most cells begin with a digit: the first test spares them the comparison with every word.
    return (
        f"(CASE WHEN ascii({cell}) BETWEEN 48 AND 57 THEN {cell}"
        f" WHEN lower(trim({cell})) IN ({missing}) THEN NULL ELSE {cell} END)"
    )


def date_cell(cell: str) -> str:
    """SQL of a timestamp in UTC from text in any spelling of DATE_RULES, NULL for another text."""
    cases = " ".join(
        f"WHEN regexp_full_match({cell}, {sql.text(rule.pattern)}) THEN {rule.attempt.replace('{c}', cell)}"
        for rule in DATE_RULES
    )
    return f"(CASE {cases} END)"


def number_cell(cell: str, *number_formats: NumberFormat) -> str:
    """SQL of a number from text, as `numbers.parse_numbers` parses it, by the first format that fits."""
    numbers = ", ".join(_number("p", number_format) for number_format in number_formats)
    # The lambda binds the parts once: they are named a dozen times.
    return f"list_transform([{_parts(cell)}], lambda p: coalesce({numbers}, NULL))[1]"


def fits_format(cell: str, number_format: NumberFormat) -> str:
    """SQL that is true for text whose digits and separators fit a format, whatever its unit."""
    body = f"rtrim(struct_extract({_parts(cell)}, 'body'), {sql.text(BODY_END)})"
    return f"coalesce({_is_body(body, number_format)}, false)"


def _parts(cell: str) -> str:
    """SQL of the groups of NUMBER_PATTERN; empty texts for a cell that is no number."""
    # As in `distinct_values.trim_texts`.
    plain = sql.trim(f"translate({cell}, {sql.text(_OTHER_MARKS)}, {sql.text(_ASCII_MARKS)})")
    names = ", ".join(sql.text(name) for name in _PARTS)
    return f"regexp_extract({plain}, {sql.text(NUMBER_PATTERN)}, [{names}])"


def _is_body(body: str, number_format: NumberFormat) -> str:
    return f"regexp_full_match({body}, {sql.text(number_format.unsigned_pattern)})"


def _number(parts: str, number_format: NumberFormat) -> str:
    body = f"rtrim({parts}.body, {sql.text(BODY_END)})"
    digits = f"replace({body}, {sql.text(number_format.group)}, '')" if number_format.group else body
    literal = (
        f"TRY_CAST(replace({digits}, {sql.text(number_format.decimal)}, '.') || {parts}.exponent AS DOUBLE)"
    )
    is_open = f"({parts}.open = '(' OR {parts}.inner = '(')"
    signs = " OR ".join(f"{parts}.{name} LIKE '-%'" for name in ("sign", "inner", "late", "trail"))
    is_negative = f"({is_open} OR {signs})"
    before = _factor(f"{parts}.before", number_format.before)
    after = " * ".join(_factor(f"{parts}.{name}", number_format.after) for name in ("after", "tail"))
    number = f"{literal} * {before} * {after} * CASE WHEN {is_negative} THEN -1 ELSE 1 END"
    is_closed = f"{is_open} = ({parts}.close = ')')"
    return f"CASE WHEN {_is_body(body, number_format)} AND {is_closed} AND isfinite({number}) THEN {number} END"


def _factor(affix: str, factors: Mapping[str, float] | None) -> str:
    """SQL of the factor of a unit, NULL for an unknown one."""
    if factors is None:
        return "1.0"
    cases = "".join(f" WHEN {sql.text(unit)} THEN {factor!r}" for unit, factor in factors.items())
    return f"CASE lower(trim({affix})) WHEN '' THEN 1.0{cases} END"
