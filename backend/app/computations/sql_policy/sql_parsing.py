"""Parsing of SQL in DuckDB's dialect, with bounded work: sqlglot tries nested types again at each level."""

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.parsers.duckdb import DuckDBParser

RETREATS_PER_TOKEN = 20
"""Attempts that a parser may take back for each token: ordinary queries of any depth need up to 4."""
MIN_RETREATS = 2_000
"""Attempts that any text may take back: types in eight levels need 1,800, and each further level twice that."""


class TooManyReadings(SqlglotError):
    """A text whose parser goes back too often, such as 20 nested calls of `date`, or calls itself too deep."""


class _BoundedParser(DuckDBParser):
    """Parser of DuckDB's dialect that counts how often it goes back to read tokens in another way."""

    _retreats = 0
    _max_retreats = 0

    def parse(self, raw_tokens: list[sqlglot.Token], sql: str) -> list[exp.Expr | None]:
        self._retreats, self._max_retreats = 0, MIN_RETREATS + RETREATS_PER_TOKEN * len(raw_tokens)
        trees: list[exp.Expr | None] = super().parse(raw_tokens, sql)
        return trees

    def _retreat(self, index: int) -> None:
        self._retreats += 1
        if self._retreats > self._max_retreats:
            raise TooManyReadings("its calls and types are nested too deep.")
        super()._retreat(index)


_DIALECT = DuckDB()


def parse_sql(text: str) -> list[exp.Expr]:
    """Parse the statements of a text, without a comment after the last one. Raises SqlglotError."""
    try:
        trees = _BoundedParser(dialect=_DIALECT).parse(_DIALECT.tokenize(text), text)
    except RecursionError as error:
        raise TooManyReadings("it is nested too deep.") from error
    return [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]


def parse_single(text: str) -> exp.Expr:
    """Parse a text of one statement or expression. Raises SqlglotError, also for an empty text."""
    trees = parse_sql(text)
    if len(trees) != 1:
        raise SqlglotError(f"it holds {len(trees)} statements, not one.")
    return trees[0]
