"""Accounts and keys straight in the database, one transaction a call, for the terminal."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.admin import AccountAdministration
from app.auth.api_keys import ApiKeys
from app.auth.passwords import Passwords
from app.auth.principal import UserRole
from app.auth.quotas import QuotaUpdate
from app.auth.repository import KeyRepository, UserRepository
from app.auth.schemas import MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, Email, KeyCreate
from app.auth.service import Accounts
from app.cli.connection.addresses import database_address
from app.db.engine import create_engine
from app.db.keyset import PageRequest
from app.db.migrations import upgrade
from app.db.pool import Database
from app.db.tables import ApiKeyRow, UserRow
from app.db.unit_of_work import unit_of_work
from app.deletion.accounts import request_account_deletion
from app.errors import InvalidInput, NotFound
from app.jobs import Job
from app.settings import Settings
from app.workflows.secrets.store import SecretStore

Result = TypeVar("Result")


class AccountAdmin:
    """Account and key changes. Raises LabError for an unknown account or key, or an invalid value."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url

    def users(self) -> list[UserRow]:
        async def read(db: AsyncSession) -> list[UserRow]:
            return list(await UserRepository(db).all())

        return self._do(read)

    def add_user(self, email: str, password: str, *, admin: bool) -> UserRow:
        # Checked here as the API checks it: this way goes around the validation of requests.
        address = _email(email)
        if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
            raise InvalidInput(
                "bad_password", f"A password has {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters."
            )
        role = UserRole.ADMIN if admin else UserRole.USER
        return self._do(lambda db: Accounts(db, Passwords()).register(address, password, role))

    def forget_secrets(self) -> int:
        """Delete the secrets of all workflows with the key that sealed them; return their number."""

        async def forget() -> int:
            database = await Database.open(self._url, size=1)
            try:
                return await SecretStore(database, tuple).forget_all()
            finally:
                await database.close()

        return asyncio.run(forget())

    def set_disabled(self, email: str, *, disabled: bool) -> None:
        async def change(db: AsyncSession) -> None:
            await AccountAdministration(db, admin_id=None).set_disabled(
                (await _load_user(db, email)).id, disabled
            )

        self._do(change)

    def delete_user(self, email: str) -> None:
        """Nobody can sign in any more; workers delete what it owns."""

        async def find_id(db: AsyncSession) -> UUID:
            return (await _load_user(db, email)).id

        user_id = self._do(find_id)

        async def delete() -> None:
            database = await Database.open(self._url, size=1)
            try:
                await request_account_deletion(database, user_id, "operator")
            finally:
                await database.close()

        asyncio.run(delete())

    def set_quotas(self, email: str, quotas: Mapping[str, Any]) -> Mapping[str, Any]:
        """Change some of an account's own quotas, None for as the settings say; all that it has then."""

        async def change(db: AsyncSession) -> Mapping[str, Any]:
            user = await _load_user(db, email)
            # Quotas are replaced as a whole, so those that stay are sent again.
            update = _quotas({**user.quotas, **quotas})
            account = await AccountAdministration(db, admin_id=None).set_quotas(user.id, update)
            return account.quotas.model_dump(exclude_none=True)

        return self._do(change)

    def keys(self, email: str) -> list[ApiKeyRow]:
        async def read(db: AsyncSession) -> list[ApiKeyRow]:
            return list(
                (await KeyRepository(db, (await _load_user(db, email)).id).page(PageRequest(limit=200))).items
            )

        return self._do(read)

    def create_key(self, email: str, name: str, days: int | None, scopes: Sequence[str] = ()) -> str:
        scope_fields = {"scopes": set(scopes)} if scopes else {}
        try:
            request = KeyCreate.model_validate({"name": name, "expires_in_days": days, **scope_fields})
        except ValidationError as error:
            first = error.errors()[0]
            option = {"expires_in_days": "days", "scopes": "scope"}.get(str(first["loc"][0]), first["loc"][0])
            raise InvalidInput("bad_option", f"--{option}: {first['msg']}.") from None

        async def create(db: AsyncSession) -> str:
            return (await ApiKeys(db, (await _load_user(db, email)).id).create(request, "operator")).key

        return self._do(create)

    def own_key(self, email: str, name: str) -> str:
        """A fresh key of an account of this machine's own, made first if need be; nobody knows its password."""

        async def create(db: AsyncSession) -> str:
            user = await _own_account(db, email)
            return (await ApiKeys(db, user.id).create(KeyCreate(name=name, expires_in_days=30))).key

        return self._do(create)

    def own_account(self, email: str) -> UUID:
        """The id of that account."""

        async def find(db: AsyncSession) -> UUID:
            return (await _own_account(db, email)).id

        return self._do(find)

    def revoke_key(self, email: str, key_id: UUID) -> None:
        async def revoke(db: AsyncSession) -> None:
            await ApiKeys(db, (await _load_user(db, email)).id).revoke(key_id, "operator")

        self._do(revoke)

    def _do(self, work: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
        return asyncio.run(self._in_transaction(work))

    async def _in_transaction(self, work: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
        # An engine for each call, since its connections belong to the loop that `asyncio.run` closes.
        engine = create_engine(self._url, pool_size=1)
        try:
            async with unit_of_work(engine, _no_job)() as uow:
                return await work(uow.db)
        finally:
            await engine.dispose()


@contextmanager
def open_account_admin(settings: Settings) -> Iterator[AccountAdmin]:
    """Open the accounts of the service's database, after migrating it to this version's schema."""
    # An account may be added before the service ran for the first time, so the schema is made here.
    with database_address(settings) as url:
        upgrade(url)
        yield AccountAdmin(url)


def _no_job(job: Job) -> None:
    # Nothing would carry it out: the terminal has no queue.
    raise RuntimeError(f"Accounts queue no jobs, but here is {job.name}.")


async def _load_user(db: AsyncSession, email: str) -> UserRow:
    user = await UserRepository(db).by_email(_email(email))
    if user is None:
        raise NotFound("user_not_found", f"There is no account {email}; `labcrew user list` shows them.")
    return user


def _quotas(quotas: Mapping[str, Any]) -> QuotaUpdate:
    try:
        return QuotaUpdate.model_validate(quotas)
    except ValidationError as error:
        first = error.errors()[0]
        names = ", ".join(QuotaUpdate.model_fields)
        detail = f"{'.'.join(map(str, first['loc']))}: {first['msg']}. Quotas are {names}."
        raise InvalidInput("bad_quota", detail) from None


def _email(text: str) -> str:
    try:
        address: str = TypeAdapter(Email).validate_python(text)
    except ValidationError:
        raise InvalidInput("bad_email", f"{text!r} is no e-mail address.") from None
    return address


async def _own_account(db: AsyncSession, email: str) -> UserRow:
    """Find or make the account; nobody knows its password."""
    user = await UserRepository(db).by_email(email)
    return user or await Accounts(db, Passwords()).register(email, secrets.token_urlsafe(32))
