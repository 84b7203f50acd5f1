"""Keep the name of the dataset that a trigger waits for, which outlives the dataset."""

import sqlalchemy as sa

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_NOTE = """
    create or replace function note_new_dataset() returns trigger language plpgsql as $$
    begin
      insert into workflow_firings (workflow_id, node_id, dataset_id)
      select t.workflow_id, t.node_id, new.id from workflow_triggers t
      {source}
      where t.owner_id = new.owner_id and t.config ->> 'kind' = 'dataset' and {name} = new.name
        and coalesce(t.config ->> 'enabled', 'true') = 'true'
      on conflict do nothing;
      return null;
    end $$"""
_DATASET = "join datasets d on d.id::text = lower(t.config ->> 'dataset_id') and d.owner_id = t.owner_id"


def upgrade() -> None:
    op.add_column("workflow_triggers", sa.Column("dataset_name", sa.Text(), nullable=True))
    # Before the row is written, so that no version is saved without the name.
    op.execute("""
        create function name_trigger_dataset() returns trigger language plpgsql as $$
        begin
          select d.name into new.dataset_name from datasets d
          where d.id::text = lower(new.config ->> 'dataset_id') and d.owner_id = new.owner_id;
          if not found and tg_op = 'UPDATE'
            and lower(old.config ->> 'dataset_id') = lower(new.config ->> 'dataset_id') then
            new.dataset_name := old.dataset_name;
          end if;
          return new;
        end $$""")
    op.execute("""
        create trigger name_trigger_dataset before insert or update of config on workflow_triggers
        for each row execute function name_trigger_dataset()""")
    op.execute("update workflow_triggers set config = config where config ->> 'kind' = 'dataset'")
    # A dataset that is there counts by the name that it has now.
    op.execute(_NOTE.format(source=f"left {_DATASET}", name="coalesce(d.name, t.dataset_name)"))


def downgrade() -> None:
    op.execute(_NOTE.format(source=_DATASET, name="d.name"))
    op.execute("drop trigger name_trigger_dataset on workflow_triggers")
    op.execute("drop function name_trigger_dataset()")
    op.drop_column("workflow_triggers", "dataset_name")
