"""Record deletions of conversations, so that workers resume them. Hidden conversations get their record."""

import sqlalchemy as sa

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint(op.f("ck_deletions_kind"), "deletions", type_="check")
    op.create_check_constraint(op.f("ck_deletions_kind"), "deletions", "kind IN ('session', 'user', 'thread')")
    # Their deletion was interrupted after they were hidden: nothing but this finds them again.
    op.execute(
        sa.text(
            "INSERT INTO deletions (id, kind, target_id, owner_id, asked_by, asked_at)"
            " SELECT gen_random_uuid(), 'thread', id, owner_id, 'user', deleted_at"
            " FROM threads WHERE deleted_at IS NOT NULL"
        )
    )


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM deletions WHERE kind = 'thread'"))
    op.drop_constraint(op.f("ck_deletions_kind"), "deletions", type_="check")
    op.create_check_constraint(op.f("ck_deletions_kind"), "deletions", "kind IN ('session', 'user')")
