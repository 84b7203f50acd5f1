"""Bound the turns of an owner that run at once: turns have places and a line of their own, by owner."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# A turn without a driver that has nothing to do holds no place, even if a process of an earlier version left
# it one: those keep the places of turns that wait. Turns of different owners do not wait for each other, so
# each owner has a line.
_LINE = """
    CREATE OR REPLACE VIEW session_line AS
    WITH held AS (
      SELECT owner_id, class, count(*) AS n FROM sessions
      WHERE ended_at IS NULL AND admitted_at IS NOT NULL
        AND (class <> 'turn' OR lease_until IS NOT NULL OR wake > seen)
      GROUP BY owner_id, class
    ), waiting AS (
      SELECT s.id, s.owner_id, s.class, s.created_at,
        coalesce(held.n, 0)
          + row_number() OVER (PARTITION BY s.owner_id, s.class ORDER BY s.created_at, s.id) AS turn
      FROM sessions s LEFT JOIN held USING (owner_id, class)
      WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel
        AND s.paused_at IS NULL
    ), line AS (
      SELECT *, CASE class WHEN 'turn' THEN owner_id END AS line_owner FROM waiting
    )
    SELECT id, owner_id, class, turn,
      row_number() OVER (PARTITION BY class, line_owner ORDER BY turn, created_at, id) AS place,
      count(*) OVER (PARTITION BY class, line_owner) AS length
    FROM line
"""
# Of one owner and beside the view, which reads those of all: a message waits for this. The lock is the
# owner's, so that messages of different owners do not wait for each other. A row that somebody else changes at
# this moment is passed over: whoever holds the lock waits for no row, so that no deadlock goes through it. The
# change is followed by an admission, at the latest by the sweeper's.
_ADMIT_TURNS = """
    CREATE FUNCTION admit_turns(owner uuid, most_each int) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
    DECLARE places bigint;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit_turns'), hashtext(owner::text));
      SELECT CASE WHEN each > 0 THEN greatest(each - (
          SELECT count(*) FROM sessions
          WHERE owner_id = owner AND class = 'turn' AND ended_at IS NULL AND admitted_at IS NOT NULL
            AND (lease_until IS NOT NULL OR wake > seen)), 0) END
        INTO places
      FROM users, coalesce((users.quotas ->> 'running_turns')::int, most_each) AS each
      WHERE users.id = owner AND users.disabled_at IS NULL;
      IF NOT FOUND THEN
        RETURN;
      END IF;
      RETURN QUERY
      UPDATE sessions SET admitted_at = now(), queued_at = now()
      WHERE id IN (
        SELECT s.id FROM sessions s
        WHERE s.owner_id = owner AND s.class = 'turn' AND s.ended_at IS NULL AND s.admitted_at IS NULL
          AND s.wake > s.seen AND NOT s.cancel
        ORDER BY s.created_at, s.id LIMIT places FOR UPDATE SKIP LOCKED)
      RETURNING sessions.id;
    END $$
"""
# The locks of owners come in one order, and after the one that all share.
_ADMIT = """
    CREATE FUNCTION admit_sessions(most int, most_each int, most_turns int) RETURNS SETOF uuid
    LANGUAGE plpgsql AS $$
    DECLARE owner uuid;
    BEGIN
      IF EXISTS (
        SELECT FROM sessions
        WHERE ended_at IS NULL AND admitted_at IS NULL AND wake > seen AND NOT cancel AND paused_at IS NULL
          AND class <> 'turn')
      THEN
        PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit'));
        RETURN QUERY
        UPDATE sessions SET admitted_at = now(), queued_at = now()
        WHERE id IN (
          SELECT eligible.id FROM (
            SELECT line.id, line.class, row_number() OVER (PARTITION BY line.class ORDER BY line.place) AS nth
            FROM session_line line JOIN users ON users.id = line.owner_id,
              coalesce((users.quotas ->> 'running_sessions')::int, most_each) AS each
            WHERE users.disabled_at IS NULL AND line.class <> 'turn'
              AND (each = 0 OR line.turn <= each)) AS eligible
          LEFT JOIN (
            SELECT class, count(*) AS n FROM sessions
            WHERE ended_at IS NULL AND admitted_at IS NOT NULL GROUP BY class) AS held USING (class)
          WHERE most <= 0 OR eligible.nth <= most - coalesce(held.n, 0))
        RETURNING sessions.id;
      END IF;
      FOR owner IN
        SELECT owner_id FROM sessions
        WHERE ended_at IS NULL AND admitted_at IS NULL AND wake > seen AND NOT cancel AND class = 'turn'
        GROUP BY owner_id ORDER BY hashtext(owner_id::text), owner_id
      LOOP
        RETURN QUERY SELECT admit_turns(owner, most_turns);
      END LOOP;
    END $$
"""
# Called by processes of an earlier version, which know no bound of turns but have to let those in that newer
# processes made.
_FORMER_CALL = """
    CREATE OR REPLACE FUNCTION admit_sessions(most int, most_each int) RETURNS SETOF uuid LANGUAGE sql AS $$
      SELECT admit_sessions(most, most_each, 0)
    $$
"""
_FORMER_LINE = """
    CREATE OR REPLACE VIEW session_line AS
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
_FORMER_ADMIT = """
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


def upgrade() -> None:
    # Turns that are under way keep their places, so processes of the earlier version go on with them.
    op.execute(_LINE)
    op.execute(_ADMIT_TURNS)
    op.execute(_ADMIT)
    op.execute(_FORMER_CALL)


def downgrade() -> None:
    op.execute(_FORMER_LINE)
    op.execute(_FORMER_ADMIT)
    op.execute("DROP FUNCTION admit_sessions(int, int, int)")
    op.execute("DROP FUNCTION admit_turns(uuid, int)")
    # Nobody would let these in.
    op.execute("""
        UPDATE sessions SET admitted_at = now(), queued_at = now()
        WHERE class = 'turn' AND ended_at IS NULL AND admitted_at IS NULL
    """)
