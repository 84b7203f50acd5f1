"""Plain types of text columns, and the SQL that parses a column as its type.

A type rule accepts one spelling of one type. A column takes the first rule that accepts all its values; else it
stays text, with a note where most values fit. The spellings and the words for missing values are those of
`modeling.type_inference`, which parses afterwards what stays text here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from app.modeling.type_inference.conventions import Conventions
from app.modeling.type_inference.date_spellings import COMPACT_TIME_FORMATS, OFFSET_PATTERN, TIME_FORMATS
from app.modeling.type_inference.identifiers import is_identifier
from app.modeling.type_inference.number_spellings import (
    MAX_WHOLE_DIGITS,
    SIGN,
    grouped_number_pattern,
    plain_number_pattern,
)
from app.modeling.type_inference.vocabulary import NULL_TOKENS, is_missing_word

_HOUR = r"(?:[01]?\d|2[0-3])"
_TIME = rf"(?:[ T]{_HOUR}:[0-5]\d(?::[0-5]\d(?:\.\d{{1,9}})?)?)"
_SPACED_TIME = rf"(?: {_HOUR}:[0-5]\d(?::[0-5]\d(?:\.\d{{1,6}})?)?)"
"""Of `strptime`, which reads microseconds at most."""
_OFFSET = rf"(?:Z|{OFFSET_PATTERN})"

_IN_UTC = re.compile(r"(?:Z|[+-]00(?::?00)?)\s*+\Z")
MAX_EXAMPLE_CHARS = 40
"""Characters of a cell that a note shows."""


# Equal only to itself: rules are compared for every cell of the sample.
@dataclass(frozen=True, eq=False)
class TypeRule:
    """A plain `type`, the `pattern` of a value, SQL for `{c}`; `attempt` gives NULL where `sql` fails.

    `sql` fails rather than change a value: DuckDB's own casts read 1.5 as 2, 0x10 as 16 and 007 as 7.
    """

    name: str
    type: str
    pattern: str
    sql: str
    attempt: str

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        # As DuckDB reads the pattern: digits and spaces of other scripts are no digits and spaces.
        return re.compile(self.pattern, re.ASCII)

    def accepts(self, value: str) -> bool:
        return self._compiled.fullmatch(value) is not None


def _checked(name: str, type_: str, pattern: str, sql_type: str, check: str, source: str = "{c}") -> TypeRule:
    """Cast with a check of the result; where it fails, an impossible cast raises the error."""
    cast = f"CAST({source} AS {sql_type})"
    checked = f"CASE WHEN {check.replace('{cast}', cast)} THEN {cast} ELSE CAST('!' || {{c}} AS {sql_type}) END"
    return TypeRule(name, type_, pattern, checked, f"TRY_CAST({source} AS {sql_type})")


def _cast(name: str, type_: str, pattern: str, sql_type: str) -> TypeRule:
    return TypeRule(name, type_, pattern, f"CAST({{c}} AS {sql_type})", f"TRY_CAST({{c}} AS {sql_type})")


def _formatted(name: str, pattern: str, *formats: str) -> TypeRule:
    """Dates by formats of `strptime`."""
    pattern = rf"\s*{pattern}\s*"
    formats_sql = "[" + ", ".join(f"'{format_}'" for format_ in formats) + "]"
    return TypeRule(
        name,
        "datetime",
        pattern,
        f"strptime(trim({{c}}), {formats_sql})",
        f"try_strptime(trim({{c}}), {formats_sql})",
    )


def _with_times(date_format: str) -> tuple[str, ...]:
    return tuple(date_format + time_format for time_format in TIME_FORMATS)


def _order_rules(mark: str, regex: str) -> tuple[TypeRule, TypeRule]:
    """The rules of both orders of day and month: day first, month first."""
    pattern = rf"\d{{1,2}}{regex}\d{{1,2}}{regex}\d{{4}}{_SPACED_TIME}?"
    day, month = f"%d{mark}%m{mark}%Y", f"%m{mark}%d{mark}%Y"
    return (
        _formatted(f"day{mark}month{mark}year", pattern, *_with_times(day)),
        _formatted(f"month{mark}day{mark}year", pattern, *_with_times(month)),
    )


_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
# The instant in UTC, without a zone.
_INSTANT = "timezone('UTC', {cast}({{c}} AS TIMESTAMPTZ))"
_SIGNED = rf"\s*{SIGN}(?:0|[1-9]\d{{0,{MAX_WHOLE_DIGITS - 1}}})\s*"

BOOLEAN = _cast("true/false", "boolean", r"\s*(?i:true|false)\s*", "BOOLEAN")
INTEGER = _checked(
    "integer", "integer", rf"0|-?[1-9]\d{{0,{MAX_WHOLE_DIGITS - 1}}}", "BIGINT", "CAST({cast} AS VARCHAR) = {c}"
)
SIGNED = _checked("signed integer", "integer", _SIGNED, "BIGINT", f"regexp_full_match({{c}}, '{_SIGNED}')")
NUMBER = _checked("number", "number", rf"\s*{plain_number_pattern('.')}\s*", "DOUBLE", "isfinite({cast})")
COMMA = _checked(
    "decimal comma",
    "number",
    rf"\s*{plain_number_pattern(',')}\s*",
    "DOUBLE",
    "NOT contains({c}, '.') AND isfinite({cast})",
    "replace({c}, ',', '.')",
)
INSTANT = TypeRule(
    "date and time with zone",
    "datetime",
    rf"\s*{_DATE}{_TIME} ?{_OFFSET}\s*",
    _INSTANT.format(cast="CAST"),
    _INSTANT.format(cast="TRY_CAST"),
)
DATE = _cast("date and time", "datetime", rf"\s*{_DATE}{_TIME}?\s*", "TIMESTAMP")
SLASHED = _formatted("year/month/day", rf"\d{{4}}/\d{{1,2}}/\d{{1,2}}{_SPACED_TIME}?", *_with_times("%Y/%m/%d"))
DOTTED = _formatted(
    "year.month.day", rf"\d{{4}}\.\d{{1,2}}\.\d{{1,2}}{_SPACED_TIME}?", *_with_times("%Y.%m.%d")
)
# Without a time, eight digits are a whole number.
COMPACT = _formatted(
    "yearmonthday time",
    rf"\d{{8}} {_HOUR}:?[0-5]\d(?::?[0-5]\d)?",
    *(f"%Y%m%d{time_format}" for time_format in (*TIME_FORMATS[1:], *COMPACT_TIME_FORMATS)),
)
MONTH_NAMED = _formatted(
    "day month year by name",
    r"\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d-%B-%Y",
    "%d %B %Y",
)
_ORDERS = tuple(_order_rules(mark, regex) for mark, regex in (("/", "/"), (".", r"\."), ("-", "-")))


def _grouped(name: str, group: str, decimal: str) -> TypeRule:
    """Numbers of which some have thousands separators."""
    pattern = rf"\s*(?:{plain_number_pattern(decimal)}|{grouped_number_pattern(group, decimal)})\s*"
    plain = f"replace(replace({{c}}, '{group}', ''), '{decimal}', '.')"
    check = f"regexp_full_match({{c}}, {_quote(pattern)}) AND isfinite({{cast}})"
    rule = _checked(name, "number", pattern, "DOUBLE", check, plain)
    return replace(
        rule, attempt=f"CASE WHEN regexp_full_match({{c}}, {_quote(pattern)}) THEN {rule.attempt} END"
    )


def _quote(pattern: str) -> str:
    return "'" + pattern.replace("'", "''") + "'"


GROUPED_RULES = {",": _grouped("thousands point", ".", ","), ".": _grouped("thousands comma", ",", ".")}
"""Decimal mark of the file -> rule of numbers with the other mark as thousands separator."""
OPEN_MARK = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
"""A number with one separator, and three digits behind it."""
GROUPED = re.compile(
    f"{grouped_number_pattern(',', '.')}|{grouped_number_pattern('.', ',')}",
    re.ASCII,
)

TYPE_RULES: tuple[TypeRule, ...] = (
    BOOLEAN, INTEGER, SIGNED, NUMBER, COMMA, INSTANT, DATE, SLASHED, DOTTED, COMPACT, MONTH_NAMED,
    *chain.from_iterable(_ORDERS),
)  # fmt: skip
DATE_RULES = (INSTANT, DATE, SLASHED, DOTTED, COMPACT, MONTH_NAMED)
"""Rules of dates whose order of day and month is known."""
TEXT = TypeRule("text", "text", r"(?s:.*)", "{c}", "{c}")


@dataclass(frozen=True)
class TypeChoice:
    """The rule of a column. `missing_words`: words for missing values in it besides NULL_TOKENS, in lower case.

    `note`: for the user, about values that do not fit, or that are treated as missing. `by_file`: the rule is
    that of the file's conventions, where the column's own values admit another one.
    """

    rule: TypeRule
    missing_words: frozenset[str] = frozenset()
    note: str = ""
    by_file: bool = False
    is_final: bool = False
    """The cells are identifiers: conventions of the file do not make numbers of them, nor are they evidence."""


def choose_type(name: str, values: Sequence[str], comma: bool) -> TypeChoice:
    """Choose the rule of a column by its values, cells in NULL_TOKENS left out.

    `comma`: a comma can be a decimal mark in this file.
    """
    present = [value for value in values if not is_missing_word(value)]
    if not present:
        return TypeChoice(TEXT)
    possible = [rule for rule in TYPE_RULES if (comma or rule is not COMMA) and _accepts_all(rule, present)]
    if not possible:
        return TypeChoice(TEXT, note=_describe_mismatch(name, present))
    if is_order_unclear(possible):
        return TypeChoice(
            TEXT,
            note=f"{name}: the order of day and month is unclear in dates such as"
            f" {present[0][:MAX_EXAMPLE_CHARS]}; kept as text.",
        )
    rule = possible[0]
    if rule in (INTEGER, SIGNED, NUMBER) and is_identifier(name, present):
        note = f"{name}: codes such as {present[0][:MAX_EXAMPLE_CHARS]} are kept as text."
        return TypeChoice(TEXT, note=note, is_final=True)
    if rule is COMMA and all("," not in value or GROUPED.fullmatch(value.strip()) for value in present):
        return TypeChoice(
            TEXT,
            note=f"{name}: a comma may be a decimal or a thousands mark in {present[0][:MAX_EXAMPLE_CHARS]};"
            " kept as text.",
        )
    missing = {value.strip() for value in values if is_missing_word(value)}
    notes = (_describe_missing_words(name, missing), _describe_offset(name, present) if rule is INSTANT else "")
    return TypeChoice(rule, frozenset(map(str.casefold, missing)), " ".join(filter(None, notes)))


def _describe_offset(name: str, present: Sequence[str]) -> str:
    """Note a conversion to UTC, which moves times to another hour and dates to another day."""
    local = next((value.strip() for value in present if not _IN_UTC.search(value)), None)
    return f"{name}: local times such as {local[:MAX_EXAMPLE_CHARS]} are converted to UTC." if local else ""


def choose_by_file(
    name: str, choice: TypeChoice, values: Sequence[str], conventions: Conventions
) -> TypeChoice:
    """Choose the rule again by the conventions of the file, where the column's values are not decisive."""
    if choice.is_final:
        return choice
    present = [value for value in values if not is_missing_word(value)]
    rule = _rule_by_file(choice.rule, present, conventions) if present else None
    if rule is None:
        return choice
    missing = {value.strip() for value in values if is_missing_word(value)}
    note = _describe_missing_words(name, missing)
    return TypeChoice(rule, frozenset(map(str.casefold, missing)), note, by_file=True)


