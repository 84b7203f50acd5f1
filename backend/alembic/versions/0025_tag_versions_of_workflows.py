"""Name versions of workflows by tags that are moved from one to another."""

import sqlalchemy as sa

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workflow_tags",
        sa.Column("workflow_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("workflow_id", "name", name=op.f("pk_workflow_tags")),
        sa.ForeignKeyConstraint(
            ["workflow_id", "version"],
            ["workflow_versions.workflow_id", "workflow_versions.n"],
            name="fk_workflow_tags_workflow_id_workflow_versions",
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    op.drop_table("workflow_tags")
