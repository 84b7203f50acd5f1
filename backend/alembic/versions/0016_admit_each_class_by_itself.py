"""Admit each class of sessions by itself: runs do not wait for studies, and turns for nobody."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_LINE = """
    CREATE VIEW session_line AS
    WITH held AS (
      SELECT owner_id, class, count(*) AS n FROM sessions
      WHERE ended_at IS NULL AND admitted_at IS NOT NULL AND class <> 'turn' GROUP BY owner_id, class
    ), waiting AS (
      SELECT s.id, s.owner_id, s.class, s.created_at,
        coalesce(held.n, 0)
          + row_number() OVER (PARTITION BY s.owner_id, s.class ORDER BY s.created_at, s.id) AS turn
      FROM sessions s LEFT JOIN held USING (owner_id, class)
      WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel
        AND s.paused_at IS NULL AND s.class <> 'turn'
    )
    SELECT id, owner_id, class, turn,
      row_number() OVER (PARTITION BY class ORDER BY turn, created_at, id) AS place,
      count(*) OVER (PARTITION BY class) AS length
    FROM waiting
"""
_ADMIT = """
    CREATE OR REPLACE FUNCTION admit_sessions(most int, most_each int) RETURNS SETOF uuid
    LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit'));
      RETURN QUERY
      UPDATE sessions SET admitted_at = now(), queued_at = now()
      WHERE id IN (
        SELECT eligible.id FROM (
          SELECT line.id, line.class, row_number() OVER (PARTITION BY line.class ORDER BY line.place) AS nth
          FROM session_line line JOIN users ON users.id = line.owner_id,
            coalesce((users.quotas ->> 'running_sessions')::int, most_each) AS each
          WHERE users.disabled_at IS NULL AND (each = 0 OR line.turn <= each)) AS eligible
        LEFT JOIN (
          SELECT class, count(*) AS n FROM sessions
          WHERE ended_at IS NULL AND admitted_at IS NOT NULL GROUP BY class) AS held USING (class)
        WHERE most <= 0 OR eligible.nth <= most - coalesce(held.n, 0))
      RETURNING sessions.id;
    END $$
"""
_FORMER_LINE = """
    CREATE VIEW session_line AS
    WITH held AS (
      SELECT owner_id, count(*) AS n FROM sessions
      WHERE ended_at IS NULL AND admitted_at IS NOT NULL AND class <> 'turn' GROUP BY owner_id
    ), waiting AS (
      SELECT s.id, s.owner_id, s.created_at,
        coalesce(held.n, 0)
          + row_number() OVER (PARTITION BY s.owner_id ORDER BY s.created_at, s.id) AS turn
      FROM sessions s LEFT JOIN held USING (owner_id)
      WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel
        AND s.paused_at IS NULL
    )
    SELECT id, owner_id, turn, row_number() OVER (ORDER BY turn, created_at, id) AS place,
      count(*) OVER () AS length
    FROM waiting
"""
_FORMER_ADMIT = """
    CREATE OR REPLACE FUNCTION admit_sessions(most int, most_each int) RETURNS SETOF uuid
    LANGUAGE plpgsql AS $$
    DECLARE places bigint;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit'));
      IF most > 0 THEN
        SELECT greatest(most - count(*), 0) INTO places FROM sessions
        WHERE ended_at IS NULL AND admitted_at IS NOT NULL AND class <> 'turn';
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


def upgrade() -> None:
    op.execute("DROP VIEW session_line")
    op.execute(_LINE)
    op.execute(_ADMIT)
    # Turns that waited for their user or for a study had given up a place, which they no longer need.
    op.execute("""
        UPDATE sessions SET admitted_at = now(), queued_at = now()
        WHERE class = 'turn' AND ended_at IS NULL AND admitted_at IS NULL
    """)


def downgrade() -> None:
    op.execute("DROP VIEW session_line")
    op.execute(_FORMER_LINE)
    op.execute(_FORMER_ADMIT)
