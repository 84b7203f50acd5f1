"""Hold conversations in threads, whose turns wait for the turn before them."""

import sqlalchemy as sa

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


_LINE = """
    CREATE OR REPLACE VIEW session_line AS
    WITH held AS (
      SELECT owner_id, count(*) AS n FROM sessions
      WHERE ended_at IS NULL AND admitted_at IS NOT NULL{studies} GROUP BY owner_id
    ), waiting AS (
      SELECT s.id, s.owner_id, s.created_at,
        coalesce(held.n, 0)
          + row_number() OVER (PARTITION BY s.owner_id ORDER BY s.created_at, s.id) AS turn
      FROM sessions s LEFT JOIN held USING (owner_id)
      WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel
    )
    SELECT id, owner_id, turn, row_number() OVER (ORDER BY turn, created_at, id) AS place,
      count(*) OVER () AS length
    FROM waiting
"""
_ADMIT = """
    CREATE OR REPLACE FUNCTION admit_sessions(most int, most_each int) RETURNS SETOF uuid
    LANGUAGE plpgsql AS $$
    DECLARE places bigint;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit'));
      IF most > 0 THEN
        SELECT greatest(most - count(*), 0) INTO places FROM sessions
        WHERE ended_at IS NULL AND admitted_at IS NOT NULL{studies};
      END IF;
      RETURN QUERY
      UPDATE sessions SET admitted_at = now(), queued_at = now()
      WHERE id IN (
        SELECT line.id FROM session_line line JOIN users ON users.id = line.owner_id,
          coalesce((users.quotas ->> 'running_sessions')::int, most_each) AS each
        WHERE users.disabled_at IS NULL AND (each = 0 OR line.turn <= each)
        ORDER BY line.place LIMIT places)
      RETURNING sessions.id;
    END $$
"""
_WITHOUT_TURNS = " AND class <> 'turn'"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("class", sa.Text(), server_default="study", nullable=False))
    op.execute("UPDATE sessions SET class = 'run' WHERE graph = 'run'")
    # Turns do not stand in the line: a person waits for them.
    for statement in (_LINE, _ADMIT):
        op.execute(statement.format(studies=_WITHOUT_TURNS))
    op.create_table(
        "threads",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("dataset_ids", sa.ARRAY(sa.UUID()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_threads_owner_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threads")),
    )
    op.create_index("ix_threads_owner_id_updated_at", "threads", ["owner_id", sa.text("updated_at DESC")])
    op.create_table(
        "worldlines",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("thread_id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("head_id", sa.UUID(), nullable=True),
        sa.Column("from_turn_id", sa.UUID(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_worldlines_thread_id_threads"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worldlines")),
        sa.UniqueConstraint("thread_id", "name", name=op.f("uq_worldlines_thread_id_name")),
    )
    op.create_table(
        "turns",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("thread_id", sa.UUID(), nullable=False),
        sa.Column("worldline_id", sa.UUID(), nullable=True),
        sa.Column("parent_id", sa.UUID(), nullable=True),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_turns_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_turns_thread_id_threads"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["worldline_id"],
            ["worldlines.id"],
            name=op.f("fk_turns_worldline_id_worldlines"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_turns")),
    )
    for column in ("thread_id", "worldline_id", "parent_id"):
        op.create_index(op.f(f"ix_turns_{column}"), "turns", [column])
    op.add_column("sessions", sa.Column("after_id", sa.UUID(), nullable=True))
    op.create_index(
        "ix_sessions_after_id",
        "sessions",
        ["after_id"],
        postgresql_where=sa.text("after_id IS NOT NULL AND ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_sessions_after_id", "sessions")
    op.drop_column("sessions", "after_id")
    op.drop_table("turns")
    op.drop_table("worldlines")
    op.drop_table("threads")
    op.execute("DELETE FROM sessions WHERE class = 'turn' AND ended_at IS NOT NULL")
    for statement in (_LINE, _ADMIT):
        op.execute(statement.format(studies=""))
    op.drop_column("sessions", "class")
