"""Operations between two numbers of a row that a goal spells out: "revenue minus cost", "milk per kilo"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from app.agents.goals.columns.ranking import likeliest_column
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.column_formula import Derivation, DerivationKind
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.concepts import expand
from app.agents.goals.words.name_parts import names_part, parts_of_name
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import COUNT_WORDS, SECONDS_BY_UNIT, word_set


class _Operation(NamedTuple):
    """An operator and its kind. `context`: words that a goal must also have, as `and` alone adds nothing up."""

    kind: DerivationKind
    operator: re.Pattern[str]
    context: re.Pattern[str] | None = None


_AND = re.compile(r"\band\b|&", re.IGNORECASE)
_ADDED_UP = re.compile(r"\b(?:together|combined|added up|(?:sum|total) of|altogether)\b", re.IGNORECASE)
_OPERATIONS = (
    _Operation("sum", re.compile(r"\bplus\b", re.IGNORECASE)),
    _Operation("difference", re.compile(r"\bminus\b|\bnet of\b", re.IGNORECASE)),
    _Operation("product", re.compile(r"\btimes\b|\bmultiplied (?:by|with)\b", re.IGNORECASE)),
    _Operation("ratio", re.compile(r"\bdivided by\b|\brelative to\b|\bas a share of\b", re.IGNORECASE)),
    _Operation("ratio", re.compile(r"\bto\b", re.IGNORECASE), re.compile(r"\bratio of\b", re.IGNORECASE)),
    _Operation("ratio", _AND, re.compile(r"\bratio between\b", re.IGNORECASE)),
    _Operation("difference", _AND, re.compile(r"\b(?:difference|gap|spread) (?:between|of)\b", re.IGNORECASE)),
    _Operation("product", _AND, re.compile(r"\bproduct of\b", re.IGNORECASE)),
    _Operation("sum", _AND, _ADDED_UP),
)
_PER = re.compile(r"\bper\b|\bfor each\b", re.IGNORECASE)
_SIGNS: Mapping[str, DerivationKind] = {"+": "sum", "-": "difference", "*": "product", "/": "ratio"}
_FORMULA = re.compile(r"(?P<first>\w{1,80})\s{0,3}(?P<sign>[-+*/])\s{0,3}(?P<second>\w{1,80})")
"""An operation with signs. Both sides must be names of columns: a dash or a slash is mostly no operator."""
_OPERAND_WORDS = 4
"""Words before and after an operator that may name its column."""
_FILLERS = word_set("the a an its their our of what which was is were are has been have")
"""Words before the name of an operand: "minus what was paid"."""
_SQUARES = dict.fromkeys(("metre", "metres", "meter", "meters", "m"), "m2") | dict.fromkeys(
    ("foot", "feet", "ft"), "ft2"
)
"""Units of area by the word behind `square`."""
_BOTH_HALVES = re.compile(
    r"\b(?:total|combined|overall) (?:number of |count of )?(?P<total>[a-z]{3,20}s)\b"
    r"|\b(?P<difference>[a-z]{3,20}) (?:difference|gap|margin)\b",
    re.IGNORECASE,
)
"""A total or a difference of what two columns count: `home_goals` and `away_goals`."""
_TOTALS = word_set("total totals sum sums combined overall difference diff gap margin")
_PERSONS = word_set("head person guest capita customer visitor passenger people")
_PERSON_COUNTS = word_set("covers guests persons people party heads size pax visitors passengers headcount")
_COUNTS = word_set("n num no number cnt count nr nbr")
"""Parts of names of numbers that count something: `n_msgs`, `plants_n`."""
_PROFITS = re.compile(r"\b(?:profit|margin|earnings)\b", re.IGNORECASE)
_PROFIT_WORDS = word_set("profit margin earnings gain net_income gp ebit")
_REVENUE_WORDS = word_set("revenue sales turnover rev income takings proceeds")
_COST_WORDS = word_set("cost costs cogs expense expenses")


def find_operation(goal: Goal, table: TableProfile, numbers: Sequence[Column]) -> Derivation | None:
    """Return the operation between two of the numbers of a table that a goal spells out."""
    if derivation := _read_formula(goal, numbers):
        return derivation
    readings = (
        _read_per(goal, table, numbers),
        _read_operators(goal, numbers),
        _read_profit(goal, numbers),
        _read_both_halves(goal, numbers),
    )
    return next(filter(None, readings), None)


def has_one_operand(goal: Goal, numbers: Sequence[Column]) -> bool:
    """Test if a goal spells out an operation of which only one side is a number of the table.

    That number alone is another target: "the bill minus the discount" of a table without discounts.
    """
    names = {word for column in numbers for word in words(column.name)}
    for _, operator, before, after in _split_at_operators(goal):
        is_amount = bool(after) and not (after[0].isdigit() or after[0] in COUNT_WORDS)
        # A word of a column's name is no operator: "times" of `times_ordered`.
        if operator in names or not is_amount:
            continue
        if _last_operand(before, numbers) and not _first_operand(after, numbers):
            return True
    return False


class _Operands(NamedTuple):
    """An operator of a goal with all words before and behind it."""

    kind: DerivationKind
    operator: str
    before: list[str]
    after: list[str]


def _split_at_operators(goal: Goal) -> Iterator[_Operands]:
    for operation in _OPERATIONS:
        if operation.context is None or operation.context.search(goal.text):
            for match in operation.operator.finditer(goal.text):
                before, after = words(goal.text[: match.start()]), words(goal.text[match.end() :])
                yield _Operands(operation.kind, match[0].casefold(), before, after)


def _read_formula(goal: Goal, numbers: Sequence[Column]) -> Derivation | None:
    """Return the operation between two columns that are written as they stand, as in "predict high - low"."""
    if "~" in goal.text:
        return None  # "y ~ a + b" lists inputs
    names = {column.name.casefold(): column.name for column in numbers}
    for match in _FORMULA.finditer(goal.text):
        first, second = names.get(match["first"].casefold()), names.get(match["second"].casefold())
        if first and second and first != second:
            return Derivation(kind=_SIGNS[match["sign"]], first=first, second=second)
    return None


def _read_operators(goal: Goal, numbers: Sequence[Column]) -> Derivation | None:
    for kind, _, before, after in _split_at_operators(goal):
        first, second = _last_operand(before, numbers), _first_operand(after, numbers)
        if first and second and first != second:
            return Derivation(kind=kind, first=first.name, second=second.name)
    return None


def _read_per(goal: Goal, table: TableProfile, numbers: Sequence[Column]) -> Derivation | None:
    """Return a ratio by a number that counts a unit. "Per" also parts rhythms and groups ("sales per week")."""
    for match in _PER.finditer(goal.text):
        before, after = words(goal.text[: match.start()]), words(goal.text[match.end() :])
        first = _last_operand(before, numbers) or _meant(before, table, numbers)
        second = _counted_unit(after, [column for column in numbers if column != first])
        if first and second:
            return Derivation(kind="ratio", first=first.name, second=second.name)
    return None


def _read_profit(goal: Goal, numbers: Sequence[Column]) -> Derivation | None:
    """Return revenue less cost for a goal that asks for a profit, where no column is one."""
    if not _PROFITS.search(goal.target_text):
        return None
    own_words = [{form for word in words(c.name) for form in (word, unabbreviate(word))} for c in numbers]
    if any(_PROFIT_WORDS & parts for parts in own_words):
        return None
    parts_of_columns = list(zip(numbers, own_words, strict=True))
    revenues = [column for column, parts in parts_of_columns if _REVENUE_WORDS & parts]
    costs = [column for column, parts in parts_of_columns if _COST_WORDS & parts]
    if len(revenues) != 1 or len(costs) != 1 or revenues == costs:
        return None
    return Derivation(kind="difference", first=revenues[0].name, second=costs[0].name)


def _read_both_halves(goal: Goal, numbers: Sequence[Column]) -> Derivation | None:
    """Return the total or the difference of the only two numbers that count a noun of the goal."""
    match = _BOTH_HALVES.search(goal.target_text)
    if match is None:
        return None
    noun = (match["total"] or match["difference"]).casefold()
    halves = [
        column for column in numbers if any(names_part(noun, part) for part in parts_of_name(column.name))
    ]
    names = [words(column.name) for column in halves]
    if len(halves) != 2 or len(names[0]) != len(names[1]) or _TOTALS & {*names[0], *names[1]}:
        return None
    if sum(first != second for first, second in zip(*names, strict=True)) != 1:
        return None
    kind: DerivationKind = "sum" if match["total"] else "difference"
    return Derivation(kind=kind, first=halves[0].name, second=halves[1].name)


def _last_operand(before: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    """Return the column that the words directly before an operator name, by as many of them as do."""
    phrases = (before[-count:] for count in range(min(_OPERAND_WORDS, len(before)), 0, -1))
    return next(filter(None, (_only_match(phrase, numbers) for phrase in phrases)), None)


def _meant(before: Sequence[str], table: TableProfile, numbers: Sequence[Column]) -> Column | None:
    """Return the number that the words before "per head" mean by any of their synonyms."""
    request = parse_goal(f"Predict the {' '.join(before[-_OPERAND_WORDS:])}")
    return likeliest_column(request, table, numbers)


def _first_operand(after: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    start = next((at for at, word in enumerate(after) if word not in _FILLERS), len(after))
    after = [word for word in after[start : start + _OPERAND_WORDS + 1] if word not in _FILLERS]
    phrases = (after[:count] for count in range(min(_OPERAND_WORDS, len(after)), 0, -1))
    return next(filter(None, (_only_match(phrase, numbers) for phrase in phrases)), None)


def _only_match(phrase: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    """Return the only number whose name holds all words of a phrase, or abbreviates them."""
    matches = [column for column in numbers if all(_is_named(word, column) for word in phrase)]
    return matches[0] if len(matches) == 1 else None


def _is_named(word: str, column: Column) -> bool:
    return any(stem(expand(word)) == stem(expand(part)) for part in words(column.name)) or any(
        names_part(word, part) for part in _spelled_out(column)
    )


def _spelled_out(column: Column) -> Iterator[str]:
    """Yield the stems of the parts of a name; that of a plural may be abbreviated: `msgs`."""
    for part in words(column.name):
        yield stem(unabbreviate(part))
        yield stem(unabbreviate(part.removesuffix("s")))


def _counted_unit(after: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    """Return the column that counts the unit after "per": persons, things, or an amount in a unit."""
    if not after:
        return None
    if after[0] in _PERSONS:
        persons = [column for column in numbers if _PERSON_COUNTS & set(words(column.name))]
        if len(persons) == 1:
            return persons[0]
    if column := _counts(after[:2], numbers) or _counts(after[:1], numbers):
        return column
    square = _SQUARES.get("".join(after[1:2])) if after[0] in ("square", "sq") else None
    unit = find_unit(square or after[0])
    if unit is None:
        return None
    if unit.dimension == "time":
        return _measured_time(after, numbers)
    measured = [column for column in numbers if unit in (unit_of(column), *map(find_unit, words(column.name)))]
    if after[1:2] == ["of"]:  # "per kg of feed"
        operand = _first_operand(after[2:], measured) or _first_operand(after[2:], numbers)
        if operand:
            return operand
    return measured[0] if len(measured) == 1 else None


def _measured_time(after: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    """Return the column of a span of time: "per month of tenure", and not "sales per hour" or "of the day"."""
    operand = [word for word in after[2:] if word not in _FILLERS]
    if after[1:2] != ["of"] or not operand or find_unit(operand[0]):
        return None
    column = _first_operand(operand, numbers)
    unit = unit_of(column) if column else None
    return column if unit and unit.dimension == "time" else None


def _counts(phrase: Sequence[str], numbers: Sequence[Column]) -> Column | None:
    """Return the only number of things of a kind: `nights`, `n_msgs`, `chair_mins`, and no `store`."""
    column = _only_match(phrase, numbers)
    if column is None:
        return None
    parts = words(column.name)
    is_plural = any(part.endswith("s") for part in parts)
    is_amount = unit_of(column) is not None and parts[-1:] != [phrase[-1]]
    is_rhythm = len(phrase) == 1 and phrase[0] in SECONDS_BY_UNIT and len(parts) > 1
    return column if (is_plural or is_amount or _COUNTS & {*parts}) and not is_rhythm else None
