"""Migrated databases that tests use one after the other, emptied in between.

To create a database and to drop it costs 0.1 to 0.2 s of processor time, most of it the kernel's for a thousand
files; to empty one costs a tenth of that.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

MAX_TABLE_BYTES = 1_000_000
"""Bytes of a table, its deleted rows among them, up to which its database is used again. Readers pass over
deleted rows at a cost, and most tests leave a few pages."""

_SCHEMA_AND_BYTES = """
SELECT md5(concat_ws(';',
    (SELECT string_agg(oid || ':' || xmin, ',' ORDER BY oid) FROM pg_class WHERE oid >= 16384),
    (SELECT string_agg(oid || ':' || xmin, ',' ORDER BY oid) FROM pg_trigger),
    (SELECT string_agg(oid || ':' || xmin, ',' ORDER BY oid) FROM pg_proc WHERE oid >= 16384),
    (SELECT string_agg(setconfig::text, ',') FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase
        WHERE datname = current_database()),
    (SELECT string_agg(version_num, ',') FROM alembic_version))),
    (SELECT max(pg_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 't') AND oid >= 16384)
"""
"""A digest that changes with the schema, and the bytes of the largest table. Rows of catalogs carry the
transaction that wrote them, and those of objects that are not Postgres's own begin at 16384."""

_EMPTY = """
DO $$
DECLARE name text;
BEGIN
    SET LOCAL session_replication_role = replica;  -- no trigger runs: some refuse to delete
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            AND relname <> 'alembic_version' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence WHERE pg_sequence_last_value(seqrelid) > 0;
END $$
"""


@dataclass
class DatabasePool:
    """Clones of the database `template`. `sql` runs statements in a database and returns the last value."""

    sql: Callable[..., str]
    template: str
    _free: list[str] = field(default_factory=list)
    _schema: str = ""

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Lend a migrated database without rows, by its name."""
        name = self._free.pop() if self._free else self._create()
        yield name
        # A client that outlives its test must not reach the next one's rows by the name that it knows.
        renamed = _new_name()
        # In one process: to start psql and to connect costs more than these statements.
        schema, _, size_bytes = self.sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
            f"ALTER DATABASE {name} RENAME TO {renamed}",
            rf"\connect {renamed}",
            _EMPTY,
            _SCHEMA_AND_BYTES,
        ).partition("|")
        if schema == self._schema and int(size_bytes) <= MAX_TABLE_BYTES:
            self._free.append(renamed)
        else:
            self.sql(f"DROP DATABASE {renamed} WITH (FORCE)")

    def _create(self) -> str:
        name = _new_name()
        self.sql(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        self._schema = self._schema or self.sql(_SCHEMA_AND_BYTES, database=name).partition("|")[0]
        return name


def _new_name() -> str:
    return f"test_{uuid4().hex}"
