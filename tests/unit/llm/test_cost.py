from pathlib import Path

import pytest

from app.errors import InvalidInput
from app.llm.cost import Price, add_cost, cost_usd, load_prices

PRICES = {"openai:big": Price(input=2, output=8, cached=0.5), "openai:plain": Price(input=1, output=3)}
USAGE = {"input_tokens": 1_000_000, "output_tokens": 500_000, "cached_tokens": 400_000}


@pytest.mark.parametrize(
    ("model", "cost"),
    [("openai:big", 0.6 * 2 + 0.4 * 0.5 + 0.5 * 8), ("openai:plain", 1 + 0.5 * 3), ("openai:unknown", None)],
)
def test_a_call_costs_what_the_table_says(model: str, cost: float | None) -> None:
    assert cost_usd(PRICES, model, USAGE) == (None if cost is None else pytest.approx(cost))


def test_a_model_without_a_price_has_no_cost() -> None:
    assert "cost_usd" not in add_cost(PRICES, "openai:unknown", USAGE)
    assert add_cost(PRICES, "openai:plain", USAGE)["cost_usd"] == pytest.approx(2.5)


def test_a_call_without_usage_has_no_cost() -> None:
    assert add_cost(PRICES, "offline", {}) == {}


def test_a_price_table_is_read_from_either_format(tmp_path: Path) -> None:
    toml, json = tmp_path / "prices.toml", tmp_path / "prices.json"
    toml.write_text('["openai:big"]\ninput = 2\noutput = 8\ncached = 0.5\n')
    json.write_text('{"openai:big": {"input": 2, "output": 8, "cached": 0.5}}')
    assert load_prices(toml) == load_prices(json) == {"openai:big": PRICES["openai:big"]}
    assert load_prices(None) == {}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('["a:b"]\ninput = -1\noutput = 1\n', "a:b.input"),
        ('["a:b"]\ninput = 1\n', "a:b.output"),
        ('["a:b"]\ninput = 1\noutput = 1\nper = 3\n', "a:b.per"),
        ("prices", "cannot be read"),
    ],
)
def test_an_invalid_price_table_is_refused_naming_the_entry(text: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=wrong) as refused:
        load_prices(path)
    assert str(path) in refused.value.detail


def test_a_missing_price_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="LLM_PRICES"):
        load_prices(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "model", ["openai:gpt-5.5", "anthropic:claude-sonnet-5", "google_genai:gemini-3.5-flash"]
)
def test_models_of_a_key_alone_have_a_published_price(model: str) -> None:
    usage = {"input_tokens": 1_000_000, "cached_tokens": 400_000, "output_tokens": 100_000}
    cost = cost_usd({}, model, usage)
    assert cost is not None
    assert 0 < cost < cost_usd({}, model, {**usage, "cached_tokens": 0})


def test_prices_of_the_operator_win_and_unlisted_models_have_none() -> None:
    own = {"openai:gpt-5.5": Price(input=1, output=2)}
    assert cost_usd(own, "openai:gpt-5.5", {"input_tokens": 1_000_000}) == 1
    assert cost_usd({}, "openai:scripted", {"input_tokens": 5}) is None
    assert cost_usd({}, "ollama:llama3", {"input_tokens": 5}) is None
