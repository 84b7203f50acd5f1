"""The studies of a conversation, as tools and policies see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from app.json_types import JsonValue

STUDY_TOOLS = ("start_study", "fork_study", "answer_study", "read_study")
"""Tools whose answer is the card of a study."""


@dataclass(frozen=True)
class StudyQuestion:
    """An open question of a study. `options`: answers to choose from; `is_text`: words are an answer, too."""

    key: str
    text: str
    options: Sequence[Any] = ()
    is_text: bool = False


@dataclass(frozen=True)
class StudyCard:
    """A study that a turn started: what it is about, where it stands and what came out.

    `holdout`: score on rows that the model did not see. `leaves_out`: columns that a fork leaves out.
    """

    id: str
    goal: str
    status: str
    question: StudyQuestion | None = None
    headline: str | None = None
    target: str | None = None
    metric: str | None = None
    model: str | None = None
    holdout: Mapping[str, Any] | None = None
    leaderboard: Sequence[Mapping[str, Any]] = ()
    error: str | None = None
    forked_from: str | None = None
    leaves_out: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True)
class StudyModel:
    """The model of a study: the digest of its file, and the column that it predicts."""

    digest: str
    target: str


class ConversationStudies(Protocol):
    """The studies of one conversation. Each command is safe to repeat with the same key."""

    async def list(self) -> Sequence[StudyCard]:
        """List the studies of the turns up to the present one, the newest last."""
        ...

    async def start(self, key: str, goal: str) -> StudyCard:
        """Start a study about the datasets of the conversation. Raises LabError."""
        ...

    async def fork(self, key: str, study: UUID, settings: Mapping[str, JsonValue]) -> StudyCard:
        """Run a study again from the step that the settings need. Raises LabError with the reason."""
        ...

    async def answer(self, study: UUID, question: str, answer: JsonValue) -> StudyCard:
        """Answer the question of a study with this key. One that was answered before is no failure."""
        ...

    async def compare(self, studies: Sequence[UUID]) -> JsonValue:
        """Compare studies: settings that differ, scores, and their difference on the same rows."""
        ...

    async def get_model(self, study: UUID) -> StudyModel:
        """Return the best model of a study. Raises LabError where it has none."""
        ...
