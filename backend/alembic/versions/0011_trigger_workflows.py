"""Run workflows at times: a row for each trigger, kept in step with the versions that are saved."""

import sqlalchemy as sa

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workflow_triggers",
        sa.Column("workflow_id", sa.UUID(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("is_armed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_tick", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_workflow_triggers_owner_id_users"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.id"],
            name=op.f("fk_workflow_triggers_workflow_id_workflows"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workflow_id", "node_id", name=op.f("pk_workflow_triggers")),
    )
    op.create_index("ix_workflow_triggers_next_at", "workflow_triggers", ["next_at"])
    op.create_index("ix_workflow_triggers_owner_id", "workflow_triggers", ["owner_id"])
    # Every way to save a version ends here, so none can forget its triggers. A trigger that stays as it is
    # keeps its time; a new one gets it from the next sweep, which knows calendars.
    op.execute("""
        create function sync_workflow_triggers() returns trigger language plpgsql as $$
        begin
          delete from workflow_triggers t where t.workflow_id = new.workflow_id and not exists (
            select from json_array_elements(new.document -> 'nodes') n
            where n ->> 'type' = 'trigger' and n ->> 'id' = t.node_id);
          insert into workflow_triggers (workflow_id, node_id, owner_id, config, next_at)
          select w.id, n ->> 'id', w.owner_id, coalesce(n -> 'config', '{}'),
            case when n #>> '{config,kind}' in ('schedule', 'interval')
              and coalesce(n #>> '{config,enabled}', 'true') = 'true' then now() end
          from json_array_elements(new.document -> 'nodes') n, workflows w
          where w.id = new.workflow_id and n ->> 'type' = 'trigger'
          on conflict (workflow_id, node_id) do update
            set config = excluded.config, next_at = excluded.next_at, is_armed = false
            where workflow_triggers.config::jsonb <> excluded.config::jsonb;
          return null;
        end $$""")
    op.execute("""
        create trigger sync_workflow_triggers after insert on workflow_versions
        for each row execute function sync_workflow_triggers()""")


def downgrade() -> None:
    op.execute("drop trigger sync_workflow_triggers on workflow_versions")
    op.execute("drop function sync_workflow_triggers()")
    op.drop_table("workflow_triggers")
