"""Propose changes of workflows, and keep secrets and hosts for their requests."""

import sqlalchemy as sa

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def _time(name: str, nullable: bool = False) -> "sa.Column[object]":
    default = None if nullable else sa.text("now()")
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)


def _owner(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_owner_id_users")
    return sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "workflow_proposals",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("workflow_id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("operations", sa.JSON(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), server_default="open", nullable=False),
        _time("created_at"),
        _time("decided_at", nullable=True),
        _owner("workflow_proposals"),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.id"],
            name=op.f("fk_workflow_proposals_workflow_id_workflows"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_proposals")),
    )
    op.create_index(
        "ix_workflow_proposals_workflow_id_created_at",
        "workflow_proposals",
        ["workflow_id", sa.text("created_at DESC")],
    )
    op.create_index("ix_workflow_proposals_owner_id", "workflow_proposals", ["owner_id"])
    op.create_table(
        "secrets",
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        _time("created_at"),
        _time("updated_at"),
        _owner("secrets"),
        sa.PrimaryKeyConstraint("owner_id", "name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "data_keys",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kid", sa.Text(), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=False),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_keys")),
    )
    op.create_table(
        "request_hosts",
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        _time("created_at"),
        _owner("request_hosts"),
        sa.PrimaryKeyConstraint("owner_id", "host", name=op.f("pk_request_hosts")),
    )


def downgrade() -> None:
    for table in ("request_hosts", "data_keys", "secrets", "workflow_proposals"):
        op.drop_table(table)
