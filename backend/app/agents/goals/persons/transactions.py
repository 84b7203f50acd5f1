"""Transactions of persons: the tables that hold them, and the columns of which inputs are made."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.agents.goals.columns.named_columns import date_columns
from app.agents.goals.goal import Goal
from app.agents.goals.periods.phrases import is_money, is_total, is_unit_price
from app.agents.goals.periods.time_axis import TimeAxis
from app.agents.goals.persons.person_table import PersonDetails
from app.agents.goals.series.axis_detection import find_time_axes
from app.agents.goals.tables.column_formula import Derivation
from app.agents.goals.tables.profiles import Column, TableProfile, mentioned_tables
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import PERSONS, word_set

PERSON_STEMS = frozenset(map(stem, PERSONS))
MIN_ROWS_PER_PERSON = 1.5
"""Mean rows of a person from which a table is taken for what persons did, not for a list of them."""
MAX_NAMES_OF_TYPE = 30
"""Values of a column of persons' types: `customer_type` has few values, and a number of persons many."""
MAX_AMOUNTS, MAX_CATEGORIES = 5, 8
"""Columns of transactions that are inputs: each gives several, and a journal of many has few that matter."""
MAX_CATEGORY_SHARE = 0.5
"""Different values of a category as a share of the rows: more are numbers of single transactions."""
_OTHER_TIMES = frozenset(
    map(stem, word_set("birth born dob ship shipped deliver delivery due expiry expire update updated signup"))
)
"""Stems of dates that are not those of a transaction."""
_BIRTH = re.compile(r"birth|born|gender|^sex$|age_?group", re.IGNORECASE)
"""Names of numbers of a person that no transaction changes."""


@dataclass(frozen=True)
class Transactions:
    """A table of what persons did: the columns of the person and the time."""

    table: TableProfile
    person: Column
    time: Column
    axis: TimeAxis
    first: date
    last: date

    @property
    def end(self) -> date:
        """The day after the last row."""
        return self.last + timedelta(days=1)

    @property
    def history_days(self) -> int:
        return (self.end - self.first).days

    @property
    def rows_per_person(self) -> float:
        return self.table.rows * (1 - self.person.missing) / max(self.person.distinct, 1)

    @property
    def noun(self) -> str:
        """The word for a person."""
        return next(word for word in words(self.person.name) if stem(word) in PERSON_STEMS)


def find_transactions(goal: Goal, tables: Sequence[TableProfile]) -> Transactions | None:
    """Find the table of what persons did, that of the goal's own words first."""
    mentioned = mentioned_tables(tables, goal.text)
    ordered = [*mentioned, *(table for table in tables if table not in mentioned)]
    return next((match for table in ordered for match in _find_in(goal, table)), None)


def _find_in(goal: Goal, table: TableProfile) -> Iterator[Transactions]:
    goal_stems = set(stems(goal.text))
    # The person of whom the goal speaks comes first: rows may name who serves, too.
    columns = sorted(table.columns, key=lambda column: not goal_stems & set(stems(column.name)) & PERSON_STEMS)
    dates = sorted(date_columns(goal, table), key=lambda column: bool(_OTHER_TIMES & set(stems(column.name))))
    for person in columns:
        if _tells_persons_apart(person, table) and dates:
            yield from _with_time(table, person, dates[0])


def _with_time(table: TableProfile, person: Column, date_column: Column) -> Iterator[Transactions]:
    for measured in find_time_axes(table):
        low, high = measured.low, measured.high
        if date_column.name in measured.axis.columns and low and high:
            yield Transactions(table, person, date_column, measured.axis, low.date(), high.date())
            return


def _tells_persons_apart(column: Column, table: TableProfile) -> bool:
    if PERSON_STEMS.isdisjoint(stems(column.name)):
        return False
    tells_who = column.hint in ("id", "text", "constant") or column.distinct > MAX_NAMES_OF_TYPE
    return tells_who and column.distinct > 0 and table.rows >= MIN_ROWS_PER_PERSON * column.distinct


@dataclass(frozen=True)
class TransactionColumns:
    """The inputs of transactions. `amount`: what a person spends, possibly computed by `derivation`."""

    amount: str | None
    derivation: Derivation | None
    amounts: list[str]
    categories: list[str]
    returns: str | None


