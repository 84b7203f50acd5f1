"""Parsing of the conditions in a question."""

import re
from typing import NamedTuple

from app.agents.goals.tables import Column
from app.agents.goals.tokenizer import words
from app.agents.goals.typed_pattern import read_groups
from app.agents.goals.vocabulary import MONTHS, WEEKDAYS
from app.agents.questions.marking import flag_values
from app.agents.questions.query import PARTS, Cell, Comparison, Condition
from app.agents.questions.sentence import ColumnMark, NotUnderstood, Sentence
from app.agents.questions.vocabulary import COMPARATIVES, COMPARISONS

_COMPARED = "|".join(pattern for pattern, _ in COMPARISONS)
_MONTHS_AND_DAYS = "|".join((*MONTHS, *WEEKDAYS))
_NO = r"(?:not|never|no|non|without|except|excluding|other than)"
_LINK = r"(?:(?:is|are|was|were|equals|equal|to|of|=|has|have|with|called|named|in)\s+){0,5}"


def parse_conditions(sentence: Sentence) -> None:
    """Parse all conditions except bare yes/no columns, which may also be what is measured."""
    for rule in (
        _parse_known,
        _parse_date_parts,
        _parse_between,
        _parse_comparatives,
        _parse_comparisons,
        _parse_counts,
        _parse_ages,
        _parse_dates,
        _parse_values,
        _parse_literals,
    ):
        rule(sentence)


class _TestGroups(NamedTuple):
    """A column that is compared with a value, on a part of its date if given.

    A phrasing may lack all but the value, which is a mark or the name of a month or weekday.
    """

    value: str
    column: str = ""
    comparison: str = ""
    part: str = ""


class _ColumnTestGroups(NamedTuple):
    """A column with a negation, and the mark of a quoted text that it is compared with."""

    column: str
    negation: str | None = None
    literal: str = ""


class _RangeGroups(NamedTuple):
    column: str
    low: str
    high: str


def parse_flags(sentence: Sentence) -> None:
    """Parse yes/no columns as conditions: survivors, those who did not survive."""
    while match := _next_flag(sentence):
        flag = read_groups(_ColumnTestGroups, match)
        column = sentence.column(flag.column)
        no, yes = flag_values(column) or (0, 1)
        value = no if flag.negation else yes
        sentence.interpretations.append(f"Those for whom `{column.name}` is {value} are meant.")
        sentence.replace(match, sentence.add_condition(Condition(column.name, "is", value)))


def _next_flag(sentence: Sentence) -> re.Match[str] | None:
    matches = re.finditer(rf"(?:(?P<negation>{_NO})\s+(?:be\s+)?)?(?P<column>C\d+)", sentence.text)
    marks = ((match, read_groups(_ColumnTestGroups, match).column) for match in matches)
    return next((match for match, mark in marks if flag_values(sentence.column(mark))), None)


def _parse_known(sentence: Sentence) -> None:
    """Parse conditions on missing values: `cabin` is known, without an age."""
    while presence := sentence.take_in_place(
        r"(?P<column>C\d+) (?:is |are |was |were )?(?P<negation>not )?(?:known|given|filled in|recorded)",
        _ColumnTestGroups,
    ):
        comparison: Comparison = "unknown" if presence.negation else "known"
        sentence.fill(sentence.add_condition(Condition(sentence.column(presence.column).name, comparison)))
    without = "unknown|have no|has no|had no|without an?|without any"
    pattern = rf"(?P<column1>C\d+) (?:is|are|was|were) unknown|(?:{without}) (?P<column2>C\d+)"
    while unknown := sentence.take_in_place(pattern, ColumnMark):
        sentence.fill(sentence.add_condition(Condition(sentence.column(unknown.column).name, "unknown")))


def _parse_date_parts(sentence: Sentence) -> None:
    """Parse conditions on parts of dates: the month of `date` is July."""
    part = rf"(?:the )?(?P<part>{'|'.join(PARTS)}) of (?P<column>C\d+)"
    pattern = rf"{part} (?:is )?(?P<comparison>{_COMPARED}) (?P<value>N\d+|L\d+|{_MONTHS_AND_DAYS})\b"
    while test := sentence.take_in_place(pattern, _TestGroups):
        mark = test.value
        number = sentence.number(mark) if re.fullmatch(r"N\d+", mark) else None
        text = sentence.question.literals[int(mark[1:])] if re.fullmatch(r"L\d+", mark) else mark
        value: Cell = int(number) if number is not None else text.capitalize()
        tested = next(name for name in PARTS if name == test.part)
        column = sentence.column(test.column).name
        sentence.fill(sentence.add_condition(Condition(column, _comparison(test.comparison), value, tested)))


def _parse_between(sentence: Sentence) -> None:
    pattern = (
        r"(?P<column>C\d+) (?:is |was |are |were )?(?:between|from)"
        r" (?P<low>N\d+|D\d+) (?:and|to) (?P<high>N\d+|D\d+)"
    )
    while bounds := sentence.take_in_place(pattern, _RangeGroups):
        column = sentence.column(bounds.column)
        low = _make_test(sentence, column, "at least", bounds.low)
        high = _make_test(sentence, column, "at most", bounds.high)
        sentence.fill(sentence.add_condition(low) + sentence.add_condition(high))


