"""The migrations make the schema of `tables.py`, and can be taken back."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import asyncpg
import pytest

from alembic import command
from app.db import migrations
from app.db.migrations import config, downgrade, head, upgrade
from app.errors import Conflict, InvalidInput

NEXT = dedent(f"""
    import sqlalchemy as sa
    from alembic import op

    revision, down_revision = "next", "{head()}"

    def upgrade():
        op.add_column("sessions", sa.Column("title", sa.Text()))
        op.execute("UPDATE sessions SET title = left(goal, 5)")
        op.alter_column("sessions", "title", nullable=False)

    def downgrade():
        op.drop_column("sessions", "title")
""")
"""A migration after the newest one, as one of a later version would be."""

FILL = """
    INSERT INTO users (id, email, password_hash, role) VALUES (gen_random_uuid(), 'a@b.c', 'x', 'user');
    INSERT INTO sessions (id, owner_id, goal, preferences, dataset_ids, seed)
      SELECT gen_random_uuid(), id, 'goal ' || n, '{}', '{}', n FROM users, generate_series(1, 50) AS n;
    INSERT INTO events (session_id, n, kind, body) SELECT id, 1, 'session_started', '{"a": 1e16}' FROM sessions;
    INSERT INTO steps (session_id, seq, node, update, fence, started_at)
      SELECT id, 1, 'planning', '{}', 1, now() FROM sessions;
    INSERT INTO artifacts (id, owner_id, session_id, seq, kind, name, media_type, digest, size_bytes, meta)
      SELECT gen_random_uuid(), owner_id, id, 1, 'model', 'm', 'x', repeat('0', 64), 1,
        jsonb_build_object('oof', repeat('a', 64)) FROM sessions;
    INSERT INTO audit (session_id, actor, action) SELECT id, 'user', 'session_created' FROM sessions;
