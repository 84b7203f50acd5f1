"""The words of a table of persons: the understanding of its goal, and its description in the report."""

from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions
from app.agents.goals.persons.person_features import list_features
from app.agents.goals.persons.person_table import PersonTable
from app.counts import describe_count


def describe_reading(table: PersonTable, rows: str, conditions: list[RowCondition]) -> str:
    """Describe what is predicted of whom. `rows`: name of the table of transactions."""
    only = f" where {describe_conditions(conditions)}" if conditions else ""
    days = describe_count(table.horizon_days, "day")
    return (
        f"I will predict for each of the {table.noun} (`{table.person}`) {_question(table, rows)}{only} in"
        f" the {days} from {table.end} on, the end of the data. For that I make one row for each"
        f" `{table.person}` and cutoff from `{rows}`: its inputs are from before the cutoff, its outcome is"
        f" from the {days} after it, at {describe_count(table.cutoffs, 'earlier cutoff')}."
    )


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
    persons = f"`{table.person}`"
    present = f", and in the {days} before it" if table.outcome == "inactive" else ""
    texts = [
        f"It has one row for each {persons} and cutoff, of those with a row of `{rows}` before the"
        f" cutoff{present}. Inputs are from before the cutoff alone.",
        f"`{table.name}` is the outcome: {_question(table, rows)} in the {days} from the cutoff on.",
        f"Cutoffs with an outcome: {', '.join(map(str, earlier))}. The outcomes of no two overlap. At the end"
        f" of the data, {newest}, the outcome is to come: these rows are predicted.",
        *(f"Input `{feature.name}`: {feature.meaning}." for feature in list_features(table)),
    ]
    if table.details and (details := [*table.details.columns, *table.details.dates]):
        names = ", ".join(f"`{name}`" for name in details)
        texts.append(f"Inputs from `{table.details.table}`: {names}; a date counts from its day on.")
    return texts
