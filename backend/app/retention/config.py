"""What an operator decides about how long things are kept."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Days = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
SomeDays = Annotated[float, Field(ge=0.05, le=100_000, allow_inf_nan=False)]
DAY_S = 86_400.0


class Retention(BaseModel):
    """In days; 0 keeps for ever. Sessions and their journals are evidence: kept unless an operator says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions_days: Days = 0
    """After a session has ended; with its journal, events and artifacts."""
    runs_days: Days = 90
    """After a run has ended; with what it left."""
    journals_days: Days = 0
    """Steps and calls of ended sessions: without them a report cannot be checked again."""
    events_days: Days = 90
    """Of ended sessions; the last one stays, and says how the session ended."""
    audit_days: Days = 365
    """What was done to accounts, and of sessions that are gone."""
    keys_days: Days = 90
    """API keys after they were revoked or expired."""
    tokens_days: SomeDays = 1
    """Refresh tokens after they expired."""
    idempotency_days: SomeDays = 7
    """How long a request with an Idempotency-Key answers with what it made before."""
    deletions_days: SomeDays = 30
    """Records of deletions that are done."""
    checkpoints_days: SomeDays = 1
    """Checkpoints in Redis that nobody has written again; they can be made again from the journal."""
    blobs_days: SomeDays = 1
    """Bytes that no row names, after they were last written: the longest that work may take between the two."""
    files_days: SomeDays = 1
    """What killed processes left in the host's data folder."""
