"""The words of a table of persons: the understanding of its goal, and its description in the report."""

from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions
from app.agents.goals.persons.person_features import list_features
from app.agents.goals.persons.person_table import PersonTable
from app.counts import describe_count


def describe_reading(
    table: PersonTable, rows: str, conditions: list[RowCondition], *, wants_drivers: bool = False
) -> str:
    """Describe what is predicted of whom. `rows`: name of the table of transactions."""
    persons = f"{table.noun} (`{table.person}`){_whose(table)}"
    drivers = f" On held-out {table.noun} I will measure what that goes with." if wants_drivers else ""
    only = f" where {describe_conditions(conditions)}" if conditions else ""
    days = describe_count(table.horizon_days, "day")
    return (
        f"I will predict for each of the {persons} {_question(table, rows)}{only} in the {days}"
        f" from {table.end} on, the end of the data. For that I make one row for each"
        f" `{table.person}` and cutoff from `{rows}`: its inputs are from before the cutoff, its outcome is"
        f" from the {days} after it, at {describe_count(table.cutoffs, 'earlier cutoff')}.{drivers}"
    )


def _whose(table: PersonTable) -> str:
    conditions = table.details.filter if table.details else []
    return f" whose {describe_conditions(conditions)}" if conditions else ""


def _question(table: PersonTable, rows: str) -> str:
    return {
        "active": f"if there is a row of `{rows}`",
        "inactive": f"if there is no row of `{rows}`",
        "sum": f"the sum of `{table.amount}` of `{rows}`",
        "count": f"the number of rows of `{rows}`",
    }[table.outcome]


def describe_construction(table: PersonTable, rows: str) -> list[str]:
    """Describe the table for the report: its rows, cutoffs, outcome and inputs."""
    *earlier, newest = table.dates_of_cutoffs
    days = describe_count(table.horizon_days, "day")
    persons = f"`{table.person}`{_whose(table)}"
    present = f", and in the {days} before it" if table.outcome == "inactive" else ""
    texts = [
        f"It has one row for each {persons} and cutoff, of those with a row of `{rows}` before the cutoff"
        f"{present}. Inputs are from before the cutoff alone.",
        f"`{table.name}` is the outcome: {_question(table, rows)} in the {days} from the cutoff on.",
        f"Cutoffs with an outcome: {', '.join(map(str, earlier))}. The outcomes of no two overlap. At the end"
        f" of the data, {newest}, the outcome is to come: these rows are predicted.",
        *(f"Input `{feature.name}`: {feature.meaning}." for feature in list_features(table)),
    ]
    if table.details and (details := [*table.details.columns, *table.details.dates]):
        names = ", ".join(f"`{name}`" for name in details)
        texts.append(f"Inputs from `{table.details.table}`: {names}; a date counts from its day on.")
    return texts
