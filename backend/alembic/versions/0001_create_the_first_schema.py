"""Create the first schema"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    _read_digests()
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=True),
        sa.Column("session_id", sa.UUID(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column(
            "detail", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_owner_id"), "audit", ["owner_id"], unique=False)
    op.create_index(op.f("ix_audit_session_id"), "audit", ["session_id"], unique=False)
    op.create_table(
        "blobs",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_blobs")),
    )
    op.create_table(
        "chores",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_chores")),
    )
    op.create_table(
        "deletions",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target_id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "gone", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('session', 'user')", name=op.f("ck_deletions_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deletions")),
    )
    op.create_index(
        "ix_deletions_open",
        "deletions",
        ["kind", "target_id"],
        unique=True,
        postgresql_where=sa.text("done_at IS NULL"),
    )
    op.create_table(
        "price_bars",
        sa.Column("series_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("open", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("close", sa.Double(), nullable=False),
        sa.Column("volume", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("series_id", "ts", name=op.f("pk_price_bars")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "quotas", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("graphs", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("queues", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("user_id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("key_hash", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_api_keys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_api_keys_key_hash")),
    )
    op.create_index(op.f("ix_api_keys_user_id"), "api_keys", ["user_id"], unique=False)
    op.create_table(
        "blob_chunks",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["digest"], ["blobs.digest"], name=op.f("fk_blob_chunks_digest_blobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("digest", "n", name=op.f("pk_blob_chunks")),
    )
    op.create_table(
        "datasets",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("source_digest", sa.Text(), nullable=False),
        sa.Column("source_size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("columns", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("format", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("profile", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_datasets_owner_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("owner_id", "idempotency_key", name=op.f("uq_datasets_owner_id_idempotency_key")),
    )
    op.create_index(
        "ix_datasets_owner_id_created_at",
        "datasets",
        ["owner_id", sa.literal_column("created_at DESC")],
        unique=False,
    )
    op.create_table(
        "price_series",
        sa.Column("id", sa.Integer(), sa.Identity(always=False), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=True),
        sa.Column("coin", sa.Text(), nullable=False),
        sa.Column("interval_s", sa.Integer(), nullable=False),
        sa.Column("bars", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("summary", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_price_series_owner_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_price_series")),
        sa.UniqueConstraint(
            "owner_id",
            "coin",
            "interval_s",
            name=op.f("uq_price_series_owner_id_coin_interval_s"),
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_table(
        "refresh_tokens",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("user_id", sa.UUID(), nullable=False),
        sa.Column("family", sa.UUID(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_refresh_tokens_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refresh_tokens")),
    )
    op.create_index(op.f("ix_refresh_tokens_expires_at"), "refresh_tokens", ["expires_at"], unique=False)
    op.create_index(op.f("ix_refresh_tokens_family"), "refresh_tokens", ["family"], unique=False)
    op.create_index(op.f("ix_refresh_tokens_user_id"), "refresh_tokens", ["user_id"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("graph", sa.Text(), server_default="pipeline", nullable=False),
        sa.Column("graph_version", sa.Integer(), nullable=True),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("preferences", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("dataset_ids", postgresql.ARRAY(sa.UUID()), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("fence", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("wake", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("seen", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_seq", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("event_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("crashes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("admitted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiting_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waited_s", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("result", postgresql.JSON(astext_type=sa.Text()), nullable=True),
        sa.Column("parent_id", sa.UUID(), nullable=True),
        sa.Column("parent_seq", sa.Integer(), nullable=True),
        sa.Column("stranded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("forgotten", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_sessions_owner_id_users"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["sessions.id"], name=op.f("fk_sessions_parent_id_sessions"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("owner_id", "idempotency_key", name=op.f("uq_sessions_owner_id_idempotency_key")),
        postgresql_with={"fillfactor": "60"},
    )
    op.create_index(
        "ix_sessions_at_work",
        "sessions",
        ["owner_id"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_sessions_ended_at",
        "sessions",
        ["ended_at"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NOT NULL"),
    )
    op.create_index(
        "ix_sessions_keyed",
        "sessions",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index(
        "ix_sessions_in_line",
        "sessions",
        ["owner_id", "created_at"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NULL AND admitted_at IS NULL"),
    )
    op.create_index(
        "ix_sessions_live",
        "sessions",
        ["queued_at"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_sessions_owner_id_created_at",
        "sessions",
        ["owner_id", sa.literal_column("created_at DESC")],
        unique=False,
    )
    op.create_index(
        "ix_sessions_parent_id",
        "sessions",
        ["parent_id"],
        unique=False,
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    op.create_table(
        "artifacts",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.UUID(), nullable=False),
        sa.Column("session_id", sa.UUID(), nullable=True),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("call_key", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column(
            "meta", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column(
            "mentions",
            postgresql.ARRAY(sa.Text()),
            sa.Computed("digests_in(meta)", persisted=True),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_artifacts_owner_id_users"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_artifacts_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifacts")),
        sa.UniqueConstraint(
            "session_id", "seq", "call_key", "name", name=op.f("uq_artifacts_session_id_seq_call_key_name")
        ),
    )
    op.create_index(op.f("ix_artifacts_digest"), "artifacts", ["digest"], unique=False)
    op.create_index("ix_artifacts_mentions", "artifacts", ["mentions"], unique=False, postgresql_using="gin")
    op.create_index(
        "ix_artifacts_models",
        "artifacts",
        ["owner_id", sa.literal_column("created_at DESC")],
        unique=False,
        postgresql_where=sa.text("kind = 'model'"),
    )
    op.create_index(
        "ix_artifacts_owner_id_created_at",
        "artifacts",
        ["owner_id", sa.literal_column("created_at DESC")],
        unique=False,
    )
    op.create_index(op.f("ix_artifacts_session_id"), "artifacts", ["session_id"], unique=False)
    op.create_table(
        "calls",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("request", postgresql.JSON(astext_type=sa.Text()), nullable=False),
        sa.Column("result", postgresql.JSON(astext_type=sa.Text()), nullable=False),
        sa.Column("failed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_ms", sa.Double(), nullable=False),
        sa.Column(
            "recorded_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column(
            "usage", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_calls_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "seq", "key", name=op.f("pk_calls")),
    )
    op.create_table(
        "events",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSON(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_events_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "n", name=op.f("pk_events")),
    )
    op.create_table(
        "fits",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("round_key", sa.Text(), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("result", postgresql.JSON(astext_type=sa.Text()), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("runs", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_fits_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "round_key", "candidate", name=op.f("pk_fits")),
    )
    op.create_index(
        "ix_fits_open",
        "fits",
        ["queued_at"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_table(
        "messages",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_messages_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "seq", "n", name=op.f("pk_messages")),
    )
    op.create_table(
        "questions",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSON(astext_type=sa.Text()), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("answer", postgresql.JSON(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("answered_by", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_questions_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "key", name=op.f("pk_questions")),
    )
    op.create_table(
        "rounds",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("round_key", sa.Text(), nullable=False),
        sa.Column("fits_left", sa.Integer(), nullable=False),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_rounds_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "round_key", name=op.f("pk_rounds")),
    )
    op.create_table(
        "steps",
        sa.Column("session_id", sa.UUID(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("update", postgresql.JSON(astext_type=sa.Text()), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "committed_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_steps_session_id_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("pk_steps")),
    )
    _forbid_changes()
    _forget_in_time()
    _keep_bars_with_their_series()
    _keep_a_line()
    # What is stored is compressed already.
    op.execute("ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL")


def _keep_bars_with_their_series() -> None:
    """Bars go with their series; five-minute bars that all users share also read as one table."""
    op.execute("""
        CREATE FUNCTION drop_bars() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          DELETE FROM price_bars WHERE series_id = OLD.id;
          RETURN OLD;
        END $$
    """)
    op.execute(
        "CREATE TRIGGER drop_bars AFTER DELETE ON price_series FOR EACH ROW EXECUTE FUNCTION drop_bars()"
    )
    op.execute("""
        CREATE VIEW price_data_5min AS
        SELECT coin AS coin_type, ts, open, high, low, close, volume
        FROM price_series JOIN price_bars ON series_id = id WHERE owner_id IS NULL AND interval_s = 300
    """)


def _read_digests() -> None:
    op.execute("""
        CREATE FUNCTION digests_in(said jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
          SELECT coalesce(array_agg(DISTINCT found[1]), '{}')
          FROM regexp_matches(said::text, '[0-9a-f]{64}', 'g') AS found
        $$
    """)


def _forbid_changes() -> None:
    """The journal is append-only while its session exists, and an answer stays what it was.

    `labcrew.forgetting` is set by the functions of `_forget_in_time` alone, for their own transaction: `audit`,
    or the id of the ended session of which a whole part goes.
    """
    op.execute("""
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF TG_OP = 'DELETE' THEN
            IF OLD.session_id IS NOT NULL AND NOT EXISTS (SELECT FROM sessions WHERE id = OLD.session_id)
              THEN RETURN OLD; END IF;
            IF TG_TABLE_NAME = 'audit' AND OLD.session_id IS NULL
              AND current_setting('labcrew.forgetting', true) = 'audit' THEN RETURN OLD; END IF;
            IF TG_TABLE_NAME <> 'audit' AND current_setting('labcrew.forgetting', true) = OLD.session_id::text
              AND EXISTS (SELECT FROM sessions WHERE id = OLD.session_id AND ended_at IS NOT NULL)
              THEN RETURN OLD; END IF;
          END IF;
          RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
        END $$
    """)
    for table in ("audit", "steps", "calls", "events"):
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
        )
    op.execute("""
        CREATE TRIGGER answered_once BEFORE UPDATE ON questions FOR EACH ROW
        WHEN (OLD.answered_at IS NOT NULL
          AND (NEW.answer::text, NEW.answered_by, NEW.answered_at, NEW.body::text)
          IS DISTINCT FROM (OLD.answer::text, OLD.answered_by, OLD.answered_at, OLD.body::text))
        EXECUTE FUNCTION refuse_change()
    """)


def _forget_in_time() -> None:
    """The only ways in which rows that are only ever added go: `deletion/` says when.

    A session goes with the runs inside it.
    """
    op.execute("""
        CREATE FUNCTION delete_sessions(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
        DECLARE gone uuid[];
        BEGIN
          WITH deleted AS (
            DELETE FROM sessions
            WHERE (id = ANY(ids) OR (graph = 'run' AND parent_id = ANY(ids))) AND ended_at IS NOT NULL
            RETURNING id
          ) SELECT coalesce(array_agg(id), '{}') INTO gone FROM deleted;
          DELETE FROM audit WHERE session_id = ANY(gone);
          RETURN QUERY SELECT unnest(gone);
        END $$
    """)
    op.execute("""
        CREATE FUNCTION forget_part(session uuid, part text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
          PERFORM FROM sessions WHERE id = session AND ended_at IS NOT NULL FOR UPDATE;
          IF NOT FOUND THEN RETURN; END IF;
          PERFORM set_config('labcrew.forgetting', session::text, true);
          IF part = 'events' THEN
            DELETE FROM events WHERE session_id = session
              AND n < (SELECT event_seq FROM sessions WHERE id = session);
          ELSIF part = 'journal' THEN
            DELETE FROM calls WHERE session_id = session;
            DELETE FROM steps WHERE session_id = session;
            UPDATE fits SET spec = '{}', result = NULL WHERE session_id = session;
          ELSE RAISE EXCEPTION 'a session has no part %', part;
          END IF;
          UPDATE sessions SET forgotten = forgotten || part WHERE id = session;
          PERFORM set_config('labcrew.forgetting', '', true);
        END $$
    """)
    op.execute("""
        CREATE FUNCTION forget_audit(before timestamptz, most int) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE gone bigint;
        BEGIN
          PERFORM set_config('labcrew.forgetting', 'audit', true);
          DELETE FROM audit WHERE id IN (
            SELECT id FROM audit a WHERE at < before AND (
              session_id IS NULL OR NOT EXISTS (SELECT FROM sessions WHERE id = a.session_id))
            ORDER BY id LIMIT most);
          GET DIAGNOSTICS gone = ROW_COUNT;
          PERFORM set_config('labcrew.forgetting', '', true);
          RETURN gone;
        END $$
    """)


def _keep_a_line() -> None:
    """Sessions that wait for a place, and the one way in: `sessions/admission.py` says what it promises."""
    op.execute("""
        CREATE VIEW session_line AS
        WITH held AS (
          SELECT owner_id, count(*) AS n FROM sessions
          WHERE ended_at IS NULL AND admitted_at IS NOT NULL GROUP BY owner_id
        ), waiting AS (
          SELECT s.id, s.owner_id, s.created_at,
            coalesce(held.n, 0)
              + row_number() OVER (PARTITION BY s.owner_id ORDER BY s.created_at, s.id) AS turn
          FROM sessions s LEFT JOIN held USING (owner_id)
          WHERE s.ended_at IS NULL AND s.admitted_at IS NULL AND s.wake > s.seen AND NOT s.cancel
        )
        SELECT id, owner_id, turn, row_number() OVER (ORDER BY turn, created_at, id) AS place,
          count(*) OVER () AS length
        FROM waiting
    """)
    op.execute("""
        CREATE FUNCTION admit_sessions(most int, most_each int) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
        DECLARE places bigint;
        BEGIN
          PERFORM pg_advisory_xact_lock(hashtext('labcrew.admit'));
          IF most > 0 THEN
            SELECT greatest(most - count(*), 0) INTO places FROM sessions
            WHERE ended_at IS NULL AND admitted_at IS NOT NULL;
          END IF;
          RETURN QUERY
          UPDATE sessions SET admitted_at = now(), queued_at = now()
          WHERE id IN (
            SELECT line.id FROM session_line line JOIN users ON users.id = line.owner_id,
              coalesce((users.quotas ->> 'running_sessions')::int, most_each) AS each
            WHERE users.disabled_at IS NULL AND (each = 0 OR line.turn <= each)
            ORDER BY line.place LIMIT places)
          RETURNING sessions.id;
        END $$
    """)


def downgrade() -> None:
    for function in ("delete_sessions(uuid[])", "forget_part(uuid, text)", "forget_audit(timestamptz, int)"):
        op.execute(f"DROP FUNCTION {function}")
    op.execute("DROP FUNCTION admit_sessions(int, int)")
    op.execute("DROP VIEW session_line")
    op.drop_table("steps")
    op.drop_table("rounds")
    op.drop_table("questions")
    op.drop_table("messages")
    op.drop_index(
        "ix_fits_open", table_name="fits", postgresql_where=sa.text("status IN ('queued', 'running')")
    )
    op.drop_table("fits")
    op.drop_table("events")
    op.drop_table("calls")
    op.drop_index(op.f("ix_artifacts_session_id"), table_name="artifacts")
    op.drop_index("ix_artifacts_owner_id_created_at", table_name="artifacts")
    op.drop_index("ix_artifacts_models", table_name="artifacts", postgresql_where=sa.text("kind = 'model'"))
    op.drop_index("ix_artifacts_mentions", table_name="artifacts", postgresql_using="gin")
    op.drop_index(op.f("ix_artifacts_digest"), table_name="artifacts")
    op.drop_table("artifacts")
    op.drop_index(
        "ix_sessions_parent_id", table_name="sessions", postgresql_where=sa.text("parent_id IS NOT NULL")
    )
    op.drop_index("ix_sessions_owner_id_created_at", table_name="sessions")
    op.drop_index(
        "ix_sessions_keyed",
        table_name="sessions",
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.drop_index(
        "ix_sessions_ended_at", table_name="sessions", postgresql_where=sa.text("ended_at IS NOT NULL")
    )
    op.drop_index(
        "ix_sessions_in_line",
        table_name="sessions",
        postgresql_where=sa.text("ended_at IS NULL AND admitted_at IS NULL"),
    )
    op.drop_index("ix_sessions_at_work", table_name="sessions", postgresql_where=sa.text("ended_at IS NULL"))
    op.drop_index("ix_sessions_live", table_name="sessions", postgresql_where=sa.text("ended_at IS NULL"))
    op.drop_table("sessions")
    op.drop_index(op.f("ix_refresh_tokens_user_id"), table_name="refresh_tokens")
    op.drop_index(op.f("ix_refresh_tokens_family"), table_name="refresh_tokens")
    op.drop_index(op.f("ix_refresh_tokens_expires_at"), table_name="refresh_tokens")
    op.drop_table("refresh_tokens")
    op.execute("DROP VIEW price_data_5min")
    op.drop_table("price_series")
    op.execute("DROP FUNCTION drop_bars()")
    op.drop_index("ix_datasets_owner_id_created_at", table_name="datasets")
    op.drop_table("datasets")
    op.drop_table("blob_chunks")
    op.drop_index(op.f("ix_api_keys_user_id"), table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_table("workers")
    op.drop_table("users")
    op.drop_table("price_bars")
    op.drop_index("ix_deletions_open", table_name="deletions", postgresql_where=sa.text("done_at IS NULL"))
    op.drop_table("deletions")
    op.drop_table("chores")
    op.drop_table("blobs")
    op.drop_index(op.f("ix_audit_session_id"), table_name="audit")
    op.drop_index(op.f("ix_audit_owner_id"), table_name="audit")
    op.drop_table("audit")
    op.execute("DROP FUNCTION refuse_change()")
    op.execute("DROP FUNCTION digests_in(jsonb)")