def _parse_comparatives(sentence: Sentence) -> None:
    for word, (comparison, names) in COMPARATIVES.items():
        while test := sentence.take_in_place(rf"\b{word} (?P<value>N\d+)(?: years?(?: old)?)?", _TestGroups):
            column = find_meant_column(sentence, names, word)
            sentence.fill(sentence.add_condition(_make_test(sentence, column, comparison, test.value)))


def _parse_comparisons(sentence: Sentence) -> None:
    """Parse comparisons: `fare` above 50, more than 3 bedrooms."""
    patterns = (
        rf"(?P<column>C\d+) (?:(?:is|are|was|were|of) )?(?P<comparison>{_COMPARED}) (?P<value>N\d+|D\d+)",
        rf"(?P<comparison>{_COMPARED}) (?P<value>N\d+) (?P<column>C\d+)",
    )
    for pattern in patterns:
        while test := sentence.take_in_place(pattern, _TestGroups):
            column, comparison = sentence.column(test.column), _comparison(test.comparison)
            sentence.fill(sentence.add_condition(_make_test(sentence, column, comparison, test.value)))


def _parse_counts(sentence: Sentence) -> None:
    """Parse numbers beside a column: with 3 bedrooms, class 3."""
    pattern = (
        r"(?:with|have|has|having|had|of) (?:exactly )?(?P<value1>N\d+) (?P<column1>C\d+)"
        r"|(?P<column2>C\d+) (?P<value2>N\d+)"
    )
    while test := sentence.take_in_place(pattern, _TestGroups):
        column = sentence.column(test.column)
        sentence.fill(sentence.add_condition(_make_test(sentence, column, "is", test.value)))


def _parse_ages(sentence: Sentence) -> None:
    """Parse comparisons without a column as ages: passengers under 18."""
    verbs = r"(?:(?:who|that|are|were|is|was) ){0,5}"
    pattern = rf"R {verbs}(?P<comparison>{_COMPARED}) (?P<value>N\d+)(?: years?(?: old)?)?"
    while test := sentence.take_in_place(pattern, _TestGroups):
        column = find_meant_column(sentence, "age", "an age")
        condition = _make_test(sentence, column, _comparison(test.comparison), test.value)
        sentence.fill(" R " + sentence.add_condition(condition))


def find_meant_column(sentence: Sentence, names: str, phrase: str) -> Column:
    """Return the only column whose name has one of these words. Raises NotUnderstood."""
    name_words = set(names.split())
    candidates = [
        c for c in sentence.question.table.columns if name_words & set(words(c.name)) and _fits(c, name_words)
    ]
    if "date" in name_words:
        candidates = [sentence.date_column()]
    if len(candidates) != 1:
        listing = ", ".join(f"`{column.name}`" for column in candidates) or "none"
        raise NotUnderstood(f"For {phrase!r} it needs one column of that kind, and there are: {listing}.")
    sentence.interpretations.append(f"`{candidates[0].name}` is taken for {phrase!r}.")
    return candidates[0]


def _fits(column: Column, name_words: set[str]) -> bool:
    return column.is_number or "date" in name_words


class _DateGroups(NamedTuple):
    """A date after a preposition: a month with or without its year, a year, a day, or a weekday."""

    preposition: str
    month: str | None
    month_year: str | None
    year_column: str | None
    """The column before a year. It may hold years."""
    year: str | None
    day: str | None
    weekday: str | None


def _parse_dates(sentence: Sentence) -> None:
    """Parse conditions on dates: in 2012, since March 2012, on 2012-03-01, on Mondays."""
    months = "|".join(MONTHS)
    while date := sentence.take_in_place(
        rf"\b(?P<preposition1>in|during|since|after|before|until|from|on|for) (?P<month>{months})"
        r"(?: (?P<month_year>N\d+))?"
        r"|(?P<year_column>C\d+ )?\b(?P<preposition2>in|during|since|after|before|until|from|for|year)"
        r" (?P<year>N\d+)"
        r"|\b(?P<preposition3>on|since|after|before|until|from) (?P<day>D\d+)"
        rf"|\bon (?P<weekday>{'|'.join(WEEKDAYS)})s?",
        _DateGroups,
    ):
        sentence.fill(_date_conditions(sentence, date))


_END_OF_DAY = " 23:59:59.999999"
"""The last microsecond of a day, which is the precision of a TIMESTAMP."""
_DATE_COMPARISONS: dict[str, Comparison] = {
    "since": "at least",
    "from": "at least",
    "after": "above",
    "before": "below",
    "until": "at most",
}


