"""The schema, in one module per subject; `Base.metadata` holds all tables."""

from app.db.tables.accounts import ApiKeyRow, AuditRow, RefreshTokenRow, UserRow
from app.db.tables.artifacts import ArtifactRow
from app.db.tables.base import VERBATIM, Base, Json
from app.db.tables.blobs import BlobChunkRow, BlobRow
from app.db.tables.datasets import DatasetRow, PriceBarRow, PriceSeriesRow
from app.db.tables.sessions import (
    CallRow,
    EventRow,
    FitRow,
    HoldoutLookRow,
    MessageRow,
    QuestionRow,
    RoundRow,
    SessionRow,
    StepRow,
)
from app.db.tables.threads import ThreadRow, TurnRow, WorldlineRow
from app.db.tables.workers import ChoreRow, DeletionRow, WorkerRow
from app.db.tables.workflows import (
    AgentJobRow,
    DataKeyRow,
    RequestHostRow,
    SecretRow,
    WorkflowFiringRow,
    WorkflowProposalRow,
    WorkflowRow,
    WorkflowTriggerRow,
    WorkflowVersionRow,
)

__all__ = [
    "VERBATIM",
    "AgentJobRow",
    "ApiKeyRow",
    "ArtifactRow",
    "AuditRow",
    "Base",
    "BlobChunkRow",
    "BlobRow",
    "CallRow",
    "ChoreRow",
    "DataKeyRow",
    "DatasetRow",
    "DeletionRow",
    "EventRow",
    "FitRow",
    "HoldoutLookRow",
    "Json",
    "MessageRow",
    "PriceBarRow",
    "PriceSeriesRow",
    "QuestionRow",
    "RefreshTokenRow",
    "RequestHostRow",
    "RoundRow",
    "SecretRow",
    "SessionRow",
    "StepRow",
    "ThreadRow",
    "TurnRow",
    "UserRow",
    "WorkerRow",
    "WorkflowFiringRow",
    "WorkflowProposalRow",
    "WorkflowRow",
    "WorkflowTriggerRow",
    "WorkflowVersionRow",
    "WorldlineRow",
]
