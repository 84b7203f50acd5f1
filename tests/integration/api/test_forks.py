"""Forks over HTTP: real rows, real cells, the crew without a chat model."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from app.artifacts.blob_sweep import sweep_blobs

from .chatting import SESSIONS, Json, begin_session, until_the_end
from .conftest import User

PENGUINS = Path(str(files("bokeh_sampledata"))) / "_data" / "penguins.csv"
GOAL = "Predict the species of each penguin."


async def study(app: FastAPI, ada: User, **preferences: Any) -> Json:
    """A completed session."""
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), GOAL, **preferences)
    return await ended(app, ada, session)


async def ended(app: FastAPI, ada: User, session: UUID) -> Json:
    view, _ = await until_the_end(app, ada, session, lambda question: question["default"])
    assert view["status"] == "completed", view["error"]
    return view


async def fork(ada: User, session: str, at: Json, change: Json | None = None, **headers: str) -> UUID:
    body = {"at": at, **({"change": change} if change else {})}
    forked = await ada.http.post(f"{SESSIONS}/{session}/fork", json=body, headers=headers)
    assert forked.status_code == 201, forked.text
    return UUID(forked.json()["id"])


async def refusal(ada: User, session: str, at: Json, change: Json | None = None) -> tuple[int, str, str]:
    body = {"at": at, **({"change": change} if change else {})}
    refused = await ada.http.post(f"{SESSIONS}/{session}/fork", json=body)
    problem = refused.json()
    return refused.status_code, problem.get("code", ""), problem.get("detail", "")


async def steps(ada: User, session: str) -> list[Json]:
    items: list[Json] = (await ada.http.get(f"{SESSIONS}/{session}/steps?limit=100")).json()["items"]
    return items


async def messages(ada: User, session: str) -> list[Json]:
    items: list[Json] = (await ada.http.get(f"{SESSIONS}/{session}/messages?limit=100")).json()["items"]
    return items


ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


NOT_COMPARED = ("_s", "checked_claims", "low", "high")


def outcome(view: Json) -> Any:
    """The result without ids, measured times, bounds and the number of claims, some of which are about usage.

    A fork that looks at the hold-out again has wider intervals, and its usage lacks that of its source.
    """

    def drop_times(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: drop_times(item) for name, item in value.items() if not name.endswith(NOT_COMPARED)}
        return [drop_times(item) for item in value] if isinstance(value, list) else value

    result = json.loads(ID.sub("id", json.dumps(drop_times(view["result"]))))
    if holdout := result.get("holdout"):
        # Each session of a family that scores on its hold-out has looked at it once more.
        del holdout["looks"]
    return result


async def count(app: FastAPI, table: str, session: str) -> int:
    sql = f"select count(*) as n from {table} where session_id = $1"
    row = await app.state.resources.database.row(sql, UUID(session))
    return int(row["n"])


@pytest.mark.slow
async def test_a_fork_without_a_change_ends_with_the_result_of_its_source(app: FastAPI, ada: User) -> None:
    """At the first, a middle and the last step; `test_fork_property` draws the others."""
    source = await study(app, ada)
    recorded = await steps(ada, source["id"])
    for step in (1, len(recorded) // 2, len(recorded)):
        copy = await ended(app, ada, await fork(ada, source["id"], {"step": step}))
        assert outcome(copy) == outcome(source), step
        assert copy["forked_from"] == copy["family_id"] == source["id"]
        assert (copy["fork"]["step"], copy["fork"]["at"]["step"]) == (step, step)
        assert not any(copy["fork"]["change"].values())
        assert [s["inherited"] for s in await steps(ada, copy["id"])] == [
            n < step for n in range(1, len(recorded) + 1)
        ]
        assert await count(app, "calls", copy["id"]) == await count(app, "calls", source["id"])
        assert (copy["usage"]["inherited"] is None) == (step == 1)
        inherited = [m["inherited"] for m in await messages(ada, copy["id"])]
        assert inherited == [m["step"] < step for m in await messages(ada, source["id"])]
    assert not any(message["inherited"] for message in await messages(ada, source["id"]))
    trail = (await ada.http.get(f"{SESSIONS}/{copy['id']}/audit?limit=200")).json()["items"]
    assert [entry["action"] for entry in trail].count("session_forked") == 1
    (made,) = [entry for entry in trail if entry["action"] == "session_forked"]
    assert made["detail"] == {"source": source["id"], "at": {"step": step}}
    copied = [entry["detail"]["inherited"] for entry in trail if entry["action"] == "step_committed"]
    assert copied == [True] * (step - 1) + [False] * (len(recorded) - step + 1)
    events = (await ada.http.get(f"{SESSIONS}/{copy['id']}/events")).text
    assert "session_forked" in events
    assert "session_started" not in events


@pytest.mark.slow
async def test_settings_change_what_runs_after_the_point_and_nothing_before_it(app: FastAPI, ada: User) -> None:
    source = await study(app, ada, families=["LogisticRegression", "XGBoost"])
    sid, nodes = source["id"], {s["node"]: s["step"] for s in reversed(await steps(ada, source["id"]))}
    for node in ("data_retrieval", "split", "data_analysis"):
        view = await ended(
            app, ada, await fork(ada, sid, {"step": nodes[node]}, {"settings": {"leave_out": ["island"]}})
        )
        assert "island" in view["result"]["problem"]["exclude"], node
        assert "island" not in {entry["column"] for entry in view["result"]["importances"]}
        await check_nothing_before(ada, source, view, nodes[node])
    view = await ended(
        app,
        ada,
        await fork(ada, sid, {"step": nodes["model_training"]}, {"preferences": {"model": "single"}}),
    )
    assert "Ensemble" in {row["name"] for row in source["result"]["leaderboard"]}
    assert "Ensemble" not in {row["name"] for row in view["result"]["leaderboard"]}
    await check_nothing_before(ada, source, view, nodes["model_training"])
    change = {"settings": {"metric": "f1", "families": ["LogisticRegression"]}}
    view = await ended(app, ada, await fork(ada, sid, {"step": nodes["model_training"]}, change))
    assert view["result"]["problem"]["metric"] == "f1"
    families = {row["name"] for row in view["result"]["leaderboard"] if not row["baseline"]}
    assert families
    assert all("Logistic" in name or name == "ensemble" for name in families)
    deep = await fork(ada, view["id"], {"step": nodes["model_evaluation"]})
    assert outcome(await ended(app, ada, deep)) == outcome(view)
    assert outcome((await ada.http.get(f"{SESSIONS}/{sid}")).json()) == outcome(source)

    await check_comparison(ada, source, view, nodes["model_training"])

    status, code, text = await refusal(
        ada, sid, {"step": nodes["feature_engineering"]}, {"settings": {"leave_out": ["island"]}}
    )
    assert (status, code) == (422, "setting_refused")
    assert f"Fork at step {nodes['data_analysis']} or earlier." in text
    status, code, text = await refusal(
        ada, sid, {"step": nodes["data_analysis"]}, {"settings": {"leave_out": ["iland"]}}
    )
    assert (status, code) == (422, "setting_refused")
    assert "nearest: island" in text
    _, _, text = await refusal(ada, sid, {"step": nodes["model_evaluation"]}, {"settings": {"metric": "f1"}})
    assert f"Fork at step {nodes['model_training']} or earlier." in text
    _, _, text = await refusal(ada, sid, {"step": 3}, {"settings": {"leave_out": ["species"]}})
    assert "what is predicted" in text
    _, code, _ = await refusal(ada, sid, {"step": 3}, {"preferences": {"target": "island"}})
    assert code == "preference_is_planned"
    _, code, text = await refusal(ada, sid, {"step": len(nodes) + 20})
    assert code == "step_not_recorded"
    assert "It has ended" in text
    earlier = await refusal(ada, view["id"], {"step": 2})
    assert earlier[:2] == (409, "step_of_source")


async def check_nothing_before(ada: User, source: Json, view: Json, step: int) -> None:
    """The steps before the point are those of the source, with their calls; the others are the fork's own."""
    sources, own = [await steps(ada, session["id"]) for session in (source, view)]
    assert [entry["inherited"] for entry in own] == [entry["step"] < step for entry in own]
    assert all(call["inherited"] for entry in own[: step - 1] for call in entry["calls"])
    before = [
        {**entry, "inherited": False, "calls": [{**call, "inherited": False} for call in entry["calls"]]}
        for entry in own[: step - 1]
    ]
    assert before == sources[: step - 1]