def _date_conditions(sentence: Sentence, date: _DateGroups) -> str:
    """Add the conditions on a date and return their marks."""
    if date.weekday:
        column = sentence.date_column().name
        return sentence.add_condition(Condition(column, "is", date.weekday.capitalize(), part="weekday"))
    if date.day:
        return _day_conditions(sentence, sentence.question.dates[int(date.day[1:])], date.preposition)
    if date.year:
        condition = _year_condition(sentence, _parse_year(sentence, date.year), date.preposition)
        mark = (date.year_column or "").strip()
        is_other_column = mark and "year" not in words(sentence.column(mark).name)
        return f"{mark} {condition}" if is_other_column else condition
    column = sentence.date_column().name
    month = Condition(column, "is", (date.month or "").capitalize(), part="month")
    if date.preposition not in ("in", "during", "for", "on"):
        raise NotUnderstood(f"For {date.preposition!r} it needs a whole date, such as 2024-03-01.")
    if not date.month_year:
        return sentence.add_condition(month)
    year = _parse_year(sentence, date.month_year)
    return sentence.add_condition(month) + _year_condition(sentence, year, "in")


def _day_conditions(sentence: Sentence, day: str, preposition: str) -> str:
    column = sentence.date_column().name
    if preposition != "on":
        bound = _day_bound(day, preposition)
        return sentence.add_condition(Condition(column, _DATE_COMPARISONS[preposition], bound, date=True))
    first = sentence.add_condition(Condition(column, "at least", day, date=True))
    return first + sentence.add_condition(Condition(column, "at most", f"{day}{_END_OF_DAY}", date=True))


def _day_bound(day: str, preposition: str) -> str:
    return f"{day}{_END_OF_DAY}" if preposition in ("after", "until") else day


def _parse_year(sentence: Sentence, mark: str) -> int:
    year = sentence.number(mark)
    if not 1000 <= year <= 2999 or year != int(year):
        raise NotUnderstood(f"It cannot be told what {year:g} is a value of.")
    return int(year)


def _year_condition(sentence: Sentence, year: int, preposition: str) -> str:
    """Make the condition on a year, of the column that holds years or of the only date."""
    comparison = _DATE_COMPARISONS.get(preposition, "is")
    years = [c for c in sentence.question.table.columns if c.is_number and "year" in words(c.name)]
    if len(years) == 1:
        return sentence.add_condition(Condition(years[0].name, comparison, year))
    return sentence.add_condition(Condition(sentence.date_column().name, comparison, year, part="year"))


class _ValueGroups(NamedTuple):
    """A value with a negation, and the columns named before and after it."""

    value: str
    negation: str | None
    column_before: str | None
    column_after: str | None


def _parse_values(sentence: Sentence) -> None:
    """Parse values of columns: `sex` is female, not in Torgersen, women."""
    negated = rf"(?:(?P<negation>{_NO}|is not)\s+(?:in |of |from |on |at |with )?(?:the )?)?"
    pattern = rf"(?:(?P<column_before>C\d+) {_LINK})?{negated}(?P<value>V\d+)(?: (?P<column_after>C\d+))?"
    while match := re.search(pattern, sentence.text):
        groups = read_groups(_ValueGroups, match)
        column, value = sentence.value(groups.value)
        # The value's own column is understood with it; another one remains to be parsed.
        before, after = (
            mark if mark and sentence.column(mark) is not column else ""
            for mark in (groups.column_before, groups.column_after)
        )
        condition = Condition(column.name, "is not" if groups.negation else "is", value)
        sentence.replace(match, f"{before} {sentence.add_condition(condition)} {after}")


def _parse_literals(sentence: Sentence) -> None:
    """Parse quoted texts after a column's name."""
    pattern = rf"(?P<column>C\d+) {_LINK}(?P<negation>not )?(?P<literal>L\d+)"
    while quoted := sentence.take_in_place(pattern, _ColumnTestGroups):
        column = sentence.column(quoted.column)
        value = _column_value(column, sentence.question.literals[int(quoted.literal[1:])])
        comparison: Comparison = "is not" if quoted.negation else "is"
        sentence.fill(sentence.add_condition(Condition(column.name, comparison, value)))


def _column_value(column: Column, text: str) -> Cell:
    """Return the value in the column's spelling. Raises NotUnderstood if the column has no such value."""
    for value in column.top:
        if str(value).casefold() == text.casefold():
            return value if isinstance(value, str | int | float) else text
    if column.is_number or column.distinct <= len(column.top):
        listing = ", ".join(str(value) for value in column.top[:10])
        raise NotUnderstood(f"`{column.name}` has no value {text!r}. It has: {listing or 'numbers'}.")
    return text


def _comparison(phrase: str) -> Comparison:
    return next(meaning for pattern, meaning in COMPARISONS if re.fullmatch(pattern, phrase))


def _make_test(sentence: Sentence, column: Column, comparison: Comparison, mark: str) -> Condition:
    """Make a condition that compares a column with a number or a date. Raises NotUnderstood."""
    if mark[0] == "D":
        return Condition(column.name, comparison, sentence.question.dates[int(mark[1:])], date=True)
    number = sentence.number(mark)
    value = int(number) if number == int(number) else number
    if not column.is_number or column.is_stored_as_text:
        values = {str(top) for top in column.top}
        if comparison in ("is", "is not") and str(value) in values:
            return Condition(column.name, comparison, str(value))
        raise NotUnderstood(f"`{column.name}` holds no numbers, so it cannot be compared with {value}.")
    return Condition(column.name, comparison, value)
