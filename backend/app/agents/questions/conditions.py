"""Which rows a question is about: the conditions in its words."""

import re

from app.agents.goals.patterns import MONTHS
from app.agents.goals.stemming import words
from app.agents.goals.tables import Column
from app.agents.questions.query import PARTS, Cell, Comparison, Condition
from app.agents.questions.sentence import NotUnderstood, Sentence
from app.agents.questions.tokenizer import flag_values
from app.agents.questions.vocabulary import COMPARATIVES, COMPARISONS, WEEKDAYS

_COMPARED = "|".join(pattern for pattern, _ in COMPARISONS)
_NAMED = "|".join((*MONTHS, *WEEKDAYS))
_NO = r"(?:not|never|no|non|without|except|excluding|other than)"
_LINK = r"(?:(?:is|are|was|were|equals|equal|to|of|=|has|have|with|called|named|in)\s+){0,5}"


def take_conditions(sentence: Sentence) -> None:
    """Every condition but the yes or no of a column alone, which may also be what is measured."""
    for rule in (
        _known,
        _parts,
        _between,
        _comparatives,
        _compared,
        _counted,
        _ages,
        _dates,
        _values,
        _literals,
    ):
        rule(sentence)


def take_flags(sentence: Sentence) -> None:
    """Columns of yes and no that stand for their yes: survivors, those who did not survive."""
    while found := _next_flag(sentence):
        column = sentence.column(found["c"])
        no, yes = flag_values(column) or (0, 1)
        value = no if found["no"] else yes
        sentence.readings.append(f"Those for whom `{column.name}` is {value} are meant.")
        sentence.replace(found, sentence.condition(Condition(column.name, "is", value)))


def _next_flag(sentence: Sentence) -> re.Match[str] | None:
    said = re.finditer(rf"(?:(?P<no>{_NO})\s+(?:be\s+)?)?(?P<c>C\d+)", sentence.text)
    return next((found for found in said if flag_values(sentence.column(found["c"]))), None)


def _known(sentence: Sentence) -> None:
    """`cabin` is known, without an age."""
    while found := sentence.take_of(
        r"(?P<a>C\d+) (?:is |are |was |were )?(?P<no>not )?(?:known|given|filled in|recorded)"
    ):
        comparison: Comparison = "unknown" if found["no"] else "known"
        sentence.put(sentence.condition(Condition(sentence.column(found["a"]).name, comparison)))
    without = "unknown|have no|has no|had no|without an?|without any"
    unknown = rf"(?P<a>C\d+) (?:is|are|was|were) unknown|(?:{without}) (?P<b>C\d+)"
    while found := sentence.take_of(unknown):
        sentence.put(sentence.condition(Condition(sentence.column(found["a"] or found["b"]).name, "unknown")))


def _parts(sentence: Sentence) -> None:
    """The month of `date` is July."""
    part = rf"(?:the )?(?P<part>{'|'.join(PARTS)}) of (?P<c>C\d+)"
    pattern = rf"{part} (?:is )?(?P<how>{_COMPARED}) (?P<x>N\d+|L\d+|{_NAMED})\b"
    while found := sentence.take_of(pattern):
        mark = found["x"]
        number = sentence.number(mark) if re.fullmatch(r"N\d+", mark) else None
        text = sentence.scanned.literals[int(mark[1:])] if re.fullmatch(r"L\d+", mark) else mark
        value: Cell = int(number) if number is not None else text.capitalize()
        tested = next(known for known in PARTS if known == found["part"])
        column = sentence.column(found["c"]).name
        sentence.put(sentence.condition(Condition(column, _comparison(found["how"]), value, tested)))


def _between(sentence: Sentence) -> None:
    pattern = (
        r"(?P<c>C\d+) (?:is |was |are |were )?(?:between|from) (?P<a>N\d+|D\d+) (?:and|to) (?P<b>N\d+|D\d+)"
    )
    while found := sentence.take_of(pattern):
        low = _test(sentence, sentence.column(found["c"]), "at least", found["a"])
        high = _test(sentence, sentence.column(found["c"]), "at most", found["b"])
        sentence.put(sentence.condition(low) + sentence.condition(high))


