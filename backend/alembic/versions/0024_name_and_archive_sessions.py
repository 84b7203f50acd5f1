"""Let users name and archive their sessions."""

import sqlalchemy as sa

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("name", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("sessions", "archived_at")
    op.drop_column("sessions", "name")
