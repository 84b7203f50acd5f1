"""Pause sessions: such a session stands in no line, and nothing of it begins."""

import sqlalchemy as sa

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_LINE = """
    CREATE OR REPLACE VIEW session_line AS
    WITH held AS (
      SELECT owner_id, count(*) AS n FROM sessions
      WHERE ended_at IS NULL AND admitted_at IS NOT NULL AND class <> 'turn' GROUP BY owner_id
    ), waiting AS (
      SELECT s.id, s.owner_id, s.created_at,
        coalesce(held.n, 0)
          + row_number() OVER (PARTITION BY s.owner_id ORDER BY s.created_at, s.id) AS turn
      FROM sessions s LEFT JOIN held USING (owner_id)
      WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel{unpaused}
    )
    SELECT id, owner_id, turn, row_number() OVER (ORDER BY turn, created_at, id) AS place,
      count(*) OVER () AS length
    FROM waiting
"""


def upgrade() -> None:
    op.add_column("sessions", sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(_LINE.format(unpaused=" AND s.paused_at IS NULL"))


def downgrade() -> None:
    op.execute(_LINE.format(unpaused=""))
    # Earlier versions do not know the status: what was paused goes on.
    op.execute("""
        UPDATE sessions SET status = 'queued', wake = wake + 1, queued_at = now()
        WHERE status = 'paused' AND ended_at IS NULL
    """)
    op.drop_column("sessions", "paused_at")
