"""Count the looks at the hold-out of a family, those of completed sessions included."""

import sqlalchemy as sa

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_DELETE_SESSIONS = """
    CREATE OR REPLACE FUNCTION delete_sessions(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
    DECLARE gone uuid[]; {families}
    BEGIN
      WITH deleted AS (
        DELETE FROM sessions
        WHERE (id = ANY(ids) OR (graph = 'run' AND parent_id = ANY(ids))) AND ended_at IS NOT NULL
        RETURNING id{returned}
      ) SELECT coalesce(array_agg(id), '{{}}'){gathered} INTO gone{into} FROM deleted;
      DELETE FROM audit WHERE session_id = ANY(gone);
      {looks}
      RETURN QUERY SELECT unnest(gone);
    END $$
"""


def upgrade() -> None:
    op.create_table(
        "holdout_looks",
        sa.Column("family_id", sa.UUID(), nullable=False),
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "step", "kind", name=op.f("pk_holdout_looks")),
        sa.UniqueConstraint("family_id", "number", name=op.f("uq_holdout_looks_family_id_number")),
    )
    # Each statement of the function reads what was committed before it began, so after the lock it sees every
    # earlier look of the family: a count inside one statement would give two forks the same number.
    op.execute("""
        CREATE FUNCTION count_look(looking uuid, at_step int, look text) RETURNS int LANGUAGE plpgsql AS $$
        DECLARE family uuid; place int;
        BEGIN
          SELECT coalesce(family_id, id) INTO family FROM sessions WHERE id = looking;
          IF family IS NULL THEN RETURN NULL; END IF;
          PERFORM pg_advisory_xact_lock(hashtext('labcrew.look'), hashtext(family::text));
          SELECT number INTO place FROM holdout_looks
          WHERE session_id = looking AND step = at_step AND kind = look;
          IF place IS NULL THEN
            INSERT INTO holdout_looks (family_id, session_id, step, kind, number)
            SELECT family, looking, at_step, look, coalesce(max(number), 0) + 1
            FROM holdout_looks WHERE family_id = family
            RETURNING number INTO place;
          END IF;
          RETURN place;
        END $$
    """)
    op.execute("""
        INSERT INTO holdout_looks (family_id, session_id, step, kind, number, at)
        SELECT session_id, session_id, min(seq), 'final', 1, min(committed_at)
        FROM steps WHERE node = 'final_evaluation' GROUP BY session_id
    """)
    # Looks stay when their session is deleted, and go with the last session of the family.
    op.execute(
        _DELETE_SESSIONS.format(
            families="families uuid[];",
            returned=", coalesce(family_id, id) AS family",
            gathered=", array_agg(DISTINCT family)",
            into=", families",
            looks="""DELETE FROM holdout_looks l WHERE l.family_id = ANY(families)
        AND NOT EXISTS (SELECT FROM sessions s WHERE s.id = l.family_id OR s.family_id = l.family_id);""",
        )
    )


def downgrade() -> None:
    op.execute(_DELETE_SESSIONS.format(families="", returned="", gathered="", into="", looks=""))
    op.execute("DROP FUNCTION count_look(uuid, int, text)")
    op.drop_table("holdout_looks")
