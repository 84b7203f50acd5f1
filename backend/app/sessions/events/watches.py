"""Many sessions and the lists of one user, merged into one stream of frames."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import UUID

from app.errors import NotFound, TooMany
from app.sessions.events.frames import EndedFrame, ListsFrame, RefusedFrame
from app.sessions.events.serialization import EventMessage, dumps
from app.tasks import cancel_and_wait

MAX_WATCHES = 200
"""Watches of one stream: 20 tabs with ten sessions each."""
MAX_UNSENT_FRAMES = 64
"""Frames that wait for a slow client; then the sources wait, and each has its own limit."""
LISTS_INTERVAL_S = 2.0
"""Delay of news in lists, in seconds: one small statement per browser, instead of lists polled by every tab."""

Events = Callable[[UUID, int], AsyncGenerator[list[EventMessage], None]]
"""The batches of a session's events after a number."""
CheckSession = Callable[[UUID], Awaitable[None]]
"""Raises NotFound for a session that the user does not own."""
ListsPosition = Callable[[], Awaitable[int]]
"""A number that changes with every change of the user's newest sessions and of workflows."""


@dataclass(frozen=True)
class Frame:
    """One message of the stream. `watch`: its id as the client chose it; None for news of the lists.

    `refusal`: code of the error that ended the watch; `is_last`: no further event can come.
    """

    watch: str | None
    events: Sequence[EventMessage] = ()
    is_last: bool = False
    refusal: str | None = None
    lists: int | None = None


@dataclass(eq=False)
class _Watch:
    """A watch, compared by identity: a later one may have the same name."""

    name: str


@dataclass(eq=False)
class Watches:
    """The watches of one client."""

    events: Events
    check_session: CheckSession
    lists_position: ListsPosition
    lists_interval_s: float = LISTS_INTERVAL_S
    _frames: "asyncio.Queue[tuple[_Watch, Frame]]" = field(
        default_factory=lambda: asyncio.Queue(MAX_UNSENT_FRAMES)
    )
    _tasks: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _present: dict[str, _Watch] = field(default_factory=dict)
    """The watch of each name until its last frame: frames of a replaced or ended one are dropped."""

    def watch(self, name: str, session_id: UUID, since: int) -> None:
        """Begin a watch, in place of a former one of that name. Raises TooMany."""
        watch = _Watch(name)
        self._begin(watch, self._watch_session(watch, session_id, since))

    def watch_lists(self, name: str) -> None:
        """Begin to report changes of the user's newest sessions and of workflows. Raises TooMany."""
        watch = _Watch(name)
        self._begin(watch, self._watch_lists(watch))

    async def unwatch(self, name: str) -> None:
        """End a watch; one that has ended already is no error."""
        self._present.pop(name, None)
        await cancel_and_wait(self._tasks.pop(name, None))

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield the frames of all watches. A watch that fails ends this stream with its error."""
        try:
            while True:
                yield await self._next_frame()
        finally:
            await cancel_and_wait(*self._tasks.values())

    async def _next_frame(self) -> Frame:
        while True:
            watch, frame = await self._next_queued()
            if self._present.get(watch.name) is watch:
                if frame.is_last or frame.refusal is not None:
                    del self._present[watch.name]
                return frame

    async def _next_queued(self) -> tuple[_Watch, Frame]:
        coming = asyncio.create_task(self._frames.get())
        try:
            while not coming.done():
                # A task that begins meanwhile is looked at when the next frame has come.
                await asyncio.wait({coming, *self._tasks.values()}, return_when=asyncio.FIRST_COMPLETED)
                for name, task in list(self._tasks.items()):
                    if task.done():
                        del self._tasks[name]
                        task.result()
            return coming.result()
        finally:
            await cancel_and_wait(coming)

    def _begin(self, watch: _Watch, work: Coroutine[None, None, None]) -> None:
        name = watch.name
        if name not in self._tasks and len(self._tasks) >= MAX_WATCHES:
            # A coroutine that is never run warns when it is collected.
            work.close()
            raise TooMany("too_many_watches", f"One stream watches at most {MAX_WATCHES} sessions.")
        if former := self._tasks.pop(name, None):
            former.cancel()
        self._present[name] = watch
        self._tasks[name] = asyncio.create_task(work, name=f"watch-{name}")

    async def _watch_session(self, watch: _Watch, session_id: UUID, since: int) -> None:
        try:
            await self.check_session(session_id)
        except NotFound as error:
            await self._frames.put((watch, Frame(watch.name, refusal=error.code)))
            return
        # A cancelled watch unsubscribes now, and not when its generator is collected.
        async with aclosing(self.events(session_id, since)) as batches:
            async for batch in batches:
                await self._frames.put((watch, Frame(watch.name, batch)))
        await self._frames.put((watch, Frame(watch.name, is_last=True)))

    async def _watch_lists(self, watch: _Watch) -> None:
        former = None
        while True:
            position = await self.lists_position()
            if position != former:
                await self._frames.put((watch, Frame(None, lists=position)))
            former = position
            await asyncio.sleep(self.lists_interval_s)


def frame_text(frame: Frame) -> str:
    """Write a frame as JSON; the events are JSON already."""
    if frame.lists is not None:
        return ListsFrame(kind="lists", position=frame.lists).model_dump_json()
    watch = frame.watch or ""
    if frame.refusal is not None:
        return RefusedFrame(kind="refused", watch=watch, code=frame.refusal).model_dump_json()
    if frame.is_last:
        return EndedFrame(kind="ended", watch=watch).model_dump_json()
    events = ",".join(event.data for event in frame.events)
    return f'{{"kind":"events","watch":{dumps(watch)},"events":[{events}]}}'
