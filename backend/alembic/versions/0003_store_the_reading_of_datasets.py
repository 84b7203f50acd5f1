"""Store the reading of each dataset: how its cells are parsed, with examples and alternatives."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("datasets", sa.Column("reading", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("datasets", "reading")
