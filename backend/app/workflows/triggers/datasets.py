"""Runs for new datasets: each dataset of a name begins one run, which reads it instead of the named one."""

import json
import logging
import secrets
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID, uuid5

from app.db.pool import Database
from app.program_runs.schemas import WorkflowOrigin
from app.sessions.events.serialization import dumps
from app.workflows.document import WorkflowDocument
from app.workflows.node_configs import Trigger
from app.workflows.runs.schemas import WorkflowRunPreferences, make_whole_run
from app.workflows.statements import TRIGGERS
from app.workflows.triggers.limits import MAX_LIVE_RUNS

log = logging.getLogger(__name__)

MAX_FIRINGS = 100
"""New datasets of one sweep; the next sweep takes further ones."""


class FiringRow(NamedTuple):
    """A new dataset that a trigger waits for. JSON: `config`, `document`, `chain`.

    `cause`: the name of the workflow whose run stored the dataset, None if none did.
    """

    workflow_id: UUID
    node_id: str
    dataset_id: UUID
    owner_id: UUID
    config: str
    version: int
    document: str
    chain: str
    cause: str | None


@dataclass(frozen=True)
class DatasetFirings:
    db: Database

    async def begin_all(self) -> int:
        """Begin the runs of new datasets, once each. Return their number."""
        rows = [
            FiringRow(**row) for row in await self.db.rows(TRIGGERS.list_firings, MAX_FIRINGS, MAX_LIVE_RUNS)
        ]
        return sum([await self._begin(row) for row in rows])

    async def _begin(self, row: FiringRow) -> bool:
        key = (row.workflow_id, row.node_id, row.dataset_id)
        try:
            trigger = Trigger.model_validate_json(row.config)
            document = WorkflowDocument.model_validate_json(row.document)
        except ValueError:
            log.warning("a trigger cannot be read", extra={"workflow": str(row.workflow_id)}, exc_info=True)
            # Else every sweep would meet it again.
            await self.db.value(TRIGGERS.drop_firing, *key)
            return False
        origin = WorkflowOrigin(id=row.workflow_id, version=row.version, node="")
        chain = [*json.loads(row.chain), *([] if row.cause is None else [row.cause])]
        preferences = WorkflowRunPreferences(workflow=origin, trigger=row.node_id, chain=chain)
        run = make_whole_run(_read_instead(document, trigger.dataset_id, row.dataset_id), preferences)
        # The id of the session follows from trigger and dataset: two workers that sweep at once begin one run.
        session_id = await self.db.value(
            TRIGGERS.fire_dataset,
            *key,
            row.version,
            uuid5(row.workflow_id, f"{row.node_id} dataset {row.dataset_id}"),
            run.goal,
            dumps(run.preferences.model_dump(mode="json", exclude_none=True), "preferences"),
            run.dataset_ids,
            secrets.randbelow(2**31),
            MAX_LIVE_RUNS,
        )
        return session_id is not None


def _read_instead(document: WorkflowDocument, former: UUID | None, new: UUID) -> WorkflowDocument:
    """Return the workflow with every reading of one dataset replaced by another."""
    nodes = [
        node.model_copy(update={"config": {**node.config, "dataset_id": str(new)}})
        if node.type == "read_dataset" and str(node.config.get("dataset_id")).lower() == str(former)
        else node
        for node in document.nodes
    ]
    return document.model_copy(update={"nodes": nodes})