async def check_comparison(ada: User, source: Json, view: Json, step: int) -> None:
    """The fork judges by F1 with one family from `step` on, and nothing before it differs."""
    ids = f"{source['id']},{view['id']}"
    comparison = (await ada.http.get("/compare", params={"sessions": ids})).json()
    (pair,) = comparison["pairs"]
    assert (pair["first"], pair["second"], pair["common_step"]) == (source["id"], view["id"], step - 1)
    settings = {d["name"]: d for d in pair["differences"] if d["kind"] == "setting"}
    assert settings.keys() == {"metric", "families"}
    assert (settings["metric"]["second"], settings["metric"]["second_step"]) == ("f1", step)
    assert settings["metric"]["first_step"] < step
    kinds = {d["kind"] for d in pair["differences"]}
    assert kinds == {"setting", "chosen_model"}, "scores by different metrics are not compared"
    holdout = pair["holdout"]
    assert holdout["reason"] is None
    assert holdout["rows"] == source["result"]["holdout"]["rows"]
    name = source["result"]["metric"]
    scores = [session["result"]["metrics"][name]["value"] for session in (view, source)]
    difference = holdout["metrics"][name]
    assert difference["value"] == pytest.approx(scores[0] - scores[1], abs=1e-3)
    assert [difference["second"], difference["first"]] == pytest.approx(scores, abs=1e-3)
    assert difference["low"] <= difference["value"] <= difference["high"]
    assert [s["leaderboard"] for s in comparison["sessions"]] == [
        session["result"]["leaderboard"] for session in (source, view)
    ]


