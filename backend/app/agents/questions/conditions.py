"""Parsing of the conditions in a question."""

import re

from app.agents.goals.tables import Column
from app.agents.goals.tokenizer import words
from app.agents.goals.vocabulary import MONTHS, WEEKDAYS
from app.agents.questions.query import PARTS, Cell, Comparison, Condition
from app.agents.questions.sentence import NotUnderstood, Sentence
from app.agents.questions.tokenizer import flag_values
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


def parse_flags(sentence: Sentence) -> None:
    """Parse yes/no columns as conditions: survivors, those who did not survive."""
    while match := _next_flag(sentence):
        column = sentence.column(match["c"])
        no, yes = flag_values(column) or (0, 1)
        value = no if match["no"] else yes
        sentence.interpretations.append(f"Those for whom `{column.name}` is {value} are meant.")
        sentence.replace(match, sentence.add_condition(Condition(column.name, "is", value)))


def _next_flag(sentence: Sentence) -> re.Match[str] | None:
    matches = re.finditer(rf"(?:(?P<no>{_NO})\s+(?:be\s+)?)?(?P<c>C\d+)", sentence.text)
    return next((match for match in matches if flag_values(sentence.column(match["c"]))), None)


def _parse_known(sentence: Sentence) -> None:
    """Parse conditions on missing values: `cabin` is known, without an age."""
    while match := sentence.take_in_place(
        r"(?P<a>C\d+) (?:is |are |was |were )?(?P<no>not )?(?:known|given|filled in|recorded)"
    ):
        comparison: Comparison = "unknown" if match["no"] else "known"
        sentence.fill(sentence.add_condition(Condition(sentence.column(match["a"]).name, comparison)))
    without = "unknown|have no|has no|had no|without an?|without any"
    unknown = rf"(?P<a>C\d+) (?:is|are|was|were) unknown|(?:{without}) (?P<b>C\d+)"
    while match := sentence.take_in_place(unknown):
        sentence.fill(
            sentence.add_condition(Condition(sentence.column(match["a"] or match["b"]).name, "unknown"))
        )


def _parse_date_parts(sentence: Sentence) -> None:
    """Parse conditions on parts of dates: the month of `date` is July."""
    part = rf"(?:the )?(?P<part>{'|'.join(PARTS)}) of (?P<c>C\d+)"
    pattern = rf"{part} (?:is )?(?P<how>{_COMPARED}) (?P<x>N\d+|L\d+|{_MONTHS_AND_DAYS})\b"
    while match := sentence.take_in_place(pattern):
        mark = match["x"]
        number = sentence.number(mark) if re.fullmatch(r"N\d+", mark) else None
        text = sentence.question.literals[int(mark[1:])] if re.fullmatch(r"L\d+", mark) else mark
        value: Cell = int(number) if number is not None else text.capitalize()
        tested = next(name for name in PARTS if name == match["part"])
        column = sentence.column(match["c"]).name
        sentence.fill(sentence.add_condition(Condition(column, _comparison(match["how"]), value, tested)))


def _parse_between(sentence: Sentence) -> None:
    pattern = (
        r"(?P<c>C\d+) (?:is |was |are |were )?(?:between|from) (?P<a>N\d+|D\d+) (?:and|to) (?P<b>N\d+|D\d+)"
    )
    while match := sentence.take_in_place(pattern):
        low = _make_test(sentence, sentence.column(match["c"]), "at least", match["a"])
        high = _make_test(sentence, sentence.column(match["c"]), "at most", match["b"])
        sentence.fill(sentence.add_condition(low) + sentence.add_condition(high))


def _parse_comparatives(sentence: Sentence) -> None:
    for word, (comparison, names) in COMPARATIVES.items():
        while match := sentence.take_in_place(rf"\b{word} (?P<n>N\d+)(?: years?(?: old)?)?"):
            column = find_meant_column(sentence, names, word)
            sentence.fill(sentence.add_condition(_make_test(sentence, column, comparison, match["n"])))


def _parse_comparisons(sentence: Sentence) -> None:
    """Parse comparisons: `fare` above 50, more than 3 bedrooms."""
    patterns = (
        rf"(?P<c>C\d+) (?:(?:is|are|was|were|of) )?(?P<how>{_COMPARED}) (?P<n>N\d+|D\d+)",
        rf"(?P<how>{_COMPARED}) (?P<n>N\d+) (?P<c>C\d+)",
    )
    for pattern in patterns:
        while match := sentence.take_in_place(pattern):
            column = sentence.column(match["c"])
            sentence.fill(
                sentence.add_condition(_make_test(sentence, column, _comparison(match["how"]), match["n"]))
            )


