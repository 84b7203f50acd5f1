"""The quota of stored bytes where a session's calls record artifacts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from app.auth.quotas import MIB, Quotas
from app.auth.storage_quota import StorageQuota
from app.db.pool import Database
from app.sessions.step_scope import ArtifactDraft, SessionFacts
from app.tools.context.tool_context import ChargeStorage


@dataclass(frozen=True)
class StorageCharges:
    """`quotas`: those of a user without their own."""

    db: Database
    quotas: Quotas
    storage_quota: StorageQuota

    def of_session(self, facts: SessionFacts) -> ChargeStorage:
        """Return the function that charges the owner of a session."""
        return partial(self.charge, facts.owner_id)

    async def charge(self, owner: UUID, artifacts: Sequence[ArtifactDraft]) -> None:
        """Raises TooMany above the owner's quota."""
        overrides = await self.db.value("select quotas from users where id = $1", owner)
        max_bytes = self.quotas.with_overrides(json.loads(overrides or "{}")).stored_mb * MIB
        # The same bytes under two names are stored once.
        sizes = {artifact.digest: artifact.size_bytes for artifact in artifacts}
        await self.storage_quota.charge_bytes(owner, max_bytes, sum(sizes.values()))
