"""Settings of retention periods."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Days = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
PositiveDays = Annotated[float, Field(ge=0.05, le=100_000, allow_inf_nan=False)]
DAY_S = 86_400.0


class RetentionPeriods(BaseModel):
    """Periods in days; 0 keeps for ever, the default for sessions and journals, which are evidence."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions_days: Days = 0
    """Ended sessions, with their journals, events and artifacts."""
    threads_days: Days = 0
    """Conversations after their last message or change, with all of their turns and the artifacts of these."""
    runs_days: Days = 90
    """Ended runs and answered jobs, with their artifacts."""
    journals_days: Days = 0
    """Steps and calls of ended sessions: without them a report cannot be checked again."""
    events_days: Days = 90
    """Events of ended sessions, except the last one, which records how the session ended."""
    audit_days: Days = 365
    """Audited actions on accounts and on deleted sessions."""
    keys_days: Days = 90
    """API keys after they were revoked or expired."""
    tokens_days: PositiveDays = 1
    """Refresh tokens after they expired."""
    idempotency_days: PositiveDays = 7
    """Idempotency keys: a repeated request returns the earlier response for so long."""
    deletions_days: PositiveDays = 30
    """Records of completed deletions."""
    checkpoints_days: PositiveDays = 1
    """Checkpoints in Redis after their last write; they can be rebuilt from the journal."""
    blobs_days: PositiveDays = 1
    """Unreferenced blobs after their last write: the maximum time between writing bytes and their row."""
    files_days: PositiveDays = 1
    """Temporary files of killed processes in the host's data folder."""