def _parse_counts(sentence: Sentence) -> None:
    """Parse numbers beside a column: with 3 bedrooms, class 3."""
    pattern = r"(?:with|have|has|having|had|of) (?:exactly )?(?P<n>N\d+) (?P<c>C\d+)|(?P<d>C\d+) (?P<m>N\d+)"
    while match := sentence.take_in_place(pattern):
        column = sentence.column(match["c"] or match["d"])
        sentence.fill(sentence.add_condition(_make_test(sentence, column, "is", match["n"] or match["m"])))


def _parse_ages(sentence: Sentence) -> None:
    """Parse comparisons without a column as ages: passengers under 18."""
    while match := sentence.take_in_place(
        rf"R (?:(?:who|that|are|were|is|was) ){{0,5}}(?P<how>{_COMPARED}) (?P<n>N\d+)(?: years?(?: old)?)?"
    ):
        column = find_meant_column(sentence, "age", "an age")
        sentence.fill(
            " R " + sentence.add_condition(_make_test(sentence, column, _comparison(match["how"]), match["n"]))
        )


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


def _parse_dates(sentence: Sentence) -> None:
    """Parse conditions on dates: in 2012, since March 2012, on 2012-03-01, on Mondays."""
    months = "|".join(MONTHS)
    while match := sentence.take_in_place(
        rf"\b(?P<how>in|during|since|after|before|until|from|on|for) (?P<month>{months})(?: (?P<year>N\d+))?"
        r"|(?P<c>C\d+ )?\b(?P<way>in|during|since|after|before|until|from|for|year) (?P<only>N\d+)"
        r"|\b(?P<when>on|since|after|before|until|from) (?P<day>D\d+)"
        rf"|\bon (?P<weekday>{'|'.join(WEEKDAYS)})s?"
    ):
        sentence.fill(_date_conditions(sentence, match))


_DATE_COMPARISONS: dict[str, Comparison] = {
    "since": "at least",
    "from": "at least",
    "after": "above",
    "before": "below",
    "until": "at most",
}


def _date_conditions(sentence: Sentence, match: re.Match[str]) -> str:
    if match["weekday"]:
        column = sentence.date_column().name
        return sentence.add_condition(Condition(column, "is", match["weekday"].capitalize(), part="weekday"))
    if match["day"]:
        day = sentence.question.dates[int(match["day"][1:])]
        column = sentence.date_column().name
        if match["when"] == "on":
            later = Condition(column, "at most", f"{day} 23:59:59.999999", date=True)
            return sentence.add_condition(
                Condition(column, "at least", day, date=True)
            ) + sentence.add_condition(later)
        return sentence.add_condition(
            Condition(column, _DATE_COMPARISONS[match["when"]], _day_bound(day, match["when"]), date=True)
        )
    if match["only"]:
        if (mark := (match["c"] or "").strip()) and "year" not in words(sentence.column(mark).name):
            return f"{mark} {_year_condition(sentence, _parse_year(sentence, match['only']), match['way'])}"
        return _year_condition(sentence, _parse_year(sentence, match["only"]), match["way"])
    column = sentence.date_column().name
    month = Condition(column, "is", match["month"].capitalize(), part="month")
    if match["how"] not in ("in", "during", "for", "on"):
        raise NotUnderstood(f"For {match['how']!r} it needs a whole date, such as 2024-03-01.")
    if not match["year"]:
        return sentence.add_condition(month)
    return sentence.add_condition(month) + _year_condition(sentence, _parse_year(sentence, match["year"]), "in")


def _day_bound(day: str, preposition: str) -> str:
    return f"{day} 23:59:59.999999" if preposition in ("after", "until") else day


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


def _parse_values(sentence: Sentence) -> None:
    """Parse values of columns: `sex` is female, not in Torgersen, women."""
    negated = rf"(?:(?P<no>{_NO}|is not)\s+(?:in |of |from |on |at |with )?(?:the )?)?"
    pattern = rf"(?:(?P<c>C\d+) {_LINK})?{negated}(?P<v>V\d+)(?: (?P<after>C\d+))?"
    while match := re.search(pattern, sentence.text):
        column, value = sentence.value(match["v"])
        neighbours = [(name, mark) for name in ("c", "after") if (mark := match[name])]
        other_columns = {name: mark for name, mark in neighbours if sentence.column(mark) is not column}
        condition = Condition(column.name, "is not" if match["no"] else "is", value)
        before, after = other_columns.get("c", ""), other_columns.get("after", "")
        sentence.replace(match, f"{before} {sentence.add_condition(condition)} {after}")


def _parse_literals(sentence: Sentence) -> None:
    """Parse quoted texts after a column's name."""
    while match := sentence.take_in_place(rf"(?P<c>C\d+) {_LINK}(?P<no>not )?(?P<l>L\d+)"):
        column = sentence.column(match["c"])
        value = _column_value(column, sentence.question.literals[int(match["l"][1:])])
        comparison: Comparison = "is not" if match["no"] else "is"
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
