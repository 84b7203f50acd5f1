"""Cancel by one function, decide in one who can drive a session, and count fit slots in rows of workers."""

import sqlalchemy as sa

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("fit_slots", sa.Integer(), server_default=sa.text("0"), nullable=False))
    # A worker that runs `graphs` ({"pipeline": [8, 7]}: its version, then earlier ones that it continues) can
    # drive a session of one of these versions. A session that was never driven takes the worker's own version.
    op.execute("""
        CREATE FUNCTION can_drive(graphs jsonb, graph text, version int) RETURNS boolean
        LANGUAGE sql IMMUTABLE AS $$
          SELECT coalesce((graphs -> graph) @> to_jsonb(coalesce(version, (graphs -> graph ->> 0)::int)), false)
        $$
    """)
    # Only the first request adds a wake-up. Returns every session that has not ended.
    op.execute("""
        CREATE FUNCTION cancel_sessions(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql AS $$
          UPDATE sessions
          SET wake = wake + (NOT cancel)::int, queued_at = now(), cancel = true, status = 'cancelling'
          WHERE id = ANY(ids) AND ended_at IS NULL
          RETURNING id
        $$
    """)


def downgrade() -> None:
    op.execute("DROP FUNCTION cancel_sessions(uuid[])")
    op.execute("DROP FUNCTION can_drive(jsonb, text, int)")
    op.drop_column("workers", "fit_slots")