def _rule_by_file(rule: TypeRule, present: Sequence[str], conventions: Conventions) -> TypeRule | None:
    if rule is TEXT and conventions.day_first is not None:
        for day_first, month_first in _ORDERS:
            ordered = day_first if conventions.day_first else month_first
            if _accepts_all(ordered, present):
                return ordered
    if conventions.decimal is None or rule not in (TEXT, NUMBER):
        return None
    if rule is NUMBER and conventions.decimal == ".":
        return None
    grouped = GROUPED_RULES[conventions.decimal]
    has_marks = any("." in value or "," in value for value in present)
    is_code = any(re.match(r"\s*[+-]?0\d", value) for value in present)
    return grouped if has_marks and not is_code and _accepts_all(grouped, present) else None


def has_open_mark(rule: TypeRule, values: Sequence[str]) -> bool:
    """Test whether the separators of numbers could be decimal marks or thousands separators alike."""
    if rule not in (NUMBER, COMMA, *GROUPED_RULES.values()):
        return False
    marked = [value.strip() for value in values if "." in value or "," in value]
    return bool(marked) and all(OPEN_MARK.fullmatch(value) for value in marked)


def note_open_mark(name: str, choice: TypeChoice, values: Sequence[str]) -> TypeChoice:
    """Note that nothing decides between decimals and thousands."""
    example = next(value for value in values if "." in value or "," in value).strip()
    note = (
        f"{name}: the mark in {example[:MAX_EXAMPLE_CHARS]} may separate decimals or thousands; decimals are"
        " assumed."
    )
    return replace(choice, note=" ".join(filter(None, (choice.note, note))))


