"""The SELECT that makes a table of persons at cutoffs of the rows of a source.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.queries.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names, dates and numbers only

from app.agents.goals.conditions.row_conditions import select_rows
from app.agents.goals.periods.time_axis import AxisPart, TimeAxis
from app.agents.goals.persons.person_features import RECENCY, list_features
from app.agents.goals.persons.person_table import CUTOFF, PersonDetails, PersonTable
from app.agents.goals.series.period_sql import moment_sql, number_sql
from app.agents.goals.series.select_sql import select_all
from app.plans.identifiers import quote_identifier


def select_persons(source: str, table: PersonTable) -> str:
    """Return a SELECT of one row for each person and cutoff, in their order.

    The inputs are aggregated from `past`, which joins each cutoff with rows before it, and the outcome from
    `future`, with rows from it on: no row from after a cutoff can reach an input. Rows of the newest cutoff
    have no outcome. Rows without a person or a time are left out.
    """
    features = list_features(table)
    cells = ", ".join(f"{feature.sql} AS {quote_identifier(feature.name)}" for feature in features)
    names = "".join(f", past.{quote_identifier(feature.name)}" for feature in features)
    details, join = _details(table.details) if table.details else ("", "")
    person = quote_identifier(table.person)
    # Who had stopped before a cutoff cannot stop after it.
    present = f" WHERE is_present AND {_is_recent(table)}" if table.outcome == "inactive" else ""
    return (
        f"WITH activities AS ({_activities(source, table)}), cutoffs AS ({_cutoffs(table)}), "
        f"past AS (SELECT cutoff, person, {cells}, bool_or(is_activity) AS is_present FROM cutoffs "
        "JOIN activities ON moment < cutoff GROUP BY cutoff, person), "
        "future AS (SELECT cutoff, person, count(*) FILTER (is_activity) AS activity_count, "
        "sum(amount) AS amount FROM cutoffs JOIN activities "
        f"ON moment >= cutoff AND moment < cutoff + to_days({table.horizon_days}) GROUP BY cutoff, person) "
        f"SELECT CAST(past.cutoff AS DATE) AS {CUTOFF}, past.person AS {person}{names}{details}, CASE WHEN "
        f"past.cutoff < {_timestamp(table)} THEN {_outcome(table)} END AS {quote_identifier(table.name)} "
        f"FROM past LEFT JOIN future USING (cutoff, person){join}{present} ORDER BY past.cutoff, past.person"
    )


def _is_recent(table: PersonTable) -> str:
    return f"past.{quote_identifier(RECENCY)} <= {table.horizon_days}"


def _timestamp(table: PersonTable) -> str:
    return f"TIMESTAMP '{table.end.isoformat()}'"


def _cutoffs(table: PersonTable) -> str:
    dates = ", ".join(f"TIMESTAMP '{cutoff.isoformat()}'" for cutoff in table.dates_of_cutoffs)
    return f"SELECT unnest([{dates}]) AS cutoff"


def _activities(source: str, table: PersonTable) -> str:
    """SQL of the rows of persons with a time: their moment, amounts and categories under names of their own."""
    axis = table.axis or TimeAxis(parts=[AxisPart(column=table.time, unit="moment")])
    person = quote_identifier(table.person)
    amounts = "".join(
        f", CAST({_number(table, name)} AS DOUBLE) AS amount_{place}"
        for place, name in enumerate(table.amounts)
    )
    categories = "".join(
        f", CAST({quote_identifier(name)} AS VARCHAR) AS category_{place}"
        for place, name in enumerate(table.categories)
    )
    amount = f"CAST({_number(table, table.amount)} AS DOUBLE)" if table.amount else "CAST(NULL AS DOUBLE)"
    is_activity = f"COALESCE({_number(table, table.returns)} >= 0, true)" if table.returns else "true"
    return (
        f"SELECT * FROM (SELECT {person} AS person, CAST({moment_sql(axis)} AS TIMESTAMP) AS moment, "
        f"{is_activity} AS is_activity, {amount} AS amount{amounts}{categories} "
        f"FROM ({source}) AS source_rows) AS dated_rows "
        "WHERE person IS NOT NULL AND trim(CAST(person AS VARCHAR)) <> '' AND moment IS NOT NULL"
        f"{_persons_condition(table.details)}"
    )


def _persons_condition(details: PersonDetails | None) -> str:
    """SQL that leaves persons who do not meet the conditions of their table out, from all cutoffs."""
    if details is None or not details.filter:
        return ""
    persons = select_rows(select_all(details.table), details.filter)
    key = quote_identifier(details.key)
    return f" AND CAST(person AS VARCHAR) IN (SELECT CAST({key} AS VARCHAR) FROM ({persons}) AS persons)"


def _number(table: PersonTable, name: str) -> str:
    return number_sql(quote_identifier(name), table.numbers.get(name))


def _outcome(table: PersonTable) -> str:
    count = "COALESCE(future.activity_count, 0)"
    return {
        "active": f"CASE WHEN {count} > 0 THEN 'yes' ELSE 'no' END",
        "inactive": f"CASE WHEN {count} > 0 THEN 'no' ELSE 'yes' END",
        "sum": "COALESCE(future.amount, 0)",
        "count": count,
    }[table.outcome]


def _details(details: PersonDetails) -> tuple[str, str]:
    """SQL of the columns that describe a person, and of the join that brings them.

    A date counts from its day on: one that lies after a cutoff was not there yet.
    """
    names = [*details.columns, *details.dates]
    # A person with several rows in the table of details stays one row.
    values = "".join(f", min({quote_identifier(name)}) AS {quote_identifier(name)}" for name in names)
    columns = "".join(f", details.{quote_identifier(name)}" for name in details.columns)
    for name in details.dates:
        moment = f"TRY_CAST(details.{quote_identifier(name)} AS TIMESTAMP)"
        days = f"date_diff('day', {moment}, past.cutoff)"
        since = quote_identifier(f"days since {name}")
        columns += f", CASE WHEN {moment} < past.cutoff THEN {days} END AS {since}"
    rows = (
        f"SELECT CAST({quote_identifier(details.key)} AS VARCHAR) AS detail_key{values} "
        f"FROM {quote_identifier(details.table)} GROUP BY 1"
    )
    return columns, f" LEFT JOIN ({rows}) AS details ON details.detail_key = CAST(past.person AS VARCHAR)"
