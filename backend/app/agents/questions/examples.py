"""Examples of questions that a table answers."""

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.matching.value_matching import flag_values


def example_questions(table: TableProfile) -> tuple[str, ...]:
    """Make a few example questions about a table, from its first columns."""
    numbers = [
        c
        for c in table.columns
        if c.is_number and not c.is_stored_as_text and c.hint == "numeric" and c.distinct > 2
    ]
    classes = [c for c in table.columns if _is_class(c)]
    flags = [c for c in table.columns if flag_values(c)]
    # Every table answers this one, whatever its columns are.
    questions = ["the number of rows"]
    if numbers:
        by = f" by `{classes[0].name}`" if classes else ""
        questions.insert(0, f"the mean of `{numbers[0].name}`{by}")
    if classes:
        questions.append(f"the number of rows by `{classes[0].name}`")
    if flags:
        questions.append(f"the `{flags[0].name}` rate")
    return tuple(questions)


def _is_class(column: Column) -> bool:
    return column.hint in ("category", "boolean") and 2 <= column.distinct <= 20 and not column.is_number
