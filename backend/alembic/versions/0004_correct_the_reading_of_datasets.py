"""Store the cells that a corrected reading is converted from, and the former readings of a dataset."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("datasets", sa.Column("cells_digest", sa.Text(), nullable=True))
    former = sa.Column("former", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
    op.add_column("datasets", former)
    op.add_column("datasets", sa.Column("reading_changed_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("datasets", "reading_changed_at")
    op.drop_column("datasets", "former")
    op.drop_column("datasets", "cells_digest")