def choose_columns(transactions: Transactions, excluded: Sequence[str]) -> TransactionColumns:
    """Choose what of transactions is aggregated, without excluded columns."""
    structural = {transactions.person.name, *transactions.axis.columns, *excluded}
    columns = [column for column in transactions.table.columns if column.name not in structural]
    numbers = [column for column in columns if _is_amount(column, transactions.table)]
    derivation = _find_revenue(numbers)
    amount = derivation.name if derivation else _choose_amount(numbers)
    names = [column.name for column in numbers if column.name != amount]
    amounts = [*([amount] if amount else []), *names][:MAX_AMOUNTS]
    categories = [column.name for column in columns if _is_category(column, transactions.table)]
    # What is bought back is below zero: as an amount of money, or as a quantity.
    signed = [column for column in numbers if isinstance(column.low, int | float) and column.low < 0]
    returns = next((c.name for c in signed if c.name == amount or _counts_pieces(c)), None)
    return TransactionColumns(amount, derivation, amounts, categories[:MAX_CATEGORIES], returns)


def _is_amount(column: Column, table: TableProfile) -> bool:
    is_code = column.hint in ("id", "constant", "empty") or column.numbers_rows or column.unique
    is_number_of_other = bool({"id", "no", "nr", "key", "code", "number"} & set(words(column.name)))
    return column.is_number and not is_code and not is_number_of_other and table.rows > 0


def _is_category(column: Column, table: TableProfile) -> bool:
    if column.is_number or column.type == "datetime" or column.hint in ("constant", "empty", "datetime"):
        return False
    return 2 <= column.distinct <= max(MAX_CATEGORY_SHARE * table.rows, 2)


def _counts_pieces(column: Column) -> bool:
    return bool({stem("quantity"), "qty", stem("units"), stem("items")} & set(stems(column.name)))


def _find_revenue(numbers: Sequence[Column]) -> Derivation | None:
    """Find the product of a quantity and a price where no column holds the amount of a row."""
    if any(is_money(column) and not is_unit_price(column) for column in numbers):
        return None
    quantity = next((column for column in numbers if _counts_pieces(column)), None)
    price = next((column for column in numbers if is_unit_price(column)), None)
    if quantity is None or price is None or quantity.is_stored_as_text or price.is_stored_as_text:
        return None
    return Derivation(kind="product", first=quantity.name, second=price.name, is_revenue=True)


def _choose_amount(numbers: Sequence[Column]) -> str | None:
    """Choose the amount of a row: a total before other money, money before a single other number."""
    money = [column for column in numbers if is_money(column) and not is_unit_price(column)]
    totals = [column for column in money if is_total(column)]
    best = next(iter([*totals, *money]), None)
    if best is None and len(numbers) == 1:
        best = numbers[0]
    return best.name if best else None


def find_details(
    transactions: Transactions, tables: Sequence[TableProfile], excluded: Sequence[str]
) -> tuple[PersonDetails | None, list[str]]:
    """Find a table with one row for each person; return its inputs, and the columns that are none of them.

    Numbers are left out: a total of today counts what came after a cutoff. A year of birth does not.
    """
    person = transactions.person
    for table in tables:
        key = next((column for column in table.columns if _is_key(column, person)), None)
        if table.name == transactions.table.name or key is None:
            continue
        own = {column.name for column in transactions.table.columns}
        columns = [column for column in table.columns if column.name not in {key.name, *own, *excluded}]
        dates = [column.name for column in table.dates if column in columns and not column.is_stored_as_text]
        fixed = [column.name for column in columns if column.name not in dates and _is_fixed(column, table)]
        left_out = [column.name for column in columns if column.name not in (*dates, *fixed)]
        return PersonDetails(table=table.name, key=key.name, columns=fixed, dates=dates), left_out
    return None, []


def _is_key(column: Column, person: Column) -> bool:
    is_same = column.name.casefold() == person.name.casefold()
    names_person = bool(PERSON_STEMS & set(stems(column.name)) & set(stems(person.name)))
    return column.unique and (is_same or names_person or column.name.casefold() == "id")


def _is_fixed(column: Column, table: TableProfile) -> bool:
    if column.is_number:
        return bool(_BIRTH.search(column.name))
    if column.hint in ("id", "constant", "empty", "datetime") or column.type == "datetime":
        return False
    # A value of hardly anybody else is a name, and says nothing of others.
    return not column.unique and column.distinct <= MAX_CATEGORY_SHARE * table.rows
