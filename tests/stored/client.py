"""A client of the HTTP API that holds every public name which the stored-data test and its builder use.

A renamed route or field is changed here and nowhere else in this package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from tests.patience import HANG_GUARD_S, wait_until

Json = dict[str, Any]

PAGE_ITEMS = 200
"""Items of a page, as many as the API allows."""
POLL_S = 0.2
MEDIA_TYPES = {"bundle": "application/zip", "notebook": "application/x-ipynb+json"}

_SESSIONS = "/lab/agent/sessions"
_ENDED = ("completed", "succeeded", "failed", "cancelled")
_WAITING = "awaiting_user"


@dataclass(frozen=True)
class Standing:
    """Status of a session or run. `question` is open; `error` and `detail` describe a failure."""

    status: str
    question: str | None
    kind: str | None
    detail: str

    @property
    def succeeded(self) -> bool:
        return self.status in ("completed", "succeeded")


@dataclass(frozen=True)
class Artifact:
    id: str
    name: str
    digest: str


class Client:
    def __init__(self, api: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=api, headers={"Authorization": f"Bearer {key}"}, timeout=HANG_GUARD_S
        )

    def close(self) -> None:
        self._http.close()

    def upload(self, filename: str, content: bytes) -> str:
        return str(self._post("/datasets", files={"file": (filename, content)})["id"])

    def preview(self, dataset: str) -> Any:
        return self._get(f"/datasets/{dataset}/preview")["rows"]

    def start_session(self, goal: str, datasets: Sequence[str], preferences: Json) -> str:
        body = {"goal": goal, "dataset_ids": list(datasets), "preferences": preferences}
        return str(self._post(_SESSIONS, json=body)["id"])

    def answer(self, session: str, question: str, answer: Any) -> None:
        self._post(f"{_SESSIONS}/{session}/respond", json={"question": question, "answer": answer})

    def standing(self, session: str) -> Standing:
        return _standing(self._get(f"{_SESSIONS}/{session}"))

    def wait_until_settled(self, session: str) -> Standing:
        """The standing once the session has ended or waits for its user."""
        return self._wait_until_settled(f"{_SESSIONS}/{session}")

    def step_count(self, session: str) -> int:
        return len(self._items(f"{_SESSIONS}/{session}/steps"))

    def verification(self, session: str) -> tuple[int, list[Any]]:
        """Return the number of checked claims of the report, and the mismatches."""
        view = self._get(f"{_SESSIONS}/{session}/report/verification")
        return view["checked_claims"], view["mismatches"]

    def headline(self, session: str) -> str:
        return str(self._get(f"{_SESSIONS}/{session}/results")["result"]["headline"])

    def part(self, session: str, part: str) -> httpx.Response:
        """`part`: one of MEDIA_TYPES."""
        return self._http.get(f"{_SESSIONS}/{session}/{part}").raise_for_status()

    def artifacts(self, session: str) -> list[Artifact]:
        items = self._items(f"{_SESSIONS}/{session}/artifacts")
        return [Artifact(item["id"], item["name"], item["digest"]) for item in items]

    def download(self, artifact: str) -> bytes:
        return self._http.get(f"/artifacts/{artifact}").raise_for_status().content

    def delete(self, artifact: str) -> None:
        self._http.delete(f"/artifacts/{artifact}").raise_for_status()

    def models(self, session: str) -> dict[str, str]:
        """The estimator of each model, by id."""
        items = self._items("/models", session_id=session)
        return {item["id"]: item["estimator"] for item in items}

    def predict_dataset(self, model: str, dataset: str) -> list[Json]:
        return self._predictions(model, {"dataset_id": dataset})

    def predict_rows(self, model: str, rows: Sequence[Mapping[str, Any]]) -> list[Json]:
        return self._predictions(model, {"rows": list(rows)})

    def start_run(self, language: str, code: str, datasets: Sequence[str]) -> str:
        body = {"language": language, "code": code, "dataset_ids": list(datasets)}
        return str(self._post("/runs", json=body)["id"])

    def settled_run(self, run: str) -> Standing:
        return self._wait_until_settled(f"/runs/{run}")

    def outcome(self, run: str) -> Json:
        """The result of a program, or the rows of a query, with the printed text and the code."""
        view = self._get(f"/runs/{run}")
        outcome = view["outcome"]
        return {"code": view["code"]} | {
            name: outcome.get(field)
            for name, field in {"result": "result", "rows": "rows", "printed": "stdout"}.items()
        }

    def import_prices(self, filename: str, content: bytes) -> None:
        self._post("/prices/import", files={"file": (filename, content)})

    def coins(self) -> list[list[Any]]:
        """`[coin, interval, bars]` of each series."""
        return [[coin["coin"], coin["interval"], coin["bars"]] for coin in self._get("/prices/coins")]

    def price_statistics(self, coin: str) -> list[float]:
        """Lowest, highest, mean close, total volume."""
        [series] = self._get("/prices/statistics", coin=coin)
        return [series[name] for name in ("lowest", "highest", "mean_close", "total_volume")]

    def _predictions(self, model: str, source: Json) -> list[Json]:
        predictions: list[Json] = self._post(f"/models/{model}/predict", json=source)["predictions"]
        return predictions

    def _wait_until_settled(self, path: str) -> Standing:
        standing = _standing(self._get(path))

        def is_settled() -> bool:
            nonlocal standing
            standing = _standing(self._get(path))
            return standing.status in (*_ENDED, _WAITING)

        wait_until(is_settled, POLL_S)
        return standing

    def _items(self, path: str, **query: Any) -> list[Json]:
        page = self._get(path, limit=PAGE_ITEMS, **query)
        items: list[Json] = page["items"]
        assert len(items) < PAGE_ITEMS, f"{path} has a further page"
        return items

    def _get(self, path: str, **query: Any) -> Any:
        return _body(self._http.get(path, params=query))

    def _post(self, path: str, **body: Any) -> Any:
        return _body(self._http.post(path, **body))


def _body(response: httpx.Response) -> Any:
    assert response.is_success, f"{response.request.url}: {response.status_code} {response.text[:500]}"
    return response.json()


def _standing(view: Json) -> Standing:
    question, error = view.get("question"), view.get("error")
    return Standing(
        view["status"],
        question["key"] if question else None,
        question["kind"] if question else None,
        (question or {}).get("text") or (error or {}).get("detail") or "",
    )
