"""Write a backup of a service in use, and what its clients received, for tests/e2e/test_stored_data.py.

    python -m tests.stored.build tests/data/labcrew-0.1.0

The folder gets the product's own backup and `expected.json`. Accounts in it have no password, key or token.
Run it before a change of stored forms, with the code before that change; the backups of earlier versions stay.
"""

import asyncio
import hashlib
import json
import lzma
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.conftest import run_command, start, stop
from tests.scripted_chat import ScriptedChat, serving
from tests.stored import tables
from tests.stored.client import Artifact, Client
from tests.stored.coder import coder
from tests.stored.database import assert_private, delete_blobs, forget_credentials, uncompressed_dump
from tests.stored.expected import digests, study

Json = dict[str, Any]

EMAIL = "owner@example.com"
PREFERENCES = {"deterministic": True, "seed": 3, "time_budget_s": 20}
UNASKED = PREFERENCES | {"clarify": "never"}
APPROVED_TOOL = "train_classification_model"
MAX_BYTES = 2_000_000
"""Of the folder: it is cloned with the repository by everybody."""

PROGRAM_CODE = """
print("rows", len(customers))
keep["dear"] = customers[customers["price"] > 30]
customers["price"].plot.hist()
result = {"dearest": float(customers["price"].max())}
"""
QUERY = "select plan, count(*) as customers, max(months) as months from customers group by plan order by plan"


@dataclass(frozen=True)
class Datasets:
    customers: str
    new_customers: str
    sales: str


def build(target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="labcrew-stored-") as folder:
        home = Path(folder) / "home"
        tools = Path(folder) / "tools.json"
        tools.write_text(json.dumps({"approve": [APPROVED_TOOL]}))
        _labcrew(home, "user", "add", EMAIL, "--password-stdin", stdin="correct horse battery\n")
        key = _labcrew(home, "key", "create", EMAIL)
        with _service(home, key) as client:
            datasets = _upload(client)
            expected = _finished(client, datasets)
        with serving(ScriptedChat(coder)) as chat:
            provider = {
                "LLM_MODEL": "openai:scripted",
                "LLM_BASE_URL": chat.base_url,
                "OPENAI_API_KEY": "unused",
            }
            with _service(home, key, **provider) as client:
                expected["studies"]["written code"] = _coded(client, datasets)
        with _service(home, key, TOOLS_CONFIG=str(tools)) as client:
            expected["waiting"] = _waiting(client, datasets)
        with _service(home, key) as client:
            _drop_bitmaps(home, client, expected)
            asyncio.run(forget_credentials(home))
            asyncio.run(assert_private(home, Path(folder)))
            _back_up(home, Path(folder) / "backups", target)
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    size = sum(file.stat().st_size for file in target.iterdir())
    print(f"{target}: {size:,} bytes")  # noqa: T201 - a command's result
    assert size < MAX_BYTES


def _upload(client: Client) -> Datasets:
    contents = {
        "customers": tables.customers(),
        "new_customers": tables.new_customers(),
        "sales": tables.sales(),
    }
    return Datasets(
        **{name: client.upload(f"{name}.csv", tables.as_csv(rows)) for name, rows in contents.items()}
    )


def _finished(client: Client, datasets: Datasets) -> Json:
    goals = {
        "classification": ("Predict which customers left.", datasets.customers, datasets.new_customers),
        "forecast": (
            "Forecast the next 3 days of sales per shop, judged by MAE",
            datasets.sales,
            datasets.sales,
        ),
    }
    studies = {name: _study(client, *goal) for name, goal in goals.items()}
    client.import_prices("bars.csv", tables.as_csv(tables.bars()))
    [(coin, *_)] = coins = client.coins()
    return {
        "account": EMAIL,
        "approved_tools": [APPROVED_TOOL],
        "datasets": {dataset: client.preview(dataset)[:5] for dataset in (datasets.customers, datasets.sales)},
        "studies": studies,
        "runs": [_run(client, language, code, datasets) for language, code in _programs()],
        "prices": {"coins": coins, "statistics": client.price_statistics(coin)},
    }


def _programs() -> Iterator[tuple[str, str]]:
    yield "sql", QUERY
    yield "python", PROGRAM_CODE