@pytest.mark.slow
async def test_a_note_is_read_by_the_rules_too_and_what_they_do_not_understand_is_said(
    app: FastAPI, ada: User
) -> None:
    source = await study(app, ada)
    sid, nodes = source["id"], {s["node"]: s["step"] for s in reversed(await steps(ada, source["id"]))}
    at = {"step": nodes["data_analysis"]}
    note = {"note": "Leave out the island, and only linear models. Without the zodiac."}
    forked = (await ada.http.post(f"{SESSIONS}/{sid}/fork", json={"at": at, "change": note})).json()
    assert forked["notes"] == ["The note leaves out 'zodiac', but no column has that name."]
    view = await ended(app, ada, UUID(forked["id"]))
    assert "island" in view["result"]["problem"]["exclude"]
    messages = (await ada.http.get(f"{SESSIONS}/{forked['id']}/messages?limit=100")).json()["items"]
    assert note["note"] in [message["text"] for message in messages if message["role"] == "user"]
    vague = (
        await ada.http.post(f"{SESSIONS}/{sid}/fork", json={"at": at, "change": {"note": "Do better."}})
    ).json()
    assert "No setting of the plan follows from the note." in vague["notes"][0]


@pytest.mark.slow
async def test_another_answer_goes_its_own_way(app: FastAPI, ada: User) -> None:
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), "Analyse this")
    source, asked = await until_the_end(app, ada, session, lambda question: "species")
    assert source["status"] == "completed"
    key = asked[0]["key"]
    recorded = [{"step": step["step"], "node": step["node"]} for step in await steps(ada, source["id"])]
    body = {"at": {"question": key}, "change": {"answer": "island"}}
    preview = (await ada.http.post(f"{SESSIONS}/{source['id']}/fork?dry=1", json=body)).json()
    assert preview["copied"] + preview["rerun"] == recorded
    assert preview["rerun"][0]["step"] == int(key.partition(".")[0])
    assert preview["estimated_s"] > 0
    # What the service would refuse at this point is not offered.
    at = {"step": next(entry["step"] for entry in recorded if entry["node"] == "data_analysis")}
    later = (await ada.http.post(f"{SESSIONS}/{source['id']}/fork?dry=1", json={"at": at})).json()
    assert "f1" in later["metrics"]
    assert "rmse" not in later["metrics"]
    last = {"step": recorded[-1]["step"]}
    ended_preview = (await ada.http.post(f"{SESSIONS}/{source['id']}/fork?dry=1", json={"at": last})).json()
    assert ended_preview["metrics"] == []
    same = await ended(app, ada, await fork(ada, source["id"], {"question": key}, {"answer": "species"}))
    assert outcome(same) == outcome(source)
    told = [(m["role"], m["text"]) for m in await messages(ada, same["id"]) if not m["inherited"]]
    assert ("user", "species") in told
    assert ("user", "Analyse this") not in told
    other = await ended(app, ada, await fork(ada, source["id"], {"question": key}, {"answer": "island"}))
    assert other["result"]["problem"]["target"] == "island"
    _, code, _ = await refusal(ada, source["id"], {"question": key}, {"answer": 7})
    assert code == "answer_invalid"
    _, code, _ = await refusal(ada, source["id"], {"question": key})
    assert code == "answer_missing"
    _, code, _ = await refusal(ada, source["id"], {"question": key}, {"answer": "island", "note": "please"})
    assert code == "only_answer_at_question"
    _, code, _ = await refusal(ada, source["id"], {"step": 1}, {"answer": "island"})
    assert code == "answer_needs_question"
    assert (await refusal(ada, source["id"], {"question": "1.nothing"}, {"answer": 1}))[:2] == (
        404,
        "question_not_found",
    )


