"""Messages that make a column: "create a column margin = (revenue - cost) / revenue, then show it"."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from sqlglot import exp

from app.agents.assistant.tables.column_expressions import parse_expression
from app.agents.goals.tables.profiles import TableProfile
from app.computations.sql_policy.sql_parsing import parse_single
from app.modeling.problem.name_resolution import hint_names, nearest_names

_REQUEST = re.compile(
    r"\W{0,5}(?:please )?(?:(?:can|could) you )?(?:please )?(?:create|add|make|compute|calculate|derive|define)"
    r" (?:me )?(?:an? |the |another )?(?:new )?(?:calculated |computed |derived )?(?:column|field|feature)"
    r" (?:called |named )?[\"'`]?(\w{1,60})[\"'`]?(?: (?:to|in|of|on) (?:the )?(?:table )?(\w{1,60}))?"
    r" ?(?:=|:|as|equal to|which is|that is|from) ?(.{1,2000})",
    re.IGNORECASE | re.DOTALL,
)
_THEN = re.compile(
    r"(?:[,;.]| and)? ?\b(?:and then|then|and (?=show|plot|draw|give|list))\b,? ?|[;\n]|\. (?=[A-Z])"
)
MAX_SPLITS = 50
"""Places at which a message is tried to be split: a CASE has one for each of its values, rarely ten."""
_ITS = re.compile(r"\bits (\w{1,40})\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|that column|the new column|this column)\b", re.IGNORECASE)


class NewColumn(NamedTuple):
    """A column to make: its expression as it was written. `rest`: what the message asks for after it."""

    table: str
    name: str
    expression: str
    rest: str

    def make_sql(self, columns: Sequence[str]) -> str:
        """Build the statement that writes the table with the column."""
        tree = parse_single(self.expression)
        value = exp.alias_(exp.paren(tree), self.name, quoted=True)
        former = next((column for column in columns if column.casefold() == self.name.casefold()), None)
        star = exp.Star()
        if former is not None:
            # A column that is there keeps its place and spelling.
            star.set("replace", [exp.alias_(exp.paren(tree), former, quoted=True)])
        table = exp.to_identifier(self.table, quoted=True)
        rows = exp.select(star) if former is not None else exp.select(star, value)
        rows = rows.from_(exp.Table(this=table))
        create = exp.Create(this=exp.Table(this=table.copy()), kind="TABLE", replace=True, expression=rows)
        return create.sql(dialect="duckdb", normalize_functions=False)

    def describe(self) -> str:
        return f"Made the column {self.name} = {self.expression} in {self.table}."


class UnclearColumn(NamedTuple):
    """The reason why a column cannot be made."""

    reason: str


def parse_new_column(message: str, tables: Sequence[TableProfile]) -> NewColumn | UnclearColumn | None:
    """Read a message that makes a column; None for another one."""
    request = _REQUEST.fullmatch(message.strip())
    if request is None:
        return None
    name, table, text = request.groups()
    expression, rest = _split(text)
    tree = parse_expression(expression)
    if tree is None:
        return UnclearColumn(
            f"The column {name} needs an expression of columns and numbers, such as (revenue - cost) / cost, "
            f"not: {expression}."
        )
    candidates = [profile for profile in tables if table is None or profile.name.casefold() == table.casefold()]
    if not candidates:
        return UnclearColumn(f"There is no table {table}. {hint_names((), [t.name for t in tables])}")
    used = {column.name.casefold(): column.name for column in tree.find_all(exp.Column)}
    fitting = [profile for profile in candidates if used.keys() <= {c.name.casefold() for c in profile.columns}]
    if fitting:
        return NewColumn(fitting[0].name, name, expression, name_pronouns(rest, name))
    return UnclearColumn(_explain_missing(used, candidates))


def name_pronouns(rest: str, name: str) -> str:
    """Put the name of a column for `it` and `its`: rules that read the rest do not know what stood before."""
    return _IT.sub(name, _ITS.sub(rf"the \1 of {name}", rest, count=1), count=1)


def _split(text: str) -> tuple[str, str]:
    """Split the expression from what is asked for after it.

    The `then` of a CASE and a `;` in quotes belong to the expression: the first place counts before which a
    text is an expression. Where there is none, the text is split at the first place at all.
    """
    splits = [
        (text[: then.start()].strip().rstrip(".,"), text[then.end() :].strip())
        for then in islice(_THEN.finditer(text), MAX_SPLITS)
    ]
    unsplit = (text.strip().rstrip(".!"), "")
    valid = (split for split in [*splits, unsplit] if parse_expression(split[0]) is not None)
    return next(valid, (splits or [unsplit])[0])


def _explain_missing(used: dict[str, str], candidates: Sequence[TableProfile]) -> str:
    names = [column.name for profile in candidates for column in profile.columns]
    folded = {name.casefold() for name in names}
    missing = next((name for key, name in used.items() if key not in folded), "")
    if not missing:
        return "No table has all of these columns; join two with `SQL: CREATE TABLE ... AS SELECT`."
    return f"There is no column {missing}. {hint_names(nearest_names(missing, names), names)}"
