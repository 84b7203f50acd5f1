"""Each provider by its own wire format over HTTP: the crew works, and what is wrong is said in a sentence."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.provider_wires import KEY, MODEL, TEXT, USAGE, serving_wires

from app.agents.roster import assemble_crew
from app.cli.administration.doctor import chat_answers
from app.errors import Unavailable
from app.llm.config import ChatConfig
from app.llm.model_probe import find_faults
from app.sessions.events.events import TokenStreamed
from app.settings import load_settings
from app.tools.toolsets import Toolsets

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
"""Clients of providers have no way to be closed, and leave their connections to the collector of garbage."""


@pytest.fixture(autouse=True, scope="module")
def _collected_clients() -> Iterator[None]:
    """Collect the clients of these tests before another module runs, where their warnings would count.

    Not after each test: in a process that has imported the whole application it takes seconds."""
    yield
    gc.collect()


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_dataset_schema", {"dataset": "titanic"}),
    ("Plan", {"target": "survived", "tables": ["titanic"], "metric": "roc_auc"}),
]
VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google_genai": "GEMINI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "ollama": "LLM_PROVIDER",
}
PATHS = {"openai": "/v1", "openrouter": "/api/v1"}
"""Path below which a provider has its interface."""


def configure(provider: str, address: str, monkeypatch: pytest.MonkeyPatch) -> ChatConfig:
    """Read the settings of an environment with one key, and the address of a server."""
    monkeypatch.setenv(VARIABLES[provider], "ollama" if provider == "ollama" else KEY)
    monkeypatch.setenv("LLM_BASE_URL", address + PATHS.get(provider, ""))
    monkeypatch.setenv("LLM_MODEL", MODEL)
    return load_settings().chat


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("provider", VARIABLES)
async def test_the_planner_works_with_every_provider(bench, tables, provider, streaming, monkeypatch):
    bench.shelf.datasets = [tables["titanic"]]
    with serving_wires(lambda place: CALLS[place]) as wires:
        config = replace(configure(provider, wires.address, monkeypatch), streaming=streaming)
        assert config.model == f"{provider}:{MODEL}"
        bench.crew = assemble_crew(config, Toolsets())
        planned = await bench.run("planner", {"goal": "Predict who survived", "preferences": {}})
    assert (planned.output.target, planned.output.metric) == ("survived", "roc_auc")
    chats = [recorded for call, recorded in bench.journal.recorded if call.kind == "chat"]
    assert [(c.usage["input_tokens"], c.usage["output_tokens"]) for c in chats] == [USAGE, USAGE]
    words = [event.text for event in bench.journal.events if isinstance(event, TokenStreamed)]
    assert "".join(words) == TEXT * 2 * streaming


@pytest.mark.parametrize("provider", VARIABLES)
async def test_a_usable_model_has_no_fault(provider, monkeypatch):
    with serving_wires(lambda place: CALLS[place]) as wires:
        assert await find_faults(configure(provider, wires.address, monkeypatch)) == ()


@pytest.mark.parametrize("provider", [name for name in VARIABLES if name != "ollama"])
async def test_a_wrong_key_is_said_in_one_sentence(provider, monkeypatch):
    with serving_wires(lambda place: CALLS[place]) as wires:
        config = replace(configure(provider, wires.address, monkeypatch), keys={provider: "another-key"})
        [fault] = await find_faults(config)
    assert "refuses the key: correct" in fault
    assert VARIABLES[provider] in fault
    assert "another-key" not in fault


@pytest.mark.parametrize("provider", VARIABLES)
async def test_an_unknown_model_is_said_in_one_sentence(provider, monkeypatch):
    with serving_wires(lambda place: CALLS[place]) as wires:
        config = replace(configure(provider, wires.address, monkeypatch), model=f"{provider}:nobody")
        [fault] = await find_faults(config)
    assert f"does not know the chat model '{provider}:nobody'" in fault


async def test_a_server_that_is_away_is_said_in_one_sentence(monkeypatch):
    with serving_wires(lambda place: CALLS[place]) as wires:
        config = configure("openai", wires.address, monkeypatch)
    [fault] = await find_faults(config)
    assert "does not answer" in fault


@pytest.mark.parametrize(
    ("variables", "title", "address"),
    [
        ({}, "Labcrew", None),
        (
            {"OPENROUTER_APP_NAME": "Desk", "OPENROUTER_HTTP_REFERER": "https://a.example"},
            "Desk",
            "https://a.example",
        ),
    ],
)
async def test_openrouter_is_told_the_application_of_the_settings(variables, title, address, monkeypatch):
    with serving_wires(lambda _: ("none", {})) as wires:
        configure("openrouter", wires.address, monkeypatch)
        monkeypatch.delenv("LLM_MODEL")
        for name, value in {"OPENROUTER_MODEL": MODEL, **variables}.items():
            monkeypatch.setenv(name, value)
        assert "answered" in await chat_answers(load_settings())
    [(_, body)] = wires.requests
    sent = {name.lower(): value for name, value in wires.headers.items()}
    assert body["model"] == MODEL
    assert (sent.get("x-title"), sent.get("http-referer")) == (title, address)


async def test_offline_asks_nobody():
    assert await find_faults(ChatConfig()) == ()


@pytest.mark.parametrize("provider", ["openai", "openrouter"])
async def test_the_doctor_asks_each_model_one_question(provider, monkeypatch):
    with serving_wires(lambda _: ("none", {})) as wires:
        configure(provider, wires.address, monkeypatch)
        description = await chat_answers(load_settings())
    assert len(wires.requests) == 1
    assert description.startswith(f"{provider}:{MODEL} answered {TEXT!r} in ")
    assert f"{USAGE[0]} + {USAGE[1]} tokens, no price is known" in description


async def test_the_doctor_says_what_a_model_that_cannot_answer_said(monkeypatch):
    with serving_wires(lambda _: ("none", {})) as wires:
        configure("openai", wires.address, monkeypatch)
        monkeypatch.setenv("OPENAI_API_KEY", "wrong-key")
        with pytest.raises(Unavailable, match=f"openai:{MODEL} gave no answer") as failed:
            await chat_answers(load_settings())
    assert "wrong-key" not in failed.value.detail
