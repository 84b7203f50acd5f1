"""Name the author of each version of a workflow. Versions from before have none."""

import sqlalchemy as sa

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workflow_versions", sa.Column("author_kind", sa.Text(), nullable=True))
    op.add_column("workflow_versions", sa.Column("author_ref", sa.Uuid(), nullable=True))


def downgrade() -> None:
    op.drop_column("workflow_versions", "author_ref")
    op.drop_column("workflow_versions", "author_kind")
