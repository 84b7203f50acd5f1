"""Find the runs of a workflow by an index, newest first."""

import sqlalchemy as sa

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

WORKFLOW_ID = "(preferences #>> '{workflow,id}'::text[])"


def upgrade() -> None:
    op.create_index(
        "ix_sessions_workflow_id",
        "sessions",
        ["owner_id", sa.text(WORKFLOW_ID), sa.text("created_at DESC")],
        postgresql_where=sa.text(f"{WORKFLOW_ID} IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_sessions_workflow_id", table_name="sessions")
