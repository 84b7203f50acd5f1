"""Charts of conversations over the real API: planned offline, computed in cells, drawn by the renderer."""

import json

import pytest
from fastapi import FastAPI

from .conftest import User
from .test_threads import ask, read_events

SALES = "date,region,revenue,cost\n" + "".join(
    f"2024-{1 + day // 28:02d}-{1 + day % 28:02d},{region},{100 + 7 * day % 90},{40 + 3 * day % 50}\n"
    for day in range(56)
    for region in ("north", "south")
)


@pytest.fixture
async def dataset(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("orders.csv", SALES.encode())})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.usefixtures("worker")
async def test_charts_are_drawn_shown_in_the_turn_and_kept(ada: User, eve: User, dataset: str) -> None:
    turn = await ask(ada, "total revenue by region as a bar chart", dataset_ids=[dataset])
    assert turn["status"] == "succeeded", turn
    (chart,) = turn["charts"]
    assert (chart["chart_kind"], chart["problem"]) == ("bar", None)
    assert turn["table"]["row_count"] == 2
    assert turn["plan"]["source"] == {"kind": "dataset", "table": "orders"}
    path = f"/charts/{chart['id']}"
    answer = await ada.http.get(path)
    assert answer.headers["content-type"] == "application/vnd.vegalite.v6+json"
    specification = json.loads(answer.content)
    assert specification["datasets"]["rows"] == [
        dict(zip(("region", "c1"), row, strict=True))
        for row in sorted(turn["table"]["rows"], key=lambda r: -r[1])
    ]
    png, svg = [await ada.http.get(f"{path}/{name}") for name in ("png", "svg")]
    assert png.content.startswith(b"\x89PNG")
    assert "north" in svg.text
    assert (await eve.http.get(path)).status_code == 404
    assert (await ada.http.get(f"/charts/{turn['table']['artifact']}")).status_code == 404
    follow_up = await ask(ada, "as a line chart", thread_id=turn["thread_id"])
    assert [c["chart_kind"] for c in follow_up["charts"]] == ["line"], follow_up


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("message", "kind", "rows"),
    [
        ("correlation matrix of all numeric columns as a heatmap", "heatmap", 1),
        ("time series of revenue with a 7-day moving average", "line", 56),
        ("histogram of cost", "histogram", None),
        ("box plot of revenue by region", "box", 2),
        ("plot revenue against cost", "scatter", 112),
        ("histogram of date", "histogram", 56),
    ],
)
async def test_every_kind_of_chart_is_drawn(
    ada: User, dataset: str, message: str, kind: str, rows: int | None
) -> None:
    turn = await ask(ada, message, dataset_ids=[dataset])
    assert [(c["chart_kind"], c["problem"]) for c in turn["charts"]] == [(kind, None)], turn
    assert rows is None or turn["table"]["row_count"] == rows


@pytest.mark.usefixtures("worker")
async def test_a_stream_shows_a_chart_while_it_is_made(ada: User, dataset: str) -> None:
    body = {"message": "bar chart of total revenue by region", "dataset_ids": [dataset]}
    events = read_events((await ada.http.post("/chat/stream", json=body)).text)
    kinds = [event["event"] for event in events if event["event"] != "status"]
    assert kinds == ["tool_call", "table", "chart", "tool_result", "token", "result", "done"]
    (chart,) = [event["data"] for event in events if event["event"] == "chart"]
    assert (await ada.http.get(f"/charts/{chart['artifact']}")).status_code == 200


@pytest.mark.usefixtures("worker")
async def test_follow_ups_change_the_last_question(ada: User, dataset: str) -> None:
    turn = await ask(ada, "total revenue by region", dataset_ids=[dataset])
    thread = {"thread_id": turn["thread_id"]}
    whole = turn["table"]["rows"]
    only = await ask(ada, "only January 2024", **thread)
    assert "Only rows where `date` is in 2024-01" in only["text"]
    assert all(part[1] < total[1] for part, total in zip(only["table"]["rows"], whole, strict=True))
    drawn = await ask(ada, "as a bar chart", **thread)
    assert [chart["chart_kind"] for chart in drawn["charts"]] == ["bar"]
    assert drawn["table"]["rows"] == only["table"]["rows"]
    again = await ask(ada, "what about February 2024?", **thread)
    assert [chart["chart_kind"] for chart in again["charts"]] == ["bar"], again
    assert again["table"]["rows"] != drawn["table"]["rows"]
    nothing = await ask(ada, "only on the moon", **thread)
    assert nothing["table"] is None


@pytest.mark.usefixtures("worker")
async def test_what_cannot_be_drawn_is_said(app: FastAPI, ada: User, dataset: str) -> None:
    turn = await ask(ada, "plot a rebellion", dataset_ids=[dataset])
    assert (turn["charts"], turn["table"]) == ([], None)
    assert "understand" in turn["text"]
    turn = await ask(ada, "as a bar chart", dataset_ids=[dataset])
    assert "no result yet" in turn["text"]