@pytest.mark.slow
async def test_deleting_either_side_leaves_the_other_whole(app: FastAPI, ada: User) -> None:
    source = await study(app, ada)
    sid = source["id"]
    one, two = await fork(ada, sid, {"step": 5}), await fork(ada, sid, {"step": 7})
    await ended(app, ada, two)
    assert (await ada.http.delete(f"{SESSIONS}/{sid}/data")).status_code in (202, 204)
    view = await ended(app, ada, one)
    assert outcome(view) == outcome(source)
    await ada.http.delete(f"{SESSIONS}/{two}/data")
    listed = (await ada.http.get(f"{SESSIONS}/{one}/artifacts?limit=100")).json()["items"]
    await sweep_blobs(app.state.resources.database, app.state.resources.blobs, age_s=0)
    for artifact in listed:
        assert (await ada.http.get(f"/artifacts/{artifact['id']}")).status_code == 200, artifact["name"]
    assert view["forked_from"] == sid


async def test_a_key_makes_one_fork_and_is_compared_by_the_whole_request(app: FastAPI, ada: User) -> None:
    created = await ada.http.post(SESSIONS, json={"goal": "Predict which passengers survived."})
    sid = created.json()["id"]
    preview = await ada.http.post(f"{SESSIONS}/{sid}/fork", params={"dry": 1}, json={"at": {"step": 1}})
    assert preview.status_code == 200, preview.text
    metrics = preview.json().pop("metrics")
    assert {**preview.json(), "metrics": []} == {
        "copied": [],
        "rerun": [],
        "estimated_s": None,
        "notes": [],
        "metrics": [],
    }
    # Before the plan nothing is known of the problem.
    assert {"f1", "rmse"} <= set(metrics)
    refused = await ada.http.post(f"{SESSIONS}/{sid}/fork", params={"dry": 1}, json={"at": {"step": 2}})
    assert (refused.status_code, refused.json()["code"]) == (422, "step_not_recorded")
    assert (await ada.http.get(SESSIONS)).json()["total"] == 1
    once = {"Idempotency-Key": "once"}
    one = await fork(ada, sid, {"step": 1}, **once)
    assert await fork(ada, sid, {"step": 1}, **once) == one
    other = await ada.http.post(
        f"{SESSIONS}/{sid}/fork", json={"at": {"step": 1}, "change": {"note": "hello"}}, headers=once
    )
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    again = await ada.http.post(SESSIONS, json={"goal": "Predict which passengers survived."}, headers=once)
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_key_reused")


