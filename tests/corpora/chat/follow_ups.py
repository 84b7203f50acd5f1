"""Measure messages that change the last result: `python -m tests.corpora.chat.follow_ups [HALF] [--failures]`.

Each line of `follow_ups.jsonl` is a conversation over the tables of a file of training questions, in the half
of that file. Each of its turns has a SELECT that computes its answer, or several that may. A conversation ends
with the first turn that is not right: what follows it is counted as `not reached`. Failures are listed for the
tuned half only.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
from tests.corpora.chat.measure import contains, load_table, rows_agree
from tests.corpora.tables import Half
from tests.corpora.training_questions import TRAINING_QUESTIONS_DIRECTORY, training_half_of

from app.agents.assistant.brief import ChatBrief, EarlierTurn, LastChart
from app.agents.assistant.offline_rules import RULES
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction
from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.schema import read_table_schema

PATH = Path(__file__).with_name("follow_ups.jsonl")
CONVERSATIONS: list[dict[str, Any]] = [json.loads(line) for line in PATH.read_text().splitlines()]
CHART_FIELDS = ("kind", "x", "y", "color", "moving_average")


def measure(half: Half, shows_failures: bool) -> Counter[str]:
    """Count the verdicts of all turns of a half."""
    verdicts: Counter[str] = Counter()
    for conversation in CONVERSATIONS:
        if training_half_of(conversation["tables"]) == half:
            verdicts += _judge(conversation, shows_failures and half == "tuned")
    return verdicts


def _judge(conversation: dict[str, Any], shows_failures: bool) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    earlier: list[EarlierTurn] = []
    turns = conversation["turns"]
    with tempfile.TemporaryDirectory(prefix="labcrew-chat-") as folder, duckdb.connect() as database:
        paths = sorted((TRAINING_QUESTIONS_DIRECTORY / conversation["tables"]).glob("*.csv"))
        schemas = [load_table(path, Path(folder), database) for path in paths]
        for place, turn in enumerate(turns):
            view = ConversationView(ChatBrief(turn["message"], schemas, earlier), ())
            action = next(action for rule in RULES if (action := rule(view)))
            verdict, rows, answer = _answer(action, turn, schemas, database)
            verdicts[verdict] += 1
            if verdict != "right" or answer is None:
                verdicts["not reached"] += len(turns) - place - 1
                if shows_failures:
                    reply = action.message or action.calls[0][1].get("readings")
                    question = " / ".join(turn["message"] for turn in turns[: place + 1])
                    print(f"{verdict}: {question}\n    {rows[:3]} {reply}")  # noqa: T201 - the output of this command
                break
            earlier.append(answer)
    return +verdicts


def _answer(
    action: AgentAction,
    turn: dict[str, Any],
    schemas: list[dict[str, Any]],
    database: duckdb.DuckDBPyConnection,
) -> tuple[str, list[Any], EarlierTurn | None]:
    """Verdict of a turn, its rows, and the turn as the next one sees it."""
    if not action.calls:
        return "not understood", [], None
    name, arguments = action.calls[0]
    if "plan" not in arguments:
        return f"wrong: {name}", [], None
    plan = Plan.model_validate(arguments["plan"])
    tables = {schema["table"]: read_table_schema(schema["columns"]) for schema in schemas}
    compiled = compile_plan(plan, tables)
    rows = database.execute(compiled.sql).fetchall()
    chart = (
        LastChart(**{k: arguments[k] for k in CHART_FIELDS if k in arguments}) if name == "make_chart" else None
    )
    answer = EarlierTurn(
        turn["message"],
        columns=[*compiled.columns],
        row_count=len(rows),
        sql=compiled.sql,
        plan=arguments["plan"],
        chart=chart,
    )
    queries = [turn["sql"]] if isinstance(turn["sql"], str) else turn["sql"]
    if any(_gives(query, rows, database) for query in queries):
        return "right", rows, answer
    return ("wrong, said" if arguments.get("readings") else "wrong in silence"), rows, None


def _gives(query: str, rows: list[Any], database: duckdb.DuckDBPyConnection) -> bool:
    """Test if a SELECT gives some rows; in its order, if it has one."""
    expected = database.execute(query).fetchall()
    return rows_agree(rows, expected) and (" order by " not in query or all(map(contains, rows, expected)))


if __name__ == "__main__":
    half: Half = "untuned" if "untuned" in sys.argv else "tuned"
    counts = measure(half, "--failures" in sys.argv)
    total = sum(counts.values())
    print(", ".join(f"{name} {count} of {total}" for name, count in counts.most_common()))  # noqa: T201 - see above
