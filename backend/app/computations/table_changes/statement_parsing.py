"""Reading of statements: their text as trees, and refusals of what has no form as one SELECT."""

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.computations.sql_policy.select_policy import MAX_CHARACTERS, parse_statements
from app.computations.table_changes.tables import refuse

MAX_STATEMENTS = 50
"""Statements of one message: each reads and writes a table, in 30 s together."""
MAX_NAME_CHARS = 63
"""Characters of a table name, as in Postgres."""
_NAME = re.compile(rf"[^\W\d]\w{{0,{MAX_NAME_CHARS - 1}}}")
_RESERVED_NAMES = frozenset({"table", "dataset"})
"""Names with a meaning of their own: the rows of an answer, and the schema of datasets."""

CHANGES = (exp.Create, exp.Insert, exp.Update, exp.Delete, exp.Alter, exp.Drop)
QUERIES = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
ADMITTED = (
    "SELECT, CREATE TABLE or VIEW ... AS, INSERT, UPDATE, DELETE, ALTER TABLE and DROP are admitted in a "
    "conversation"
)
_ADVICE: dict[type[exp.Expr], str] = {
    exp.TruncateTable: "Use DELETE FROM without a WHERE.",
    exp.Merge: "Use CREATE OR REPLACE TABLE ... AS SELECT with a join.",
    exp.Copy: "The rows of an answer can be downloaded as a file.",
    exp.Describe: "GET /worldlines/{id}/workspace has the columns of each table.",
    exp.Summarize: 'Ask "describe the columns", or send a plan with the step `profile`.',
    exp.Transaction: "All statements of a message hold together, or none does.",
    exp.Commit: "All statements of a message hold together, or none does.",
    exp.Rollback: "All statements of a message hold together, or none does.",
}


def read_statements(text: str) -> list[exp.Expr]:
    """Parse the statements of a message. Raises InvalidInput for what cannot be read or is not admitted."""
    if len(text) > MAX_CHARACTERS:
        raise refuse(f"The query has more than {MAX_CHARACTERS:,} characters.", "sql_too_long")
    if "\x00" in text:
        raise refuse("The query holds a NUL character.", "sql_invalid")
    try:
        # Copies: statements are rewritten.
        parsed = [statement.copy() for statement in parse_statements(text)]
    except SqlglotError as error:
        # sqlglot underlines the place of an error with codes for terminals.
        plain = re.sub(r"\x1b\[\d+m", "", str(error)).partition("\n")[0][:300]
        raise refuse(f"The query cannot be read: {plain or 'it is nested too deep.'}", "sql_invalid") from error
    if not parsed:
        raise refuse("There is no statement.", "sql_invalid")
    if len(parsed) > MAX_STATEMENTS:
        raise refuse(f"Send at most {MAX_STATEMENTS} statements at a time, not {len(parsed)}.")
    for statement in parsed:
        if not isinstance(statement, CHANGES + QUERIES):
            raise refuse(f"{_statement_name(statement)} is not admitted: {ADMITTED}.{_advise(statement)}")
    return parsed


def require_only(statement: exp.Expr, admitted: frozenset[str], advice: dict[str, str]) -> None:
    """Refuse parts of a statement that are not rewritten. `advice`: what would do, by part."""
    # What is admitted is listed: a part that a new version of the parser knows must not be dropped in silence.
    extra = [name for name, part in statement.args.items() if part and name not in admitted]
    if extra:
        words = advice.get(extra[0], "Leave it out.")
        part = extra[0].rstrip("_").replace("_", " ").upper()
        raise refuse(f"{part} in {_statement_name(statement)} is not admitted. {words}")


def require_new_name(name: str) -> None:
    """Check the name of a new table or view."""
    if not _NAME.fullmatch(name) or name.casefold() in _RESERVED_NAMES:
        raise refuse(
            f"{name!r} cannot name a table: use letters, digits and _, at most {MAX_NAME_CHARS}, beginning "
            "with a letter; not `table` or `dataset`.",
            "invalid_name",
        )


def _advise(statement: exp.Expr) -> str:
    advice = _ADVICE.get(type(statement))
    return f" {advice}" if advice else ""


def _statement_name(statement: exp.Expr) -> str:
    if isinstance(statement, exp.Command):
        return str(statement.this).upper()
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(statement).__name__).upper()
