"""The checkpoint of one drive, held in the process until the drive is handed back."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from redis.exceptions import RedisError

from app.sessions.checkpoints import RedisCheckpoints, thread_config
from app.sessions.lease import Lease


class SliceCheckpoint(BaseCheckpointSaver[int]):
    """The checkpointer of one drive: reads Redis at its start, writes Redis at its end.

    A session that ends in its first slice needs no checkpoint in Redis. Pending writes are not stored: an
    interrupted node runs again. Nor are checkpoints of nested graphs, whose calls are in the journal.
    """

    def __init__(self, store: RedisCheckpoints) -> None:
        super().__init__(serde=store.serde)
        self._store = store
        self._thread_id = ""
        self._loaded: CheckpointTuple | None = None
        self._newest: tuple[Checkpoint, CheckpointMetadata] | None = None

    async def load(self, lease: Lease) -> bool:
        """Load the checkpoint to continue from. Return False if there is none.

        One that is ahead of the journal belongs to steps that were never committed, and is not used.
        """
        self._thread_id = str(lease.facts.id)
        # The first claim: nothing can be stored yet, so Redis is not asked.
        if lease.fence == 1:
            return False
        try:
            stored = await self._store.aget_tuple(thread_config(self._thread_id))
        # The graph then runs again over its journal, which only takes longer.
        except (RedisError, OSError):
            return False
        if stored and stored.checkpoint["channel_values"].get("step", 0) <= lease.last_seq:
            self._loaded = stored
        return self._loaded is not None

    async def flush(self) -> None:
        """Store the newest checkpoint for the next drive. While Redis is away the journal suffices."""
        if self._newest:
            try:
                await self._store.replace(self._thread_id, *self._newest)
            except (RedisError, OSError):
                return

    async def forget(self, lease: Lease) -> None:
        # A session that ended in its first slice has stored none.
        if lease.fence > 1:
            try:
                await self._store.adelete_thread(str(lease.facts.id))
            except (RedisError, OSError):
                return

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return None if config["configurable"].get("checkpoint_ns") else self._loaded

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        namespace = config["configurable"].get("checkpoint_ns", "")
        if not namespace:
            self._newest = (checkpoint, metadata)
        return thread_config(self._thread_id, namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Discard the writes; see the class."""
