"""Which failures mean that Postgres is away."""

import errno

import asyncpg
import pytest

from app.db.pool import is_away


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError(), TimeoutError(), asyncpg.TooManyConnectionsError("too many clients")]
)
def test_a_server_that_takes_no_statement_is_away(error: Exception) -> None:
    assert is_away(error)


def test_a_statement_that_is_wrong_is_not() -> None:
    assert not is_away(asyncpg.DataError("no number"))
    assert not is_away(OSError(errno.ENOSPC, "No space left on device"))
    assert not is_away(asyncpg.UniqueViolationError("twice"))
