"""Goals about what single persons will do: the table of persons that they ask for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import log

from app.agents.goals.columns.named_columns import excluded_columns
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.goal import Goal
from app.agents.goals.persons.calendar_words import MAX_GAP_DAYS, CalendarPeriod, find_calendar_period
from app.agents.goals.persons.person_phrases import (
    asks_how_many,
    find_noun,
    find_outcome,
    horizon_days,
    tells_outcome,
)
from app.agents.goals.persons.person_table import MAX_HORIZON_DAYS, PersonOutcome, PersonTable
from app.agents.goals.persons.transactions import (
    TransactionColumns,
    Transactions,
    choose_columns,
    find_details,
    find_transactions,
)
from app.agents.goals.series.select_sql import NumberText
from app.agents.goals.tables.column_formula import Derivation
from app.agents.goals.tables.profiles import TableProfile
from app.counts import describe_count

USUAL_HORIZONS_DAYS = (7, 14, 30, 60, 90, 180, 365)
"""Horizons of goals that name none."""
GAPS_IN_HORIZON = 0.5
"""Horizon as a multiple of the days of the history for each row of a person. Persons are there for a part of
the history, about half of it where they come evenly, so that this is the usual gap of one."""
MIN_HORIZONS, USUAL_MIN_HORIZONS = 2, 3
"""Horizons that a history has at least, one of inputs and one of outcomes; and those that a default leaves, so
that a later outcome judges the model."""
MAX_CUTOFFS = 12
"""Cutoffs with an outcome that are made: older ones say less of persons of today."""
MAX_ROWS = 300_000
"""Rows of persons and cutoffs: more take minutes of each fit and change no score much."""
MIN_PERSONS = 2
"""Persons of a table: what differs between persons is learned from several."""
MIN_PERSONS_OF_AMOUNTS = 30
"""Persons from which amounts and counts are those of a table of persons: fewer are series, one for each."""
HOW_MANY = "How many of the {noun} these will be is the sum of the probabilities in `predictions.csv`."
"""Note on a goal that asks for a number of persons of whom each is predicted."""


@dataclass(frozen=True)
class PersonRequest:
    """The table of persons that a goal asks for. Without a table, `reason` says why there is none."""

    transactions: Transactions
    table: PersonTable | None = None
    reason: str = ""
    derivation: Derivation | None = None
    notes: list[str] = field(default_factory=list)
    is_default_horizon: bool = False

    def restrict(self, conditions: Sequence[RowCondition]) -> "PersonRequest":
        """Return the request for the persons who meet conditions on the columns of their own table."""
        if self.table is None or self.table.details is None:
            return self
        details = self.table.details.model_copy(update={"filter": [*conditions]})
        return replace(self, table=self.table.model_copy(update={"details": details}))


def find_person_request(goal: Goal, tables: Sequence[TableProfile]) -> PersonRequest | None:
    """Find what a goal asks of persons over rows of what they did; None if it asks for something else.

    A column that tells the outcome already is predicted as it is, and no table is made.
    """
    transactions = find_transactions(goal, tables)
    if transactions is None:
        return None
    has_many = transactions.person.distinct >= MIN_PERSONS_OF_AMOUNTS
    outcome = find_outcome(goal, has_many=has_many)
    if outcome is None or tells_outcome(outcome, tables):
        return None
    return _make_request(goal, transactions, outcome, tables)


def _make_request(
    goal: Goal, transactions: Transactions, outcome: PersonOutcome, tables: Sequence[TableProfile]
) -> PersonRequest:
    excluded = excluded_columns(goal, transactions.table, transactions.person.name)[0]
    columns = choose_columns(transactions, excluded)
    goal_horizon, history = horizon_days(goal), transactions.history_days
    horizon = goal_horizon or _default_horizon(transactions, outcome)
    period = find_calendar_period(goal.text)
    if reason := _find_obstacle(transactions, outcome, columns, horizon) or _find_gap(transactions, period):
        return PersonRequest(transactions, reason=reason)
    details, left_out = find_details(transactions, tables, excluded)
    table = PersonTable(
        person=transactions.person.name,
        noun=find_noun(goal, transactions.noun),
        time=transactions.time.name,
        axis=None if transactions.axis.is_native else transactions.axis,
        numbers=_number_texts(transactions, columns),
        end=transactions.end,
        horizon_days=horizon,
        cutoffs=min(history // horizon - 1, MAX_CUTOFFS, max(1, MAX_ROWS // transactions.person.distinct - 1)),
        outcome=outcome,
        amount=columns.amount if outcome == "sum" else None,
        amounts=columns.amounts,
        categories=columns.categories,
        returns=columns.returns,
        details=details,
    )
    notes = [
        *([HOW_MANY.format(noun=table.noun)] if asks_how_many(goal) else []),
        *([_describe_days(period, table)] if period else []),
        *_notes(table, transactions, is_default=goal_horizon is None),
        *_detail_notes(table, left_out),
    ]
    return PersonRequest(
        transactions,
        table,
        derivation=columns.derivation,
        notes=notes,
        is_default_horizon=goal_horizon is None,
    )


def _find_obstacle(
    transactions: Transactions, outcome: PersonOutcome, columns: TransactionColumns, horizon: int
) -> str:
    """Return the reason why transactions give no table of persons; empty if they give one."""
    if transactions.person.distinct < MIN_PERSONS:
        only = f"`{transactions.person.name}` of `{transactions.table.name}` has one value"
        return f"{only}: a model of persons needs the rows of several."
    if outcome == "sum" and columns.amount is None:
        return f"No column of `{transactions.table.name}` is an amount that could be summed up for a person."
    if transactions.history_days < MIN_HORIZONS * horizon or horizon > MAX_HORIZON_DAYS:
        return _too_short(transactions, horizon)
    return ""


def _find_gap(transactions: Transactions, period: CalendarPeriod | None) -> str:
    """Return the reason why a named month or quarter is not predicted; empty if it follows the data."""
    gap = period.days_until(transactions.end) if period else 0
    if period is None or gap <= MAX_GAP_DAYS:
        return ""
    return (
        f"The rows of `{transactions.table.name}` end on {transactions.last}, and `{period.text}` begins"
        f" {describe_count(gap, 'day')} later: a model of persons predicts the days that follow its rows. Ask"
        f" for the next {describe_count(gap + period.days, 'day')}, which reach to its end."
    )


def _describe_days(period: CalendarPeriod, table: PersonTable) -> str:
    days = describe_count(table.horizon_days, "day")
    return (
        f"`{period.text}` is taken as the {days} from {table.end} on, the end of the data. Cutoffs lie as many"
        " days apart and are no beginnings of calendar periods: a season is not learned as such."
    )


def _number_texts(transactions: Transactions, columns: TransactionColumns) -> dict[str, NumberText]:
    texts = {}
    for name in columns.amounts:
        column = transactions.table.column(name)
        if column and column.is_stored_as_text:
            decimal, group = column.number_signs or (".", ",")
            texts[name] = NumberText.model_validate({"decimal": decimal, "group": group})
    return texts


def _default_horizon(transactions: Transactions, outcome: PersonOutcome) -> int:
    """Return the usual horizon that is nearest to the gap between rows of a person; of values the longest."""
    history = transactions.history_days
    fitting = [days for days in USUAL_HORIZONS_DAYS if days * USUAL_MIN_HORIZONS <= history]
    if not fitting:
        return USUAL_HORIZONS_DAYS[0]
    if outcome == "sum":
        return fitting[-1]
    gap = max(1.0, GAPS_IN_HORIZON * history / transactions.rows_per_person)
    return min(fitting, key=lambda days: abs(log(days / gap)))


def _too_short(transactions: Transactions, horizon: int) -> str:
    history = transactions.history_days
    rows, days = transactions.table.name, describe_count(horizon, "day")
    longest = history // MIN_HORIZONS
    instead = f" Ask for at most {describe_count(longest, 'day')}." if longest else ""
    return (
        f"The rows of `{rows}` cover {describe_count(history, 'day')}, which is too short: outcomes of {days}"
        f" need as long a time after a cutoff, and before it for the inputs.{instead}"
    )


def _notes(table: PersonTable, transactions: Transactions, *, is_default: bool) -> Iterator[str]:
    days = describe_count(table.horizon_days, "day")
    if is_default:
        usual = f"`{table.person}` has {transactions.rows_per_person:.1f} rows on average"
        yield f"The goal says no time: the {days} after a cutoff are taken, since each {usual}."
    missing = transactions.person.missing
    if missing > 0:
        yield f"Rows without `{table.person}` are left out: {missing:.1%} of `{transactions.table.name}`."
    if table.returns:
        yield (
            f"A row with `{table.returns}` below zero takes another back: it counts for no activity, and for"
            " sums as it is."
        )
    if table.outcome == "inactive":
        yield (
            f"Who was not there in the {days} before a cutoff had stopped already, and is not in its rows: no"
            f" row in {days} is what stopping means here."
        )
    if table.cutoffs == 1:
        yield (
            "The history gives one cutoff with an outcome, so that the score is that of other persons at the"
            " same time and not of a later time."
        )
        return
    yield (
        f"The score is that of the {days} from the latest cutoff on: it holds for the {days} to come if they"
        " are like the last ones."
    )


def _detail_notes(table: PersonTable, left_out: Sequence[str]) -> Iterator[str]:
    if table.details and left_out:
        names = ", ".join(f"`{name}`" for name in left_out)
        yield (
            f"Of `{table.details.table}` these are left out, since what they say today may have come after a"
            f" cutoff, or tells nobody from others: {names}."
        )