async def test_a_session_of_nobody_or_somebody_else_is_not_there(app: FastAPI, ada: User, eve: User) -> None:
    created = await ada.http.post(SESSIONS, json={"goal": "Predict which passengers survived."})
    sid = created.json()["id"]
    assert (await refusal(eve, sid, {"step": 1}))[:2] == (404, "session_not_found")
    assert (await refusal(ada, str(uuid4()), {"step": 1}))[:2] == (404, "session_not_found")
    bad = await ada.http.post(f"{SESSIONS}/{sid}/fork", json={"at": {"step": 1, "question": "1.a"}})
    assert bad.status_code == 422
    assert (await refusal(ada, sid, {"step": 2}))[1] == "step_not_recorded"
    copy = await fork(ada, sid, {"step": 1})
    others = await eve.http.get("/compare", params={"sessions": f"{sid},{copy}"})
    assert (others.status_code, others.json()["code"]) == (404, "session_not_found")
    for ids in (sid, f"{sid},{sid}", f"{sid},x"):
        refused = await ada.http.get("/compare", params={"sessions": ids})
        assert (refused.status_code, refused.json()["code"]) == (422, "sessions_invalid"), ids
    open_pair = (await ada.http.get("/compare", params={"sessions": f"{sid},{copy}"})).json()["pairs"][0]
    assert (open_pair["common_step"], open_pair["differences"]) == (0, [])
    # By its name, shortened: an id tells nobody which session is meant.
    reason = "“Predict which passengers survived.” has not ended, and its hold-out is locked until then."
    assert (open_pair["holdout"]["reason"], open_pair["holdout"]["reason_session"]) == (reason, sid)
    renamed = await ada.http.patch(f"{SESSIONS}/{sid}", json={"name": "x" * 200})
    assert renamed.status_code == 200, renamed.text
    renamed_view = (await ada.http.get("/compare", params={"sessions": f"{sid},{copy}"})).json()
    assert renamed_view["sessions"][0]["name"] == "x" * 200
    assert renamed_view["pairs"][0]["holdout"]["reason"].startswith(f"“{'x' * 79}…” has not ended")


@pytest.mark.slow
async def test_a_second_look_widens_the_intervals_and_shows_the_first_at_the_same_level(
    app: FastAPI, ada: User
) -> None:
    source = await study(app, ada)
    sid, nodes = source["id"], {s["node"]: s["step"] for s in reversed(await steps(ada, source["id"]))}
    again = await ended(app, ada, await fork(ada, sid, {"step": nodes["final_evaluation"]}))
    first, second = source["result"]["holdout"], again["result"]["holdout"]
    assert first["value"] == second["value"]
    assert second["low"] < first["low"] < first["high"] < second["high"]
    blocks = await report_blocks(ada, again)
    assert sid in json.dumps(blocks["siblings"])
    words = json.dumps(blocks["evidence"])
    assert "at this hold-out" in words
    assert "adapts to these rows" in words
    assert "siblings" not in await report_blocks(ada, source)
    copied = await ended(app, ada, await fork(ada, sid, {"step": nodes["reporting"]}))
    assert copied["result"]["holdout"] == first
    listed = (await ada.http.get(f"{SESSIONS}/{sid}/artifacts?limit=100")).json()["items"]
    holdout = next(artifact for artifact in listed if artifact["name"] == "holdout")
    for _ in range(2):
        assert (await ada.http.get(f"/artifacts/{holdout['id']}")).status_code == 200
        path = f"/models/{source['result']['model']}/predict"
        predicted = await ada.http.post(path, json={"artifact_id": holdout["id"]})
        assert predicted.status_code == 200, predicted.text
    assert (await ada.http.get(f"{SESSIONS}/{sid}/bundle")).status_code == 200
    kinds = await app.state.resources.database.rows(
        "select kind, number from holdout_looks where family_id = $1 order by number", UUID(sid)
    )
    expected = [("final", 1), ("final", 2), ("download", 3), ("predict", 4)]
    assert [(row["kind"], row["number"]) for row in kinds] == expected


async def report_blocks(ada: User, view: Json) -> Json:
    document = (await ada.http.get(f"/artifacts/{view['result']['report']['json']}")).json()
    return {block["kind"]: block for block in document["blocks"]}
