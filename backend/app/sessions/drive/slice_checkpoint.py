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
    """What one drive reads at its start and writes at its end; in between nothing leaves the process.

    A session that ends in its first slice never touches Redis for it. Pending writes are not kept: an
    interrupted node runs again. Nor are the checkpoints of nested graphs: their calls are in the journal.
    """

    def __init__(self, store: RedisCheckpoints) -> None:
        super().__init__(serde=store.serde)
        self._store = store
        self._thread_id = ""
        self._loaded: CheckpointTuple | None = None
        self._newest: tuple[Checkpoint, CheckpointMetadata] | None = None

    async def load(self, lease: Lease) -> bool:
        """Whether there is a checkpoint to go on from. One ahead of the journal is of a lost history: no."""
        self._thread_id = str(lease.facts.id)
        if lease.fence == 1:
            return False
        try:
            found = await self._store.aget_tuple(thread_config(self._thread_id))
        except (RedisError, OSError):
            return False
        if found and found.checkpoint["channel_values"].get("step", 0) <= lease.last_seq:
            self._loaded = found
        return self._loaded is not None

    async def flush(self) -> None:
        """Keep the newest for the next drive; without Redis the journal is enough."""
        if self._newest:
            try:
                await self._store.replace(self._thread_id, *self._newest)
            except (RedisError, OSError):
                return

    async def forget(self, lease: Lease) -> None:
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
        """Not kept; see the class."""
