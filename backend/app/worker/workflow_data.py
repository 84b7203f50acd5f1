"""Models and datasets of workflows: those of their owner."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from app.artifacts.predictions import Predictor
from app.artifacts.workspace import FrameRef
from app.auth.quotas import MIB
from app.auth.storage_quota import StorageQuota
from app.datasets.repository import DatasetRepository
from app.datasets.service import Datasets, Upload, UploadLimits
from app.db.tables import UserRow
from app.errors import NotFound
from app.resources import Resources
from app.sessions.schemas import Preferences, SessionCreate
from app.sessions.service import SessionService
from app.workflows.node_configs import RunStudy
from app.workflows.runs.context import StoredDataset


async def find_owner_model(resources: Resources, owner: UUID, model_id: UUID | None, target: str | None) -> str:
    """Return the digest of a model: the one of the id, else the newest for the target.

    Raises NotFound, and Conflict if the reading of its data was corrected.
    """
    if model_id is None:
        models = await resources.check_documents(owner).list_models()
        model_id = next((model.id for model in models if model.target == target), None)
    if model_id is None:
        raise NotFound("model_not_found", f"You have no model that predicts {target}.")
    predictor = Predictor(owner, resources.open_uow, resources.computer)
    model = await predictor.get_model(model_id)
    await predictor.require_reading(model)
    return model.digest


async def start_owner_study(
    resources: Resources,
    owner: UUID,
    run_id: UUID,
    study_id: UUID,
    study: RunStudy,
    dataset_ids: Sequence[UUID],
) -> None:
    """Start a study of an owner for a run, once.

    Raises TooMany above a quota, NotFound for a dataset that is gone, Conflict after a cancel of the run.
    """
    config = resources.settings.sessions
    sessions = SessionService(resources.database, resources.tail, resources.send, config)
    clarify: Literal["ask", "never"] = "ask" if study.ask else "never"
    preferences = Preferences(time_budget_s=study.time_budget_s, clarify=clarify)
    request = SessionCreate(goal=study.goal, dataset_ids=[*dataset_ids], preferences=preferences)
    await sessions.create(owner, request, parent_id=run_id, session_id=study_id)


async def store_owner_dataset(
    resources: Resources, owner: UUID, name: str, table: FrameRef, key: str
) -> StoredDataset:
    """Store a table as a dataset, or find the one that was stored with this key.

    Raises TooMany above the owner's quota of stored bytes.
    """
    settings = resources.settings
    async with resources.open_uow() as uow:
        # A node that runs again after a crash finds what it stored.
        row = await DatasetRepository(uow.db, owner).by_idempotency_key(key)
        account = await uow.db.get(UserRow, owner)
    if row is None:
        if account is None:
            raise NotFound("user_not_found", "The owner of this workflow was deleted.")
        size_bytes = await resources.blobs.size(table.digest)
        quotas = settings.quotas.with_overrides(account.quotas)
        await StorageQuota(resources.database).require_bytes(owner, quotas.stored_mb * MIB, size_bytes)
        limits = UploadLimits(max_bytes=settings.upload_max_size_mb * MIB)
        datasets = Datasets(owner, resources.open_uow, resources.computer, limits)
        row = await datasets.add(Upload(None, f"{name}.parquet", size_bytes, table.digest, name), key)
    return StoredDataset(row.id, row.name)
