"""The unit of work: one SQLAlchemy transaction and the jobs that are sent after its commit."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from app.jobs import Outbox, SendJob


@dataclass
class UnitOfWork:
    """`db`: the open transaction. `outbox`: jobs sent after the commit, dropped on a rollback."""

    db: AsyncSession
    outbox: Outbox = field(default_factory=Outbox)


class OpenUnitOfWork(Protocol):
    def __call__(self) -> AbstractAsyncContextManager[UnitOfWork]: ...


def unit_of_work(engine: AsyncEngine, send: SendJob) -> OpenUnitOfWork:
    """Make a factory of units of work: `async with open_uow() as uow: ...` commits at the end of the block."""
    # Rows are read after the commit too, where a refresh would need a transaction that is no more.
    sessions = async_sessionmaker(engine, expire_on_commit=False)

    @asynccontextmanager
    async def open_uow() -> AsyncIterator[UnitOfWork]:
        async with sessions() as db:
            uow = UnitOfWork(db)
            yield uow
            await db.commit()
        # Only now do other processes see the rows that a job is about.
        for job in uow.outbox.drain():
            send(job)

    return open_uow