def _study(client: Client, goal: str, dataset: str, predicted: str) -> Json:
    session = client.start_session(goal, [dataset], UNASKED)
    standing = client.wait_until_settled(session)
    assert standing.succeeded, standing
    return study(client, session, predicted)


def _coded(client: Client, datasets: Datasets) -> Json:
    """Each call of written code is approved by its user."""
    session = client.start_session("Predict left", [datasets.customers], UNASKED)
    while (standing := client.wait_until_settled(session)).question:
        client.answer(session, standing.question, "approve")
    assert standing.succeeded, standing
    return study(client, session, datasets.new_customers)


def _run(client: Client, language: str, code: str, datasets: Datasets) -> Json:
    run = client.start_run(language, code, [datasets.customers])
    standing = client.settled_run(run)
    assert standing.succeeded, standing
    return {"id": run, "outcome": client.outcome(run), "artifacts": digests(client.artifacts(run))}


def _waiting(client: Client, datasets: Datasets) -> list[Json]:
    """`answers`: in the order of the questions; the last one is repeated, as training may ask several times."""
    customers = [datasets.customers]
    approved = {"decision": "approve"}
    return [
        _open(client, "clarification", "Predict it", customers, PREFERENCES, [tables.TARGET, "approve"]),
        _open(
            client,
            "clarification",
            "What is the mean salary by plan?",
            customers,
            PREFERENCES,
            ["the mean of `price` by `plan`"],
        ),
        _open(
            client,
            "approval",
            "Predict which customers left.",
            customers,
            PREFERENCES | {"review_plan": True},
            [approved, "approve"],
        ),
        _open(client, "approval", "Predict which customers left.", customers, PREFERENCES, ["approve"]),
    ]


def _open(
    client: Client, kind: str, goal: str, datasets: list[str], preferences: Json, answers: list[Any]
) -> Json:
    session = client.start_session(goal, datasets, preferences)
    standing = client.wait_until_settled(session)
    assert standing.kind == kind, standing
    return {
        "id": session,
        "kind": kind,
        "question": standing.detail,
        "answers": answers,
        "steps": client.step_count(session),
        "artifacts": digests(client.artifacts(session)),
    }


def _drop_bitmaps(home: Path, client: Client, expected: Json) -> None:
    """Every figure is there as SVG too, and bitmaps are most of what cannot be compressed."""
    sessions = [*expected["studies"].values(), *expected["runs"]]
    bitmaps = [figure for session in sessions for figure in _bitmaps(client.artifacts(session["id"]))]
    for artifact in bitmaps:
        client.delete(artifact.id)
    for session in sessions:
        session["artifacts"] = digests(client.artifacts(session["id"]))
    asyncio.run(delete_blobs(home, [artifact.digest for artifact in bitmaps]))


def _bitmaps(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """PNG files that have an SVG file beside them."""
    names = {artifact.name for artifact in artifacts}
    return [
        figure for figure in artifacts if figure.name.endswith(".png") and f"{figure.name[:-4]}.svg" in names
    ]


def _back_up(home: Path, folder: Path, target: Path) -> None:
    """A backup whose dump is compressed by xz: a model is stored in several blobs, which gzip does not see."""
    backup = Path(json.loads(_labcrew(home, "backup", str(folder), "--json"))["backup"])
    manifest = json.loads((backup / "manifest.json").read_text())
    dump = asyncio.run(uncompressed_dump(home))
    manifest |= {"sha256": hashlib.sha256(dump).hexdigest(), "size_bytes": len(dump)}
    target.mkdir(parents=True)
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    (target / "database.dump.xz").write_bytes(lzma.compress(dump, preset=9))
    (target / "blobs.txt").write_bytes((backup / "blobs.txt").read_bytes())


@contextmanager
def _service(home: Path, key: str, **settings: str) -> Iterator[Client]:
    up = start(home, **settings)
    try:
        with closing(Client(up.api, key)) as client:
            yield client
    finally:
        stop(up)


def _labcrew(home: Path, *arguments: str, stdin: str = "") -> str:
    completed = run_command(home, *arguments, stdin=stdin)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()


if __name__ == "__main__":
    build(Path(sys.argv[1]))
