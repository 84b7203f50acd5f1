"""What an admin does to accounts: look, disable and enable, give quotas."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.quotas import QuotaUpdate
from app.auth.repository import RefreshTokenRepository, UserRepository
from app.auth.schemas import AccountView
from app.db.tables import AuditRow, UserRow
from app.errors import Conflict
from app.observability import audit


@dataclass(frozen=True)
class AccountAdministration:
    """One admin's doings, in the caller's transaction, each with its line in the audit.

    `by`: the admin's id; None for the operator at the terminal.
    """

    db: AsyncSession
    admin_id: UUID | None

    async def list_accounts(
        self, email: str | None, disabled: bool | None, limit: int, offset: int
    ) -> tuple[list[AccountView], int]:
        """Oldest first, and how many there are in all. `email`: a part of the address."""
        found = select(UserRow)
        if email is not None:
            found = found.where(UserRow.email.contains(email.lower(), autoescape=True))
        if disabled is not None:
            found = found.where(UserRow.disabled_at.is_not(None) if disabled else UserRow.disabled_at.is_(None))
        total = await self.db.scalar(select(func.count()).select_from(found.subquery())) or 0
        page = found.order_by(UserRow.created_at, UserRow.id).limit(limit).offset(offset)
        rows = (await self.db.execute(page)).scalars()
        return [AccountView.model_validate(row) for row in rows], total

    async def set_disabled(self, user_id: UUID, disabled: bool) -> AccountView:
        """Disabling ends every token of the user's; keys rest until the account is enabled again.

        Raises NotFound, and Conflict when admins disable themselves.
        """
        if disabled and user_id == self.admin_id:
            raise Conflict("own_account", "You cannot disable your own account. Ask another admin.")
        user = await UserRepository(self.db).get(user_id)
        if disabled != (user.disabled_at is not None):
            user.disabled_at = datetime.now(UTC) if disabled else None
            if disabled:
                await RefreshTokenRepository(self.db).revoke_all(user_id)
            await self._record("user_disabled" if disabled else "user_enabled", user_id)
            await self.db.flush()
        return AccountView.model_validate(user)

    async def set_quotas(self, user_id: UUID, quota_update: QuotaUpdate) -> AccountView:
        """The user's own quotas instead of those before. Raises NotFound."""
        await UserRepository(self.db).get(user_id)
        quotas = quota_update.model_dump(exclude_none=True)
        changed = update(UserRow).where(UserRow.id == user_id).values(quotas=quotas).returning(UserRow)
        user = (await self.db.execute(changed, execution_options={"populate_existing": True})).scalar_one()
        await self._record("quotas_set", user_id, quotas=quotas)
        return AccountView.model_validate(user)

    async def list_audit(self, user_id: UUID | None, limit: int, offset: int) -> tuple[list[AuditRow], int]:
        """What was done to accounts, newest first; sessions have an audit of their own."""
        found = select(AuditRow).where(AuditRow.session_id.is_(None))
        if user_id is not None:
            found = found.where(AuditRow.owner_id == user_id)
        total = await self.db.scalar(select(func.count()).select_from(found.subquery())) or 0
        page = found.order_by(AuditRow.id.desc()).limit(limit).offset(offset)
        return list((await self.db.execute(page)).scalars()), total

    async def _record(self, action: str, user_id: UUID, **detail: Any) -> None:
        by = {"by": self.admin_id} if self.admin_id else {}
        actor = "admin" if self.admin_id else "operator"
        await audit.record(self.db, action, owner_id=user_id, actor=actor, **by, **detail)
