"""A change of a table as statements of SQL, and the message that asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.agents.assistant.brief import EarlierTurn
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion

ROW_NUMBER = "row number before the change"
"""Column that keeps rows in their order while a statement is run; no table has it afterwards."""


class ChangeStatements(NamedTuple):
    """Statements that change a table, in words. `rest`: what the message asks for after it.

    `rows_before`: those of the table, where the change removes some. `column`: the one that it makes.
    """

    table: str
    statement: str
    sentence: str
    rest: str = ""
    rows_before: int | None = None
    column: str = ""


class UnclearTableChange(NamedTuple):
    """The reason why a change that was asked for is not made."""

    reason: str


Reading = ChangeStatements | UnclearTableChange | None
"""A message as a change of a table, the reason why none is made, or None for a message that asks for none."""


@dataclass(frozen=True)
class ChangeRequest:
    """A message without its courtesies. `parse_question`: reads words as a question about the tables."""

    text: str
    tables: Sequence[TableProfile]
    earlier: Sequence[EarlierTurn]
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion]

    @property
    def shown_columns(self) -> frozenset[str]:
        """The columns of the last result, which a message may mean as well as those of a table."""
        last = next((turn for turn in reversed(self.earlier) if turn.has_result and not turn.changed), None)
        return frozenset(last.columns) if last else frozenset()

    def narrow(self, tables: Sequence[TableProfile]) -> "ChangeRequest":
        """Return the same request about fewer tables."""
        return replace(self, tables=tables)

    def find_table(self, phrase: str) -> TableProfile | None:
        """Find a table by its name, with or without an article and the word `table`."""
        plain = phrase.casefold().strip("`\"' ")
        for word in ("the ", "my ", "table ", "dataset ", "data set "):
            plain = plain.removeprefix(word)
        plain = plain.removesuffix(" table").removesuffix(" dataset").strip("`\"' ")
        return next((table for table in self.tables if table.name.casefold() == plain), None)


def quote(name: str) -> str:
    """Write a name as an identifier of SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def quote_text(text: str) -> str:
    """Write a text as a literal of SQL."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def write_table(name: str, query: str, replaces: bool = True) -> str:
    """Write the statement that makes a table of the rows of a query. `name` is any name, `query` a SELECT."""
    return f"CREATE {'OR REPLACE ' if replaces else ''}TABLE {quote(name)} AS {query}"


def select_rows(table: str, columns: str = "*") -> str:
    """Write a SELECT of columns, which are SQL, of all rows of a table."""
    return f"SELECT {columns} FROM {quote(table)}"  # noqa: S608 - names are quoted


def replace_columns(table: str, expressions: dict[str, str]) -> str:
    """Write a table anew with other expressions in place of columns, `{column: expression}`."""
    return write_table(table, select_rows(table, f"* REPLACE ({_list_expressions(expressions)})"))


def rewrite_in_order(table: str, expressions: dict[str, str], condition: str = "") -> str:
    """Write a table anew by window functions, with its rows in their order, which windows do not keep.

    `expressions` take the place of columns. `condition`: a QUALIFY that rows meet; it may use ROW_NUMBER.
    """
    number = quote(ROW_NUMBER)
    columns = f" REPLACE ({_list_expressions(expressions)})" if expressions else ""
    numbered = select_rows(table, f"*, row_number() OVER () AS {number}")
    qualify = f" QUALIFY {condition}" if condition else ""
    selection = f"SELECT * EXCLUDE ({number}){columns}"
    query = f"{selection} FROM ({numbered}) AS numbered{qualify} ORDER BY {number}"
    return write_table(table, query)


def _list_expressions(expressions: dict[str, str]) -> str:
    return ", ".join(f"{expression} AS {quote(name)}" for name, expression in expressions.items())


def list_names(names: Sequence[str]) -> str:
    """List names in backticks: `a`, `b` and `c`."""
    ticked = [f"`{name}`" for name in names]
    return ticked[0] if len(ticked) == 1 else f"{', '.join(ticked[:-1])} and {ticked[-1]}"