def _comparatives(sentence: Sentence) -> None:
    for said, (comparison, names) in COMPARATIVES.items():
        while found := sentence.take_of(rf"\b{said} (?P<n>N\d+)(?: years?(?: old)?)?"):
            column = meant(sentence, names, said)
            sentence.put(sentence.condition(_test(sentence, column, comparison, found["n"])))


def _compared(sentence: Sentence) -> None:
    """`fare` above 50, more than 3 bedrooms."""
    patterns = (
        rf"(?P<c>C\d+) (?:(?:is|are|was|were|of) )?(?P<how>{_COMPARED}) (?P<n>N\d+|D\d+)",
        rf"(?P<how>{_COMPARED}) (?P<n>N\d+) (?P<c>C\d+)",
    )
    for pattern in patterns:
        while found := sentence.take_of(pattern):
            column = sentence.column(found["c"])
            sentence.put(sentence.condition(_test(sentence, column, _comparison(found["how"]), found["n"])))


def _counted(sentence: Sentence) -> None:
    """With 3 bedrooms; class 3."""
    pattern = r"(?:with|have|has|having|had|of) (?:exactly )?(?P<n>N\d+) (?P<c>C\d+)|(?P<d>C\d+) (?P<m>N\d+)"
    while found := sentence.take_of(pattern):
        column = sentence.column(found["c"] or found["d"])
        sentence.put(sentence.condition(_test(sentence, column, "is", found["n"] or found["m"])))


def _ages(sentence: Sentence) -> None:
    """Under 18 is an age where there is one and nothing else was said."""
    while found := sentence.take_of(
        rf"R (?:(?:who|that|are|were|is|was) ){{0,5}}(?P<how>{_COMPARED}) (?P<n>N\d+)(?: years?(?: old)?)?"
    ):
        column = meant(sentence, "age", "an age")
        sentence.put(" R " + sentence.condition(_test(sentence, column, _comparison(found["how"]), found["n"])))


def meant(sentence: Sentence, names: str, said: str) -> Column:
    """The one column whose name has one of these words; raises NotUnderstood."""
    wanted = set(names.split())
    found = [c for c in sentence.scanned.table.columns if wanted & set(words(c.name)) and _fits(c, wanted)]
    if "date" in wanted:
        found = [sentence.date_column()]
    if len(found) != 1:
        told = ", ".join(f"`{column.name}`" for column in found) or "none"
        raise NotUnderstood(f"For {said!r} it needs one column of that kind, and there are: {told}.")
    sentence.readings.append(f"`{found[0].name}` is taken for {said!r}.")
    return found[0]


def _fits(column: Column, wanted: set[str]) -> bool:
    return column.is_number or "date" in wanted


def _dates(sentence: Sentence) -> None:
    """In 2012, since March 2012, on 2012-03-01, on Mondays."""
    months = "|".join(MONTHS)
    while found := sentence.take_of(
        rf"\b(?P<how>in|during|since|after|before|until|from|on|for) (?P<month>{months})(?: (?P<year>N\d+))?"
        r"|(?P<c>C\d+ )?\b(?P<way>in|during|since|after|before|until|from|for|year) (?P<only>N\d+)"
        r"|\b(?P<when>on|since|after|before|until|from) (?P<day>D\d+)"
        rf"|\bon (?P<weekday>{'|'.join(WEEKDAYS)})s?"
    ):
        sentence.put(_dated(sentence, found))


_WAYS: dict[str, Comparison] = {
    "since": "at least",
    "from": "at least",
    "after": "above",
    "before": "below",
    "until": "at most",
}


