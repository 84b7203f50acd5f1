"""Fork sessions: columns of a fork, working time of steps and calls, and digests in `meta` as a column."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("forked_from", sa.UUID(), nullable=True))
    op.add_column("sessions", sa.Column("family_id", sa.UUID(), nullable=True))
    op.add_column("sessions", sa.Column("fork", postgresql.JSON(), nullable=True))
    op.add_column("sessions", sa.Column("datasets_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("sessions", sa.Column("request_digest", sa.Text(), nullable=True))
    inherited_s = sa.Column("inherited_s", sa.Double(), server_default=sa.text("0"), nullable=False)
    op.add_column("sessions", inherited_s)
    op.create_index(
        "ix_sessions_family_id",
        "sessions",
        ["family_id"],
        unique=False,
        postgresql_where=sa.text("family_id IS NOT NULL"),
    )
    op.add_column("steps", sa.Column("worked_s", sa.Double(), nullable=True))
    op.add_column("calls", sa.Column("worked_s", sa.Double(), nullable=True))
    # A generated column is computed again for each copied row: 100 ms for 150 artifacts with 30 KB of `meta`.
    op.execute("ALTER TABLE artifacts ALTER COLUMN mentions DROP EXPRESSION")
    op.execute("""
        CREATE FUNCTION fill_mentions() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.mentions IS NULL OR (TG_OP = 'UPDATE' AND NEW.meta IS DISTINCT FROM OLD.meta) THEN
            NEW.mentions := digests_in(NEW.meta);
          END IF;
          RETURN NEW;
        END $$
    """)
    op.execute(
        "CREATE TRIGGER fill_mentions BEFORE INSERT OR UPDATE OF meta, mentions ON artifacts "
        "FOR EACH ROW EXECUTE FUNCTION fill_mentions()"
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER fill_mentions ON artifacts")
    op.execute("DROP FUNCTION fill_mentions()")
    op.drop_index("ix_artifacts_mentions", table_name="artifacts")
    op.drop_column("artifacts", "mentions")
    mentions = sa.Column(
        "mentions",
        postgresql.ARRAY(sa.Text()),
        sa.Computed("digests_in(meta)", persisted=True),
        nullable=False,
    )
    op.add_column("artifacts", mentions)
    op.create_index("ix_artifacts_mentions", "artifacts", ["mentions"], unique=False, postgresql_using="gin")
    op.drop_column("calls", "worked_s")
    op.drop_column("steps", "worked_s")
    op.drop_index("ix_sessions_family_id", table_name="sessions")
    for column in ("inherited_s", "request_digest", "datasets_at", "fork", "family_id", "forked_from"):
        op.drop_column("sessions", column)