def _describe_missing_words(name: str, words: set[str]) -> str:
    """Note the words that are treated as missing, empty for those of every table."""
    examples = sorted(words - set(NULL_TOKENS))[:3]
    return f"{name}: {', '.join(map(repr, examples))} treated as missing." if examples else ""


def is_order_unclear(possible: Sequence[TypeRule]) -> bool:
    """Test whether both orders of day and month are possible."""
    return any(day in possible and month in possible for day, month in _ORDERS)


def _accepts_all(rule: TypeRule, values: Sequence[str]) -> bool:
    if not all(map(rule.accepts, values)):
        return False
    # A pattern cannot tell day from month: 31/12 and 12/31 fit both rules.
    for day_first, month_first in _ORDERS:
        if rule in (day_first, month_first):
            return all(_is_order_possible(value, is_day_first=rule is day_first) for value in values)
    return True


def _is_order_possible(value: str, *, is_day_first: bool) -> bool:
    first, second = (int(part) for part in re.findall(r"\d+", value)[:2])
    day, month = (first, second) if is_day_first else (second, first)
    return 1 <= day <= 31 and 1 <= month <= 12


def _describe_mismatch(name: str, values: Sequence[str]) -> str:
    """Note why a column stays text although many values are numbers; empty if few are."""
    grouped = sum(GROUPED.fullmatch(value.strip()) is not None for value in values)
    if grouped > len(values) * 0.1:
        return f"{name}: numbers with thousands separators are kept as text."
    is_number = [NUMBER.accepts(value) for value in values]
    if sum(is_number) >= len(values) * 0.5:
        example = next(value for value, accepted in zip(values, is_number, strict=True) if not accepted)
        # Codes with leading zeros are text on purpose, and need no note.
        if not re.fullmatch(r"0\d+", example.strip()):
            return f"{name}: not only numbers (for example {example[:MAX_EXAMPLE_CHARS]!r}); kept as text."
    return ""
