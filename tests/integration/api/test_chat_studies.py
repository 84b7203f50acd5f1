"""Studies of a conversation, and the model by which their predictions are explained."""

from datetime import UTC, datetime
from uuid import uuid4

from fastapi import FastAPI

from app.db.tables import SessionRow
from app.sessions.step_scope import SessionFacts
from app.threads.studies import StudyServices, ThreadStudies

from .conftest import User
from .test_deletion import a_session, add
from .test_ownership import an_artifact


async def test_predictions_are_explained_by_the_model_that_the_study_chose(app: FastAPI, ada: User) -> None:
    study = a_session(ada.id)
    await add(app, study)
    chosen = an_artifact(ada.id, study.id, digest="a" * 64)
    later = an_artifact(ada.id, study.id, name="ridge-2", digest="b" * 64)
    for model in (chosen, later):  # each in a transaction of its own, at a time of its own
        await add(app, model)
    async with app.state.resources.open_uow() as uow:
        row = await uow.db.get_one(SessionRow, study.id)
        row.result = {"model": str(chosen.id), "problem": {"target": "survived"}}
    turn = SessionFacts(uuid4(), ada.id, "explain row 3", {}, (), 0, datetime.now(UTC))
    services = StudyServices(app.state.resources.database, None, None, None)  # type: ignore[arg-type]  # only read
    model = await ThreadStudies(services, turn).get_model(study.id)
    assert (model.digest, model.target) == ("a" * 64, "survived")
