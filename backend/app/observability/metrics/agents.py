"""Metrics of agents: chat-model calls and tool calls. A call that is replayed is not counted again."""

from collections.abc import Mapping

from prometheus_client import Counter, Histogram

TOOL_SECONDS = Histogram(
    "labcrew_tool_duration_seconds",
    "Duration of a tool call, with the cells that it ran.",
    ("agent", "tool"),
    buckets=(0.01, 0.1, 0.5, 1, 5, 15, 60, 300),
)
TOOL_CALLS = Counter("labcrew_tool_calls_total", "Tool calls by outcome.", ("agent", "tool", "outcome"))
CHAT_SECONDS = Histogram(
    "labcrew_chat_duration_seconds",
    "Duration of an answer of a chat model, with all attempts.",
    ("provider",),
    buckets=(0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160),
)
CHAT_CALLS = Counter("labcrew_chat_calls_total", "Answers of chat models.", ("provider", "agent"))
CHAT_ERRORS = Counter("labcrew_chat_errors_total", "Failed attempts of chat models.", ("provider", "kind"))
CHAT_TOKENS = Counter(
    "labcrew_chat_tokens_total",
    "Tokens as providers counted them; `cached` ones are part of the `prompt`.",
    ("provider", "kind"),
)
CHAT_COST = Counter("labcrew_chat_cost_usd_total", "Cost of chat models by LLM_PRICES, in USD.", ("provider",))

TURNS = Counter(
    "labcrew_agent_turns_total",
    "Turns of conversations that ended; `failed` also where only their code failed.",
    ("mode", "status"),
)
TURN_SECONDS = Histogram(
    "labcrew_agent_turn_seconds",
    "Time from a turn's first claim to its end, without waiting for its user.",
    ("mode",),
    buckets=(0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)

_TURN_MODES = {"auto": "agent", "sql": "sql", "python": "python", "plan": "plan"}
"""Mode of a turn -> label. A message without a mode of its own is answered by the assistant, an agent."""
_TOKENS = {"input_tokens": "prompt", "output_tokens": "completion", "cached_tokens": "cached"}


def count_chat_answer(provider: str, agent: str, seconds: float, usage: Mapping[str, float]) -> None:
    """Count one answer. `usage`: of `llm.usage.read_usage`, with the cost of `llm.cost.add_cost`."""
    CHAT_CALLS.labels(provider, agent).inc()
    CHAT_SECONDS.labels(provider).observe(seconds)
    for name, kind in _TOKENS.items():
        if used := usage.get(name):
            CHAT_TOKENS.labels(provider, kind).inc(used)
    if cost := usage.get("cost_usd"):
        CHAT_COST.labels(provider).inc(cost)


def count_turn(mode: object, status: str, seconds: float) -> None:
    """Count one turn that ended. `mode`: as it is recorded with the turn; `seconds`: that workers drove it."""
    label = _TURN_MODES.get(str(mode), "agent")
    TURNS.labels(label, status).inc()
    TURN_SECONDS.labels(label).observe(seconds)


def count_tool_call(agent: str, tool: str, seconds: float, outcome: str) -> None:
    """Count one tool call. `outcome`: `done`, `refused` (the agent can correct it) or `failed`."""
    TOOL_CALLS.labels(agent, tool, outcome).inc()
    TOOL_SECONDS.labels(agent, tool).observe(seconds)
