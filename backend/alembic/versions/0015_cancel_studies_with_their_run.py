"""Cancel the studies that a run started with the run."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Two statements: the second has a snapshot of its own, taken once the rows of the runs are locked, so that
    # it sees a study that was started meanwhile. After that a run starts none (`LIFECYCLE.create`).
    op.execute("""
        CREATE OR REPLACE FUNCTION cancel_sessions(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
        BEGIN
          RETURN QUERY UPDATE sessions
          SET wake = wake + (NOT cancel)::int, queued_at = now(), cancel = true, status = 'cancelling'
          WHERE sessions.id = ANY(ids) AND ended_at IS NULL
          RETURNING sessions.id;
          RETURN QUERY UPDATE sessions s
          SET wake = s.wake + (NOT s.cancel)::int, queued_at = now(), cancel = true, status = 'cancelling'
          FROM sessions run
          WHERE run.id = ANY(ids) AND run.graph = 'workflow' AND run.cancel AND run.ended_at IS NULL
            AND s.parent_id = run.id AND s.ended_at IS NULL AND s.id <> ALL(ids)
            AND NOT EXISTS (SELECT FROM sessions other
              WHERE other.after_id = s.id AND other.ended_at IS NULL AND NOT other.cancel)
          RETURNING s.id;
        END $$
    """)


def downgrade() -> None:
    op.execute("DROP FUNCTION cancel_sessions(uuid[])")
    op.execute("""
        CREATE FUNCTION cancel_sessions(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql AS $$
          UPDATE sessions
          SET wake = wake + (NOT cancel)::int, queued_at = now(), cancel = true, status = 'cancelling'
          WHERE id = ANY(ids) AND ended_at IS NULL
          RETURNING id
        $$
    """)
