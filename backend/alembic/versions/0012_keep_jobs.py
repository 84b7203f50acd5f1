"""Keep jobs of machines with their answers."""

import sqlalchemy as sa

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agent_jobs",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("message", sa.JSON(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("is_queued", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_agent_jobs_owner_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_jobs")),
        sa.UniqueConstraint("owner_id", "job_id", name=op.f("uq_agent_jobs_owner_id_job_id")),
    )
    op.create_index("ix_agent_jobs_owner_id_created_at", "agent_jobs", ["owner_id", sa.text("created_at DESC")])
    op.create_index(
        "ix_agent_jobs_open", "agent_jobs", ["created_at"], postgresql_where=sa.text("delivered_at IS NULL")
    )


def downgrade() -> None:
    op.execute("DELETE FROM sessions WHERE class = 'job' AND ended_at IS NOT NULL")
    op.drop_table("agent_jobs")
