"""Administration of accounts: list, disable, enable, set quotas."""

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
    """Actions of one admin in the caller's transaction, each with a row of the audit.

    `admin_id`: None for the operator at the terminal.
    """

    db: AsyncSession
    admin_id: UUID | None

    async def list_accounts(
        self, email: str | None, disabled: bool | None, limit: int, offset: int
    ) -> tuple[list[AccountView], int]:
        """List accounts, oldest first, and their number. `email`: a part of the address."""
        query = select(UserRow)
        if email is not None:
            # A percent sign in the search is a letter, and no pattern.
            query = query.where(UserRow.email.contains(email.lower(), autoescape=True))
        if disabled is not None:
            query = query.where(UserRow.disabled_at.is_not(None) if disabled else UserRow.disabled_at.is_(None))
        total = await self.db.scalar(select(func.count()).select_from(query.subquery())) or 0
        page = query.order_by(UserRow.created_at, UserRow.id).limit(limit).offset(offset)
        rows = (await self.db.execute(page)).scalars()
        return [AccountView.model_validate(row) for row in rows], total

    async def set_disabled(self, user_id: UUID, disabled: bool) -> AccountView:
        """Disable or enable an account. Disabling revokes all tokens; keys work again once it is enabled.

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
        """Replace the user's own quotas. Raises NotFound."""
        await UserRepository(self.db).get(user_id)
        quotas = quota_update.model_dump(exclude_none=True)
        changed = update(UserRow).where(UserRow.id == user_id).values(quotas=quotas).returning(UserRow)
        # The session may hold the row as it was before.
        user = (await self.db.execute(changed, execution_options={"populate_existing": True})).scalar_one()
        await self._record("quotas_set", user_id, quotas=quotas)
        return AccountView.model_validate(user)

    async def list_audit(self, user_id: UUID | None, limit: int, offset: int) -> tuple[list[AuditRow], int]:
        """List audited actions on accounts, newest first; sessions have an audit of their own."""
        query = select(AuditRow).where(AuditRow.session_id.is_(None))
        if user_id is not None:
            query = query.where(AuditRow.owner_id == user_id)
        total = await self.db.scalar(select(func.count()).select_from(query.subquery())) or 0
        page = query.order_by(AuditRow.id.desc()).limit(limit).offset(offset)
        return list((await self.db.execute(page)).scalars()), total

    async def _record(self, action: str, user_id: UUID, **detail: Any) -> None:
        by = {"by": self.admin_id} if self.admin_id else {}
        actor = "admin" if self.admin_id else "operator"
        await audit.record(self.db, action, owner_id=user_id, actor=actor, **by, **detail)
