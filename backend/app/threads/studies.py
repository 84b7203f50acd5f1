"""The studies of a thread: started, answered and forked from its turns, read by later ones."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from app.db.pool import Database
from app.errors import Conflict, NotFound, ToolRefused
from app.json_types import JsonValue
from app.sessions.forks.comparison import SessionComparison
from app.sessions.forks.schemas import ForkChange, ForkCreate, ForkPoint, ForkSettings
from app.sessions.forks.service import ForkService
from app.sessions.queries import SessionReader
from app.sessions.schemas import Preferences, QuestionView, SessionCreate, SessionView
from app.sessions.service import SessionService
from app.sessions.step_scope import SessionFacts
from app.threads.statements import STUDIES
from app.tools.context.conversation_studies import StudyCard, StudyModel, StudyQuestion

FIRST_TRAINING_NODES = ("data_analysis", "feature_engineering", "model_training")
"""Nodes of a study before which the settings of a fork are changed."""
MAX_LISTED_CANDIDATES = 5
"""Candidates of a leaderboard that a card shows; the session has all."""
MAX_READ_STEPS = 200
"""Steps of a study that are read to find the point of a fork; a pipeline has about ten."""


class StudyRow(NamedTuple):
    """`place`: the distance of the turn that started it from the present one."""

    id: UUID
    place: int


@dataclass(frozen=True)
class StudyServices:
    """The services of sessions that the studies of all threads share."""

    db: Database
    sessions: SessionService
    forks: ForkService
    comparison: SessionComparison


@dataclass(frozen=True)
class ThreadStudies:
    """The studies of the thread of one turn; `ConversationStudies`."""

    services: StudyServices
    turn: SessionFacts

    async def list(self) -> Sequence[StudyCard]:
        """List the studies of the turns before this one, the newest last."""
        parent = self.turn.preferences.get("parent_id")
        if parent is None:
            return []
        rows = await self.services.db.rows(STUDIES.list_study_ids, UUID(parent), self.turn.owner_id)
        studies = sorted((StudyRow(**row) for row in rows), key=lambda row: -row.place)
        cards = []
        for study in studies:
            with contextlib.suppress(NotFound):  # deleted since
                cards.append(await self._read(study.id))
        return cards

    async def start(self, key: str, goal: str) -> StudyCard:
        if not self.turn.dataset_ids:
            raise ToolRefused(
                "A study reads datasets, and this conversation has none. Upload a table and name it in "
                "`dataset_ids`, then ask again."
            )
        budget = self.turn.preferences.get("study_budget_s")
        preferences = Preferences(time_budget_s=budget) if budget else Preferences()
        request = SessionCreate(goal=goal, dataset_ids=[*self.turn.dataset_ids], preferences=preferences)
        # The id follows from turn and call: a repeated step finds the study instead of starting another.
        study = uuid5(self.turn.id, key)
        created = await self.services.sessions.create(self.turn.owner_id, request, session_id=study)
        return await self._read(created.id)

    async def fork(self, key: str, study: UUID, settings: Mapping[str, JsonValue]) -> StudyCard:
        reader = SessionReader(self.services.db, self.turn.owner_id)
        steps, _ = await reader.steps(study, MAX_READ_STEPS, 0)
        # What comes before it does not depend on the settings, and is shared with the source.
        step = next((step.step for step in steps if step.node in FIRST_TRAINING_NODES), None)
        if step is None:
            raise ToolRefused("This study has not come to the training of models: nothing can be changed yet.")
        change = ForkChange(settings=ForkSettings.model_validate(settings))
        request = ForkCreate(at=ForkPoint(step=step), change=change)
        forked = await self.services.forks.fork(
            self.turn.owner_id, study, request, fork_id=uuid5(self.turn.id, key)
        )
        return await self._read(forked.id)

    async def answer(self, study: UUID, question: str, answer: JsonValue) -> StudyCard:
        # A repetition finds this question answered, or the study ended: the card says where it stands.
        with contextlib.suppress(Conflict):
            await self.services.sessions.respond(self.turn.owner_id, study, question, answer)
        return await self._read(study)

    async def compare(self, studies: Sequence[UUID]) -> JsonValue:
        view = await self.services.comparison.compare(self.turn.owner_id, studies)
        value: JsonValue = view.model_dump(mode="json")
        return value

    async def get_model(self, study: UUID) -> StudyModel:
        view = await SessionReader(self.services.db, self.turn.owner_id).get(study)
        digest = await self.services.db.value(STUDIES.find_model, study, self.turn.owner_id)
        result = view.result.model_dump(mode="json", by_alias=True) if view.result else {}
        target = _find_target(result)
        if digest is None or target is None:
            raise ToolRefused("This study has no model whose predictions could be explained.")
        return StudyModel(str(digest), target)

    async def _read(self, study: UUID) -> StudyCard:
        return _make_card(await SessionReader(self.services.db, self.turn.owner_id).get(study))


def _make_card(view: SessionView) -> StudyCard:
    result: dict[str, Any] = view.result.model_dump(mode="json", by_alias=True) if view.result else {}
    links = {"session": f"/api/v1/lab/agent/sessions/{view.id}"}
    report: Mapping[str, Any] = result.get("report") or {}
    if report.get("markdown"):
        links["report"] = f"/api/v1/artifacts/{report['markdown']}"
    return StudyCard(
        id=str(view.id),
        goal=view.goal,
        status=str(view.status),
        question=_make_question(view.question) if view.question else None,
        headline=result.get("headline"),
        target=_find_target(result),
        metric=result.get("metric"),
        model=result.get("model_name"),
        holdout=result.get("holdout"),
        leaderboard=list(result.get("leaderboard") or ())[:MAX_LISTED_CANDIDATES],
        error=view.error.detail if view.error else None,
        forked_from=str(view.forked_from) if view.forked_from else None,
        leaves_out=_find_exclusions(view),
        links=links,
    )


def _make_question(question: QuestionView) -> StudyQuestion:
    allowed = json.dumps(question.answer_schema)
    # Looked for anywhere in the schema, since a text may be allowed inside `anyOf` or a list.
    return StudyQuestion(question.key, question.text, question.options, '"string"' in allowed)


def _find_target(result: Mapping[str, Any]) -> str | None:
    problem: Any = result.get("problem") or {}
    return problem.get("target") or result.get("target")


def _find_exclusions(view: SessionView) -> list[str]:
    """The columns that a fork leaves out, besides those of its source."""
    settings = view.fork.change.settings if view.fork else None
    return list(settings.leave_out or ()) if settings else []
