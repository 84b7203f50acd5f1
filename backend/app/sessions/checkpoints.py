"""LangGraph checkpoints in Redis: a cache of the journal, whose loss does no harm.

One hash per thread has a field for each checkpoint and for each pending write. Plain commands suffice: no
modules, Lua or locks.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from redis.asyncio import Redis

from app.sessions.checkpoint_keys import PREFIX, checkpoint_key

ALLOWED_TYPES: tuple[tuple[str, str], ...] = ()
"""Types that a checkpoint may construct beyond the serializer's safe ones: none, since state is JSON."""

_KEEP_S = 24 * 3600
"""Default lifetime of a thread after its last write, in seconds. Workers set their own from the settings."""
# LangGraph puts `:` and `|` into namespaces, so neither can part the names of fields.
_SEPARATOR = "\x1f"


def thread_config(thread_id: str, namespace: str = "", checkpoint_id: str | None = None) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _read_address(config: RunnableConfig) -> tuple[str, str]:
    """Return thread id and namespace."""
    address = config["configurable"]
    return str(address["thread_id"]), address.get("checkpoint_ns", "")


class RedisCheckpoints(BaseCheckpointSaver[int]):
    """Checkpoints of any LangGraph graph."""

    def __init__(self, redis: "Redis", keep_s: int = _KEEP_S) -> None:
        super().__init__(serde=JsonPlusSerializer(allowed_msgpack_modules=ALLOWED_TYPES))
        self._redis = redis
        self._keep_s = keep_s

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, namespace = _read_address(config)
        fields = await self._read(thread_id)
        requested_id = get_checkpoint_id(config)
        ids = [stored for stored in _checkpoint_ids(fields, namespace) if requested_id in (None, stored)]
        # Ids of LangGraph are UUIDs that grow with time: the largest is the newest.
        return self._tuple(fields, thread_id, namespace, max(ids)) if ids else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, newest first within each namespace of a thread."""
        requested_id = get_checkpoint_id(config) if config else None
        before_id = get_checkpoint_id(before) if before else None
        count = 0
        for thread_id in [_read_address(config)[0]] if config else await self._threads():
            fields = await self._read(thread_id)
            for namespace in _namespaces(fields, config):
                for checkpoint_id in sorted(_checkpoint_ids(fields, namespace), reverse=True):
                    if (requested_id and checkpoint_id != requested_id) or (
                        before_id and checkpoint_id >= before_id
                    ):
                        continue
                    entry = self._tuple(fields, thread_id, namespace, checkpoint_id)
                    if filter and any(entry.metadata.get(key) != value for key, value in filter.items()):
                        continue
                    if limit is not None and count >= limit:
                        return
                    count += 1
                    yield entry

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, namespace = _read_address(config)
        parent = config["configurable"].get("checkpoint_id")
        value = self._dump([checkpoint, get_checkpoint_metadata(config, metadata), parent])
        # One transaction: a hash without its lifetime would stay in Redis for ever.
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hset(checkpoint_key(thread_id), _checkpoint_field(namespace, checkpoint["id"]), value)
            pipeline.expire(checkpoint_key(thread_id), self._keep_s)
            await pipeline.execute()
        return thread_config(thread_id, namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store pending writes. An ordinary one is never replaced; a special one (error, interrupt) is."""
        thread_id, namespace = _read_address(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        async with self._redis.pipeline(transaction=True) as pipeline:
            for i, (channel, value) in enumerate(writes):
                # Special channels have fixed negative places, so that
                # a second interrupt takes the place of the first.
                index = WRITES_IDX_MAP.get(channel, i)
                name = _SEPARATOR.join(("w", namespace, checkpoint_id, task_id, str(index)))
                put = pipeline.hsetnx if index >= 0 else pipeline.hset
                put(checkpoint_key(thread_id), name, self._dump([task_id, channel, value, task_path]))
            pipeline.expire(checkpoint_key(thread_id), self._keep_s)
            await pipeline.execute()

    async def adelete_thread(self, thread_id: str) -> None:
        await self._redis.delete(checkpoint_key(thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all checkpoints (`delete`), or all but the newest of each namespace (`keep_latest`)."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"There is no pruning strategy {strategy!r}: use keep_latest or delete.")
        for thread_id in thread_ids:
            fields = await self._read(thread_id)
            newest = {
                namespace: max(_checkpoint_ids(fields, namespace)) for namespace in _namespaces(fields, None)
            }
            expired = [
                name
                for name in fields
                # Names of checkpoints and of writes both have namespace and id at places 1 and 2.
                if strategy == "delete" or newest.get(name.split(_SEPARATOR)[1]) != name.split(_SEPARATOR)[2]
            ]
            if expired:
                await self._redis.hdel(checkpoint_key(thread_id), *expired)

    async def replace(self, thread_id: str, checkpoint: Checkpoint, metadata: CheckpointMetadata) -> None:
        """Store a checkpoint as the only one of its thread."""
        # One transaction: a reader finds the former checkpoint or this one, never none.
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.delete(checkpoint_key(thread_id))
            pipeline.hset(
                checkpoint_key(thread_id),
                _checkpoint_field("", checkpoint["id"]),
                self._dump([checkpoint, metadata, None]),
            )
            pipeline.expire(checkpoint_key(thread_id), self._keep_s)
            await pipeline.execute()

    async def _threads(self) -> list[str]:
        return [_text(key)[len(PREFIX) :] async for key in self._redis.scan_iter(match=PREFIX + "*", count=500)]

    async def _read(self, thread_id: str) -> dict[str, bytes]:
        raw: dict[bytes, bytes] = await self._redis.hgetall(checkpoint_key(thread_id))  # type: ignore[assignment]
        return {_text(name): value for name, value in raw.items()}

    def _tuple(
        self, fields: dict[str, bytes], thread_id: str, namespace: str, checkpoint_id: str
    ) -> CheckpointTuple:
        checkpoint, metadata, parent = self._load(fields[_checkpoint_field(namespace, checkpoint_id)])
        return CheckpointTuple(
            config=thread_config(thread_id, namespace, checkpoint_id),
            checkpoint=checkpoint,
            metadata=metadata,
            parent_config=thread_config(thread_id, namespace, parent) if parent else None,
            pending_writes=self._writes(fields, namespace, checkpoint_id),
        )

    def _writes(self, fields: dict[str, bytes], namespace: str, checkpoint_id: str) -> list[PendingWrite]:
        start = _SEPARATOR.join(("w", namespace, checkpoint_id, ""))
        writes = []
        for name, raw in fields.items():
            if name.startswith(start):
                task_id, channel, value, task_path = self._load(raw)
                order = writes_sort_key(task_path, task_id, int(name.rsplit(_SEPARATOR, 1)[1]))
                writes.append((order, (task_id, channel, value)))
        return [write for _, write in sorted(writes, key=lambda pair: pair[0])]

    def _dump(self, value: Any) -> bytes:
        kind, raw = self.serde.dumps_typed(value)
        # Kinds are words (`msgpack`, `bytes`), so the first bar ends the kind whatever follows.
        return kind.encode() + b"|" + raw

    def _load(self, value: bytes) -> Any:
        kind, _, raw = value.partition(b"|")
        return self.serde.loads_typed((kind.decode(), raw))


def _checkpoint_field(namespace: str, checkpoint_id: str) -> str:
    return _SEPARATOR.join(("c", namespace, checkpoint_id))


def _checkpoint_ids(fields: dict[str, bytes], namespace: str) -> list[str]:
    start = _checkpoint_field(namespace, "")
    return [name[len(start) :] for name in fields if name.startswith(start)]


def _namespaces(fields: dict[str, bytes], config: RunnableConfig | None) -> list[str]:
    requested = config["configurable"].get("checkpoint_ns") if config else None
    stored = sorted({name.split(_SEPARATOR)[1] for name in fields if name.startswith("c")})
    return [namespace for namespace in stored if requested in (None, namespace)]


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
