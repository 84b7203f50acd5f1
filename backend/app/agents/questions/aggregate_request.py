"""The aggregates that a question asks for, and what all rules for them need."""

from dataclasses import dataclass

from app.agents.goals.tables import Column
from app.agents.goals.tokenizer import words
from app.agents.questions.marking import flag_values
from app.agents.questions.query import Aggregate, Condition, Function, GroupKey
from app.agents.questions.sentence import ColumnMark, NotUnderstood, Sentence

NUMERIC_FUNCTIONS: frozenset[Function] = frozenset(
    {"mean", "median", "total", "spread", "percentile", "correlation"}
)


@dataclass(frozen=True)
class AggregateRequest:
    """The aggregates of a question, with the groups, limit and order that its phrasing implies."""

    measures: tuple[Aggregate, ...]
    groups: tuple[GroupKey, ...] = ()
    limit: int | None = None
    descending: bool = True
    is_listing: bool = False
    is_share: bool = False


COUNT_ROWS = Aggregate("count")


def require_numeric(column: Column, function: Function) -> str:
    """Return the name of a column that the function applies to. Raises NotUnderstood."""
    is_native = not column.is_stored_as_text
    if function in NUMERIC_FUNCTIONS and not (column.is_number and is_native):
        kind = "text" if column.is_stored_as_text else column.type
        raise NotUnderstood(f"`{column.name}` holds {kind}, and there is no {function} of that.")
    return column.name


def all_columns(sentence: Sentence) -> list[str]:
    """Take the columns that the sentence still names, in order."""
    names = []
    while mark := sentence.take(r"\b(?P<column>C\d+)\b", ColumnMark):
        names.append(sentence.column(mark.column).name)
    return list(dict.fromkeys(names))


def make_rate(sentence: Sentence, mark: str) -> Aggregate:
    """Make the share of rows where a column says yes. Raises NotUnderstood for other columns."""
    column = sentence.column(mark)
    flag = flag_values(column)
    if flag is None:
        raise NotUnderstood(f"A rate is of a yes or no, and `{column.name}` is none.")
    sentence.interpretations.append(f"The rate is the share of rows where `{column.name}` is {flag[1]}.")
    return Aggregate("share", conditions=(Condition(column.name, "is", flag[1]),))


def row_name_column(sentence: Sentence) -> str:
    """Return the column that names the rows. Raises NotUnderstood without exactly one."""
    names = [c.name for c in sentence.question.table.columns if "name" in words(c.name)]
    if len(names) != 1:
        raise NotUnderstood("It asks which row, and there is no one column that names the rows.")
    sentence.interpretations.append(f"Rows are called by `{names[0]}`.")
    return names[0]