def _dated(sentence: Sentence, found: re.Match[str]) -> str:
    if found["weekday"]:
        column = sentence.date_column().name
        return sentence.condition(Condition(column, "is", found["weekday"].capitalize(), part="weekday"))
    if found["day"]:
        day = sentence.scanned.dates[int(found["day"][1:])]
        column = sentence.date_column().name
        if found["when"] == "on":
            later = Condition(column, "at most", f"{day} 23:59:59.999999", date=True)
            return sentence.condition(Condition(column, "at least", day, date=True)) + sentence.condition(later)
        return sentence.condition(Condition(column, _WAYS[found["when"]], _edge(day, found["when"]), date=True))
    if found["only"]:
        if (mark := (found["c"] or "").strip()) and "year" not in words(sentence.column(mark).name):
            return f"{mark} {_in_year(sentence, _year(sentence, found['only']), found['way'])}"
        return _in_year(sentence, _year(sentence, found["only"]), found["way"])
    column = sentence.date_column().name
    month = Condition(column, "is", found["month"].capitalize(), part="month")
    if found["how"] not in ("in", "during", "for", "on"):
        raise NotUnderstood(f"For {found['how']!r} it needs a whole date, such as 2024-03-01.")
    if not found["year"]:
        return sentence.condition(month)
    return sentence.condition(month) + _in_year(sentence, _year(sentence, found["year"]), "in")


def _edge(day: str, way: str) -> str:
    return f"{day} 23:59:59.999999" if way in ("after", "until") else day


def _year(sentence: Sentence, mark: str) -> int:
    year = sentence.number(mark)
    if not 1000 <= year <= 2999 or year != int(year):
        raise NotUnderstood(f"It cannot be told what {year:g} is a value of.")
    return int(year)


def _in_year(sentence: Sentence, year: int, way: str) -> str:
    """The year of the only date, or the column that holds years."""
    comparison = _WAYS.get(way, "is")
    years = [c for c in sentence.scanned.table.columns if c.is_number and "year" in words(c.name)]
    if len(years) == 1:
        return sentence.condition(Condition(years[0].name, comparison, year))
    return sentence.condition(Condition(sentence.date_column().name, comparison, year, part="year"))


def _values(sentence: Sentence) -> None:
    """`sex` is female, not in Torgersen, women."""
    negated = rf"(?:(?P<no>{_NO}|is not)\s+(?:in |of |from |on |at |with )?(?:the )?)?"
    pattern = rf"(?:(?P<c>C\d+) {_LINK})?{negated}(?P<v>V\d+)(?: (?P<after>C\d+))?"
    while found := re.search(pattern, sentence.text):
        column, value = sentence.value(found["v"])
        around = [(name, mark) for name in ("c", "after") if (mark := found[name])]
        kept = {name: mark for name, mark in around if sentence.column(mark) is not column}
        condition = Condition(column.name, "is not" if found["no"] else "is", value)
        before, behind = kept.get("c", ""), kept.get("after", "")
        sentence.replace(found, f"{before} {sentence.condition(condition)} {behind}")


def _literals(sentence: Sentence) -> None:
    """A text in quotes, or a word right after a column's name and `is`."""
    while found := sentence.take_of(rf"(?P<c>C\d+) {_LINK}(?P<no>not )?(?P<l>L\d+)"):
        column = sentence.column(found["c"])
        value = _known_value(column, sentence.scanned.literals[int(found["l"][1:])])
        comparison: Comparison = "is not" if found["no"] else "is"
        sentence.put(sentence.condition(Condition(column.name, comparison, value)))


def _known_value(column: Column, told: str) -> Cell:
    """The value as the column writes it; raises NotUnderstood where it is known to have no such value."""
    for value in column.top:
        if str(value).casefold() == told.casefold():
            return value if isinstance(value, str | int | float) else told
    if column.is_number or column.distinct <= len(column.top):
        known = ", ".join(str(value) for value in column.top[:10])
        raise NotUnderstood(f"`{column.name}` has no value {told!r}. It has: {known or 'numbers'}.")
    return told


def _comparison(said: str) -> Comparison:
    return next(meaning for pattern, meaning in COMPARISONS if re.fullmatch(pattern, said))


def _test(sentence: Sentence, column: Column, comparison: Comparison, mark: str) -> Condition:
    """A number or a date against a column that can hold one."""
    if mark[0] == "D":
        return Condition(column.name, comparison, sentence.scanned.dates[int(mark[1:])], date=True)
    number = sentence.number(mark)
    value = int(number) if number == int(number) else number
    if not column.is_number or column.as_text:
        known = {str(top) for top in column.top}
        if comparison in ("is", "is not") and str(value) in known:
            return Condition(column.name, comparison, str(value))
        raise NotUnderstood(f"`{column.name}` holds no numbers, so it cannot be compared with {value}.")
    return Condition(column.name, comparison, value)