"""


def test_the_migrations_make_what_the_tables_say(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    command.check(config(empty_database_url))


async def _tables(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
    await connection.close()
    return {row["tablename"] for row in rows}


def test_alembic_upgrades_by_itself_and_after_labcrew(empty_database_url: str) -> None:
    """`alembic upgrade head` in `backend/`, as its users know it, finds the database by DATABASE_URL."""
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-m", "alembic", "upgrade", "head"],
            cwd=Path(migrations.__file__).parents[2],
            env={**os.environ, "DATABASE_URL": empty_database_url},
            check=True,
        )
        assert _run(empty_database_url, "SELECT version_num FROM alembic_version") == [(head(),)]
        upgrade(empty_database_url)


def test_every_migration_can_be_taken_back(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    assert "sessions" in asyncio.run(_tables(empty_database_url))
    downgrade(empty_database_url)
    assert asyncio.run(_tables(empty_database_url)) == {"alembic_version"}
    upgrade(empty_database_url)


def test_the_migrations_folder_is_no_package() -> None:
    """With `backend/` on the path it would hide the library of the same name."""
    assert not (Path(migrations.__file__).parents[2] / "alembic" / "__init__.py").exists()


def test_a_later_migration_works_on_filled_tables_in_both_directions(
    empty_database_url: str, tmp_path: Path
) -> None:
    upgrade(empty_database_url)
    _run(empty_database_url, FILL)
    before = _run(empty_database_url, "SELECT * FROM sessions ORDER BY id")
    (tmp_path / "next.py").write_text(NEXT)

    command.upgrade(config(empty_database_url, tmp_path), "next")
    titles = _run(empty_database_url, "SELECT DISTINCT title FROM sessions")
    assert [row["title"] for row in titles] == ["goal "]
    with pytest.raises(Conflict, match="newer Labcrew"):
        upgrade(empty_database_url)
    command.downgrade(config(empty_database_url, tmp_path), head())

    upgrade(empty_database_url)
    assert _run(empty_database_url, "SELECT * FROM sessions ORDER BY id") == before
    assert len(_run(empty_database_url, "SELECT FROM artifacts WHERE mentions = ARRAY[repeat('a', 64)]")) == 50
    downgrade(empty_database_url)
    assert asyncio.run(_tables(empty_database_url)) == {"alembic_version"}
    upgrade(empty_database_url)
    assert _run(empty_database_url, "SELECT * FROM sessions") == []


def test_datasets_of_before_have_an_empty_note(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    downgrade(empty_database_url, "0017")
    _run(empty_database_url, FILL)
    _run(
        empty_database_url,
        "INSERT INTO datasets (id, owner_id, name, filename, source_digest, source_size_bytes, digest,"
        " size_bytes, rows, columns, format, profile) SELECT gen_random_uuid(), id, 'd', 'd.csv', '', 1, '',"
        " 1, 1, '[]', '{}', '{}' FROM users",
    )
    upgrade(empty_database_url)
    assert [row["note"] for row in _run(empty_database_url, "SELECT note FROM datasets")] == [""]
    _run(empty_database_url, "UPDATE datasets SET note = 'Ask Kim.'")
    downgrade(empty_database_url, "0017")
    assert "note" not in dict(_run(empty_database_url, "SELECT * FROM datasets")[0])


def test_conversations_that_were_hidden_only_are_deleted_by_workers(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    downgrade(empty_database_url, "0020")
    _run(empty_database_url, FILL)
    for deleted_at in ("null", "now()"):
        _run(
            empty_database_url,
            "INSERT INTO threads (id, owner_id, title, dataset_ids, deleted_at)"
            f" SELECT gen_random_uuid(), id, 't', '{{}}', {deleted_at} FROM users",
        )
    upgrade(empty_database_url)
    hidden = "SELECT id, owner_id FROM threads WHERE deleted_at IS NOT NULL"
    recorded = "SELECT target_id, owner_id FROM deletions WHERE kind = 'thread' AND done_at IS NULL"
    assert _rows(empty_database_url, recorded) == _rows(empty_database_url, hidden)
    downgrade(empty_database_url, "0020")
    assert _run(empty_database_url, "SELECT * FROM deletions") == []


def test_turns_in_flight_go_on_with_and_without_places_of_their_own(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    downgrade(empty_database_url, "0022")
    _run(
        empty_database_url,
        "INSERT INTO users (id, email, password_hash, role) VALUES (gen_random_uuid(), 'a', '', '')",
    )
    in_flight = {"asks": (1, 1), "follows": (0, 0), "due": (2, 1)}
    for goal, (wake, seen) in in_flight.items():
        _add_turn(empty_database_url, goal, wake, seen, "now()")
    upgrade(empty_database_url)
    for goal in ("new", "newer"):
        _add_turn(empty_database_url, goal, 1, 0, "null")
    # Of those of before only the one that is due counts.
    admit = "SELECT count(*) FROM admit_turns((SELECT id FROM users), 2)"
    assert _rows(empty_database_url, admit) == [(1,)]
    waiting = "SELECT goal FROM sessions WHERE admitted_at IS NULL"
    assert _rows(empty_database_url, waiting) == [("newer",)]
    downgrade(empty_database_url, "0022")
    assert _rows(empty_database_url, waiting) == []
    assert _rows(empty_database_url, "SELECT count(*) FROM admit_sessions(1, 1)") == [(0,)]
    upgrade(empty_database_url)


def _add_turn(url: str, goal: str, wake: int, seen: int, admitted_at: str) -> None:
    _run(
        url,
        "INSERT INTO sessions (id, owner_id, class, goal, preferences, dataset_ids, seed, wake, seen,"
        f" admitted_at) SELECT gen_random_uuid(), id, 'turn', '{goal}', '{{}}', '{{}}', 1, {wake}, {seen},"
        f" {admitted_at} FROM users",
    )


def _rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in _run(url, sql)]


def _run(url: str, sql: str) -> list[Any]:
    async def run() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            if sql == FILL:
                await connection.execute(sql)
                return []
            return list(await connection.fetch(sql))
        finally:
            await connection.close()

    return asyncio.run(run())


def test_a_revision_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="no revision 9999"):
        downgrade("postgresql://nowhere/nothing", "9999")
