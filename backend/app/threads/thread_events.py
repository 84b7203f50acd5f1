"""The events of a thread: its live turns and studies, merged into one stream that goes on at a cursor.

The cursor lists every session that can still send something, with the number of its last event, and the turns
that were created last: what is created after these is new to the client, also if it ended meanwhile.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.errors import InvalidInput, NotFound
from app.sessions.events.serialization import EventMessage, dumps
from app.sessions.events.watches import MAX_WATCHES, CheckSession, Events, Frame, Watches
from app.threads.service import make_not_found
from app.threads.statements import STUDIES, THREADS
from app.threads.stream_events import TurnTranslation

LOOK_INTERVAL_S = 1.0
"""Delay of a turn that another client began, in seconds: noticeable to a user, cheap for the database."""
OVERLAP = timedelta(seconds=5)
"""Turns that were created so long before the newest one are new unless the cursor names them: a turn is visible
once its statement is committed, and so not in the order of its time."""
MAX_ENDED_TURNS = 20
"""Ended turns of a cursor. With more of them in OVERLAP some come again after a lost connection."""
MAX_NUMBER = 2**53
"""Number of an event that JSON readers still hold exactly."""


class ThreadMessage(NamedTuple):
    """An event of a thread. `cursor`: the position after it; None for an event that does not last."""

    cursor: str | None
    kind: str
    data: str


class ThreadSession(NamedTuple):
    """A turn or a study of a thread. `event_seq`: number of its last event."""

    id: UUID
    is_study: bool
    is_live: bool
    created_at: datetime
    event_seq: int


@dataclass
class _Source:
    """A session of the stream. `position`: number of its last event that was sent."""

    session: ThreadSession
    position: int
    is_over: bool
    translation: TurnTranslation
    is_watched: bool = False


def parse_cursor(text: str) -> dict[UUID, int]:
    """Parse `id:number,id:number`. Raises InvalidInput."""
    try:
        pairs = [pair.split(":") for pair in text.split(",") if pair]
        positions = {UUID(session): int(number) for session, number in pairs}
    except ValueError as error:
        raise _make_bad_cursor() from error
    if len(positions) > MAX_WATCHES or not all(0 <= number <= MAX_NUMBER for number in positions.values()):
        raise _make_bad_cursor()
    return positions


def _make_bad_cursor() -> InvalidInput:
    return InvalidInput("bad_cursor", "The cursor must be the `id` of an event of this stream.", field="since")


@dataclass
class ThreadEvents:
    """One stream of the events of a thread. `events`: the batches of a session after a number."""

    db: Database
    owner: UUID
    thread_id: UUID
    events: Events
    check_session: CheckSession
    since: Mapping[UUID, int]
    _sources: dict[UUID, _Source] = field(default_factory=dict)
    _session_ids: set[UUID] = field(default_factory=set)

    async def check_exists(self) -> None:
        """Raises NotFound."""
        if await self.db.row(THREADS.get_thread, self.thread_id, self.owner) is None:
            raise make_not_found(self.thread_id)

    async def stream(self) -> AsyncGenerator[list[ThreadMessage], None]:
        """Yield the events that are there and those to come, until the thread is deleted."""
        watches = Watches(self.events, self.check_session, self._look, LOOK_INTERVAL_S)
        try:
            await self._begin()
            yield [self._open()]
            self._watch(watches)
            watches.watch_lists("turns")
            async with aclosing(watches.frames()) as frames:
                async for frame in frames:
                    if messages := self._read_frame(frame):
                        yield messages
                    self._watch(watches)
        except NotFound:
            return

    async def _begin(self) -> None:
        sessions = await self._list_sessions(list(self.since), None)
        rows = await self.db.rows(STUDIES.list_live_studies, self.thread_id, self.owner)
        for session in [*sessions, *(ThreadSession(**row) for row in rows)]:
            is_past = not (self.since or session.is_live)
            self._add(session, self.since.get(session.id, session.event_seq if is_past else 0))

    async def _look(self) -> int:
        """Add the turns that were created meanwhile. Returns how many sessions the stream has had."""
        # Of turns alone: the time of a study that a turn has just named is this host's, not the database's.
        turns = [source.session for source in self._sources.values() if not source.session.is_study]
        mark = max((turn.created_at for turn in turns), default=datetime.now(UTC)) - OVERLAP
        for session in await self._list_sessions([], mark):
            self._add(session, 0)
        return len(self._session_ids)

    async def _list_sessions(self, ids: Sequence[UUID], mark: datetime | None) -> list[ThreadSession]:
        """List live turns, those of `ids`, and those created after `mark`, by default after those of `ids`.

        Raises NotFound for a deleted thread.
        """
        rows = await self.db.rows(
            THREADS.list_thread_sessions, self.thread_id, self.owner, ids, mark, OVERLAP.total_seconds()
        )
        if not rows:
            raise make_not_found(self.thread_id)
        return [ThreadSession(**row) for row in rows if row["id"] is not None]

    def _add(self, session: ThreadSession, position: int) -> None:
        if session.id in self._session_ids:
            return
        self._session_ids.add(session.id)
        is_over = not session.is_live and position >= session.event_seq
        translation = TurnTranslation(str(session.id))
        self._sources[session.id] = _Source(session, position, is_over, translation)
        self._forget_old()

    def _forget_old(self) -> None:
        """Drop the ended sessions that the cursor does not need: all but the newest turns."""
        turns = [source for source in self._sources.values() if not source.session.is_study]
        newest = sorted(turns, key=lambda source: source.session.created_at, reverse=True)
        recent_ids = {
            source.session.id
            for place, source in enumerate(newest[:MAX_ENDED_TURNS])
            if not place or source.session.created_at > newest[0].session.created_at - OVERLAP
        }
        for source in [*self._sources.values()]:
            if source.is_over and source.session.id not in recent_ids:
                del self._sources[source.session.id]

    def _watch(self, watches: Watches) -> None:
        """Begin to watch the sessions that can send something, as many as one stream may watch."""
        live = [source for source in self._sources.values() if not source.is_over]
        # A place less: the look for new turns is a watch, too.
        free = MAX_WATCHES - 1 - sum(source.is_watched for source in live)
        for source in [source for source in live if not source.is_watched][:free]:
            source.is_watched = True
            watches.watch(str(source.session.id), source.session.id, source.position)

    def _read_frame(self, frame: Frame) -> list[ThreadMessage]:
        source = self._sources.get(UUID(frame.watch)) if frame.watch else None
        if source is None:
            return []
        if frame.is_last or frame.refusal is not None:
            source.is_over = True
            self._forget_old()
            return []
        return [message for event in frame.events for message in self._read_event(source, event)]

    def _read_event(self, source: _Source, event: EventMessage) -> list[ThreadMessage]:
        if event.seq is not None:
            source.position = event.seq
        if source.session.is_study:
            data = f'{{"session_id":"{source.session.id}","event":{event.data}}}'
            return [ThreadMessage(self._cursor() if event.seq is not None else None, "study", data)]
        if event.kind == "session_finished":
            self._add_studies(json.loads(event.data))
        return [
            ThreadMessage(
                self._cursor() if part.seq is not None else None,
                part.kind,
                dumps({"turn_id": str(source.session.id), **json.loads(part.data)}),
            )
            for part in source.translation.translate(event)
        ]

    def _add_studies(self, finished: Mapping[str, Mapping[str, list[str]]]) -> None:
        """Add the studies that a turn started, which its end names."""
        for study in finished["result"].get("studies") or ():
            self._add(ThreadSession(UUID(study), True, True, datetime.now(UTC), 0), 0)

    def _cursor(self) -> str:
        return ",".join(f"{key}:{source.position}" for key, source in self._sources.items())

    def _open(self) -> ThreadMessage:
        live = [source.session for source in self._sources.values() if source.session.is_live]
        body = {
            "thread_id": str(self.thread_id),
            "turns": [str(session.id) for session in live if not session.is_study],
            "studies": [str(session.id) for session in live if session.is_study],
        }
        return ThreadMessage(self._cursor(), "thread", dumps(body))
