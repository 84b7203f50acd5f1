from itertools import pairwise
from pathlib import Path

import pytest

from app.errors import InvalidInput
from app.settings import Settings, chat_model_name, load_settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


def example() -> dict[str, tuple[str, str]]:
    """Name -> (value, the comment above it) of `.env.example`."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    pairs = [(line.partition("="), above) for above, line in pairwise(lines) if "=" in line]
    return {name: (value, above.removeprefix("# ")) for (name, _, value), above in pairs if name.isupper()}


def test_the_example_names_every_setting_once_and_no_other() -> None:
    names = [line.partition("=")[0] for line in (ROOT / ".env.example").read_text().splitlines()]
    settings = [name for name in names if name.isupper()]
    assert sorted(settings) == sorted(name.upper() for name in Settings.model_fields)


def test_the_example_gives_every_default(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text((ROOT / ".env.example").read_text())
    assert load_settings() == load_settings(_env_file=None)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_example_and_the_documentation_describe_every_setting_alike(name: str) -> None:
    description = Settings.model_fields[name].description
    assert description
    assert example()[name.upper()][1] == description
    assert f"| `{name.upper()}` |" in (ROOT / "docs/settings.md").read_text()
    assert description in (ROOT / "docs/settings.md").read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_PORT", "eighty"),
        ("API_PORT", "70000"),
        ("CORS_ORIGINS", "https://lab.example.com, *"),
        ("CORS_ORIGINS", "lab.example.com"),
        ("SANDBOX_MAX_MEMORY_MB", "1"),
        ("REGISTRATION", "maybe"),
        ("MAX_CONCURRENT_SESSIONS", "-1"),
        ("ENABLE_STREAMING", "perhaps"),
        ("LLM_BASE_URL", "localhost"),
        ("DATABASE_URL", "mysql://somewhere/db"),
        ("REDIS_URL", "somewhere:6379"),
        ("REDIS_URL", "redis+sentinel://somewhere,elsewhere"),
        ("BLOB_STORE", "gs://bucket"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput, match=name) as refused:
        load_settings()
    assert "\n" not in refused.value.detail


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "BLOB_STORE"])
def test_a_refusal_shows_no_password(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "ftp://me:hunter2@host/db")
    with pytest.raises(InvalidInput) as refused:
        load_settings()
    assert "hunter2" not in str(refused.value.detail)


def test_secrets_are_not_shown() -> None:
    assert "hunter2" not in repr(load_settings(openai_api_key="hunter2", redis_password="hunter2"))
    settings = load_settings(
        blob_store="s3://bucket/prefix", aws_access_key_id="hunter1", aws_secret_access_key="hunter2"
    )
    assert settings.bucket
    assert settings.bucket.secret_access_key == "hunter2"
    assert "hunter" not in repr(settings) + repr(settings.bucket)


def test_two_blob_stores_are_refused() -> None:
    with pytest.raises(InvalidInput, match="BLOB_STORE and ARTIFACT_STORAGE_PATH"):
        load_settings(blob_store="s3://bucket", artifact_storage_path="blobs")


def test_an_empty_value_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    assert load_settings().database_url is None


@pytest.mark.parametrize(
    ("provider", "model", "own_model", "keys", "name"),
    [
        (None, None, None, (), "offline"),
        (None, "offline", None, ("openai",), "offline"),
        ("openai", "offline", "gpt-5", ("openai",), "offline"),
        ("offline", None, "gpt-5", ("openai",), "offline"),
        (None, "openai:gpt-5", None, (), "openai:gpt-5"),
        ("openai", None, "gpt-5", (), "openai:gpt-5"),
        ("openai", "gpt-4o", "gpt-5", (), "openai:gpt-4o"),
        ("anthropic", "claude", None, (), "anthropic:claude"),
        ("anthropic", "anthropic:claude", None, (), "anthropic:claude"),
        ("ollama", "llama3:8b", None, (), "ollama:llama3:8b"),
        ("azure", "lab", None, (), "azure_openai:lab"),
        ("google", "google:gemini", None, (), "google_genai:gemini"),
        (None, "google:gemini", None, (), "google_genai:gemini"),
        (None, "gpt-5", None, ("openai",), "openai:gpt-5"),
        (None, None, None, ("openrouter", "anthropic"), "anthropic:claude-sonnet-5"),
        (None, None, "deepseek/deepseek-v3.2", ("openrouter",), "openrouter:deepseek/deepseek-v3.2"),
        ("openrouter", "openai/gpt-5", "deepseek/deepseek-v3.2", (), "openrouter:openai/gpt-5"),
        (None, None, None, ("azure_openai",), "offline"),
    ],
)
def test_provider_model_and_keys_name_one_chat_model(
    provider: str | None, model: str | None, own_model: str | None, keys: tuple[str, ...], name: str
) -> None:
    own_models = dict.fromkeys(("openai", "openrouter"), own_model)
    assert chat_model_name(provider, model, own_models, keys) == name


@pytest.mark.parametrize(("provider", "model"), [(None, "gpt-5"), ("ollama", None), ("azure", None)])
def test_half_a_chat_model_is_refused(provider: str | None, model: str | None) -> None:
    with pytest.raises(InvalidInput, match="LLM_"):
        chat_model_name(provider, model, {})


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("GOOGLE_API_KEY", "google_genai"),
        ("GEMINI_API_KEY", "google_genai"),
        ("OPENROUTER_API_KEY", "openrouter"),
    ],
)
def test_a_key_alone_chooses_its_provider(
    variable: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "planted-key")
    chat = load_settings().chat
    assert chat.model.partition(":")[0] == provider
    assert chat.keys == {provider: "planted-key"}
    monkeypatch.setenv("LLM_MODEL", "offline")
    assert load_settings().chat.model == "offline"


def test_redis_can_be_given_in_parts() -> None:
    settings = load_settings(redis_host="cache", redis_port=6380, redis_db=3, redis_password="p@ss")
    assert settings.redis_address == "redis://:p%40ss@cache:6380/3"


def test_the_redis_url_wins_over_its_parts() -> None:
    assert load_settings(redis_url="redis://one/0", redis_host="other").redis_address == "redis://one/0"


def test_limits_reach_the_cells() -> None:
    limits = load_settings(sandbox_max_execution_time=5, sandbox_max_memory_mb=256).limits
    assert (limits.time_s, limits.memory_bytes) == (5, 256 << 20)


def test_budgets_are_read_from_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_BUDGET", '{"tokens": 1000}')
    monkeypatch.setenv("SESSION_BUDGET_MAX", '{"tokens": 5000, "cost_usd": 2.5}')
    sessions = load_settings(_env_file=None).sessions
    assert sessions.default_budget == {"tokens": 1000}
    assert sessions.max_budget == {"tokens": 5000, "cost_usd": 2.5}


@pytest.mark.parametrize("value", ["tokens=5", '{"tokens": 0}', '{"money": 1}', "[]"])
def test_an_invalid_budget_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_BUDGET", value)
    with pytest.raises(InvalidInput, match="SESSION_BUDGET"):
        load_settings(_env_file=None)


@pytest.mark.parametrize(
    ("seconds", "model", "is_noted"),
    [(120, "openai:gpt", True), (120, "offline", False), (600, "openai:gpt", False)],
)
def test_a_short_bound_of_turns_is_noted(seconds: int, model: str, is_noted: bool) -> None:
    settings = load_settings(_env_file=None, agent_timeout_seconds=seconds, llm_model=model, openai_api_key="x")
    assert settings.short_turns.startswith("AGENT_TIMEOUT_SECONDS=120 ") == is_noted
    assert settings.chat.turn_timeout_s == seconds
