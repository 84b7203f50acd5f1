"""Frames of the one stream of a browser, which watches many sessions and the lists."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.sessions.events.events import Event


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class HelloFrame(_Frame):
    """The stream stands. The first frame."""

    kind: Literal["hello"]


class EventsFrame(_Frame):
    """Events of a watched session, in order."""

    kind: Literal["events"]
    watch: str
    events: list[Event]


class EndedFrame(_Frame):
    """The session of a watch has ended, and all of its events were sent."""

    kind: Literal["ended"]
    watch: str


class RefusedFrame(_Frame):
    """A watch has no session."""

    kind: Literal["refused"]
    watch: str
    code: str


class ListsFrame(_Frame):
    """A list of the user has changed, and is to be read again."""

    kind: Literal["lists"]
    position: int


class ProblemFrame(_Frame):
    """A command that was not carried out. Sockets only."""

    kind: Literal["problem"]
    code: str
    detail: str
    watch: str | None = Field(default=None, description="Missing where the command could not be read.")


StreamFrame = Annotated[
    HelloFrame | EventsFrame | EndedFrame | RefusedFrame | ListsFrame | ProblemFrame,
    Field(discriminator="kind"),
]
