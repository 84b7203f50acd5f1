"""Whole sessions with a chat model: real rows, real cells, words over HTTP.

The words are scripted, unless LABCREW_TEST_LLM names a model (`openai:gpt-5.5`): then that one is asked, with
key and address from the environment, and only what any model must keep to is checked.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from tests.fast_families import FAST_FAMILIES
from tests.scripted_chat import ScriptedChat

from app.sessions.sweeper import sweep
from app.sessions.waiting.fits import FitKey
from app.settings import Settings, load_settings
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

from .conftest import User

REAL = os.environ.get("LABCREW_TEST_LLM")
SESSIONS = "/lab/agent/sessions"
ENDED = ("completed", "failed", "cancelled")
PRICES = f'["{REAL or "openai:scripted"}"]\ninput = 10\noutput = 30\ncached = 1\n'
DRIVES = 400
"""Drives after which a session counts as hanging."""

Json = dict[str, Any]


def chatting(servers: Settings, chat: ScriptedChat, folder: Path, **more: Any) -> Settings:
    """The settings of a service on `servers` that thinks with the scripted model, or with the real one."""
    prices = folder / "prices.toml"
    prices.write_text(PRICES)
    scripted = {"llm_model": "openai:scripted", "llm_base_url": chat.base_url, "openai_api_key": "test"}
    overrides = {
        "database_url": servers.database_url,
        "redis_url": servers.redis_url,
        "cells_socket": servers.cells_socket,
        "labcrew_home": servers.labcrew_home,
        "llm_prices": prices,
        **({"llm_model": REAL} if REAL else scripted),
    }
    return load_settings(_env_file=None, **{**overrides, **more})


async def begin_session(ada: User, name: str, table: bytes, goal: str, **preferences: Any) -> UUID:
    upload = await ada.http.post("/datasets", files={"file": (name, table)})
    assert upload.status_code == 201, upload.text
    wish = {
        "goal": goal,
        "dataset_ids": [upload.json()["id"]],
        "preferences": {"time_budget_s": 3, "deterministic": True, "seed": 1, **FAST_FAMILIES, **preferences},
    }
    created = await ada.http.post(SESSIONS, json=wish)
    assert created.status_code == 201, created.text
    return UUID(created.json()["id"])


async def until_it_waits(app: FastAPI, ada: User, session: UUID) -> Json:
    """Drive it, fits too, until it asks its user or has ended; at most `DRIVES` times."""
    resources = app.state.resources
    duties = WorkerServices.assemble(resources, pipeline_graphs(resources))
    for _ in range(DRIVES):
        await duties.runner.advance(session)
        view: Json = (await ada.http.get(f"{SESSIONS}/{session}")).json()
        if view["status"] in ("awaiting_user", *ENDED):
            return view
        for row in await resources.database.rows(
            "select round_key, candidate from fits where session_id = $1 and status = 'queued'", session
        ):
            await duties.fits.run(FitKey(session, row["round_key"], row["candidate"]))
        await sweep(duties.db, duties.send, grace_s=0)
    raise AssertionError(f"It neither waits nor ends: {view}")


async def until_the_end(
    app: FastAPI, ada: User, session: UUID, answer: Callable[[Json], Any]
) -> tuple[Json, list[Json]]:
    """Drive it and answer what it asks; how it ended, and its questions."""
    questions: list[Json] = []
    while (view := await until_it_waits(app, ada, session))["status"] == "awaiting_user":
        questions.append(view["question"])
        response_body = {"question": view["question"]["key"], "answer": answer(view["question"])}
        response = await ada.http.post(f"{SESSIONS}/{session}/respond", json=response_body)
        assert response.status_code == 202, response.text
    return view, questions


async def trail(ada: User, session: UUID) -> list[Json]:
    """The whole audit trail, oldest first."""
    rows: list[Json] = []
    while True:
        page = (await ada.http.get(f"{SESSIONS}/{session}/audit?limit=200&offset={len(rows)}")).json()
        rows += page["items"]
        if not page["items"] or len(rows) >= page["total"]:
            return rows
