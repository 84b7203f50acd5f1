"""Trigger workflows by webhooks and by new datasets."""

import sqlalchemy as sa

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workflow_triggers", sa.Column("token_digest", sa.Text(), nullable=True))
    op.create_index("ix_workflow_triggers_token_digest", "workflow_triggers", ["token_digest"], unique=True)
    op.create_table(
        "workflow_firings",
        sa.Column("workflow_id", sa.UUID(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("dataset_id", sa.UUID(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workflow_id", "node_id"],
            ["workflow_triggers.workflow_id", "workflow_triggers.node_id"],
            name=op.f("fk_workflow_firings_workflow_id_workflow_triggers"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["datasets.id"],
            name=op.f("fk_workflow_firings_dataset_id_datasets"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workflow_id", "node_id", "dataset_id", name=op.f("pk_workflow_firings")),
    )
    op.create_index("ix_workflow_firings_created_at", "workflow_firings", ["created_at"])
    op.create_index("ix_workflow_firings_dataset_id", "workflow_firings", ["dataset_id"])
    # In the transaction of the upload, so that a new dataset is neither missed nor counted twice.
    op.execute("""
        create function note_new_dataset() returns trigger language plpgsql as $$
        begin
          insert into workflow_firings (workflow_id, node_id, dataset_id)
          select t.workflow_id, t.node_id, new.id from workflow_triggers t
          join datasets d on d.id::text = lower(t.config ->> 'dataset_id') and d.owner_id = t.owner_id
          where t.owner_id = new.owner_id and t.config ->> 'kind' = 'dataset' and d.name = new.name
            and coalesce(t.config ->> 'enabled', 'true') = 'true'
          on conflict do nothing;
          return null;
        end $$""")
    op.execute("""
        create trigger note_new_dataset after insert on datasets
        for each row execute function note_new_dataset()""")


def downgrade() -> None:
    op.execute("drop trigger note_new_dataset on datasets")
    op.execute("drop function note_new_dataset()")
    op.drop_table("workflow_firings")
    op.drop_index("ix_workflow_triggers_token_digest", table_name="workflow_triggers")
    op.drop_column("workflow_triggers", "token_digest")
