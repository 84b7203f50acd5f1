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
    MessageRow,
    QuestionRow,
    RoundRow,
    SessionRow,
    StepRow,
)
from app.db.tables.workers import ChoreRow, DeletionRow, WorkerRow

__all__ = [
    "VERBATIM",
    "ApiKeyRow",
    "ArtifactRow",
    "AuditRow",
    "Base",
    "BlobChunkRow",
    "BlobRow",
    "CallRow",
    "ChoreRow",
    "DatasetRow",
    "DeletionRow",
    "EventRow",
    "FitRow",
    "Json",
    "MessageRow",
    "PriceBarRow",
    "PriceSeriesRow",
    "QuestionRow",
    "RefreshTokenRow",
    "RoundRow",
    "SessionRow",
    "StepRow",
    "UserRow",
    "WorkerRow",
]
