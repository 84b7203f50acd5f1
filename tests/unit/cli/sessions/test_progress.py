from app.cli.api_client.received_events import parse_event
from app.cli.sessions.progress import SessionProgress


def told(*events: dict[str, object]) -> SessionProgress:
    story = SessionProgress()
    for second, event in enumerate(events):
        story.apply(parse_event(event), float(second))
    return story


def test_a_step_runs_until_it_finished() -> None:
    story = told({"kind": "step_started", "node": "split"})
    assert story.running
    assert story.running.elapsed_s(now_s=3.0) == 3.0
    story.apply(parse_event({"kind": "step_finished", "node": "split", "duration_ms": 2000.0}), 2.0)
    assert story.running is None
    assert story.steps[0].elapsed_s(now_s=9.0) == 2.0


def test_another_attempt_of_a_step_is_the_same_step() -> None:
    story = told({"kind": "step_started", "node": "split"}, {"kind": "step_started", "node": "split"})
    assert len(story.steps) == 1


def test_a_step_whose_start_was_not_seen_is_told_when_it_finished() -> None:
    story = told({"kind": "noise"}, {"kind": "step_finished", "node": "split", "duration_ms": 500.0})
    assert [(step.node, step.elapsed_s(9.0)) for step in story.steps] == [("split", 0.5)]


def test_a_question_is_open_until_it_is_answered() -> None:
    story = told({"kind": "clarification_asked", "question": "1.ask"})
    assert story.question
    story.apply(parse_event({"kind": "clarification_answered", "question": "another"}), 1.0)
    assert story.question
    story.apply(parse_event({"kind": "clarification_answered", "question": "1.ask"}), 2.0)
    assert story.question is None


def test_the_running_step_says_what_it_does() -> None:
    story = told(
        {"kind": "step_started", "node": "model_training"},
        {"kind": "fit_finished", "name": "Ridge", "status": "done", "summary": ""},
    )
    assert story.running
    assert story.running.doing == "Ridge: done"


def test_a_step_that_called_no_tool_says_why_and_another_keeps_its_last_activity() -> None:
    said = {"kind": "message", "role": "assistant", "text": "Nothing more was fitted."}
    story = told({"kind": "step_started", "node": "hyperparameter_tuning"}, said)
    assert story.steps[-1].doing == "Nothing more was fitted."
    story = told({"kind": "step_started", "node": "reporting"}, {"kind": "tool_called", "tool": "draw"}, said)
    assert story.steps[-1].doing == "draw"


def test_what_the_plan_left_out_is_told() -> None:
    story = SessionProgress()
    note = "There is no column 'foo' to leave out."
    story.apply(parse_event({"kind": "plan_made", "steps": ["Fetch it."], "notes": [note]}), 0.0)
    assert story.plan == ["Fetch it."]
    assert story.notes == [note]


def test_a_session_that_is_read_again_shows_how_long_its_steps_took_and_what_they_did() -> None:
    story = told(
        {"kind": "tool_returned", "seq": 1, "created_at": "2026-01-01T10:00:01Z", "summary": "400 rows."},
        {
            "kind": "step_finished",
            "seq": 2,
            "created_at": "2026-01-01T10:00:02Z",
            "node": "split",
            "duration_ms": 500,
        },
        {
            "kind": "fit_finished",
            "seq": 3,
            "created_at": "2026-01-01T10:00:09Z",
            "name": "Ridge",
            "status": "done",
        },
        {"kind": "message", "seq": 4, "created_at": "2026-01-01T10:00:10Z", "text": "It was trained."},
        {
            "kind": "step_finished",
            "seq": 5,
            "created_at": "2026-01-01T10:00:10Z",
            "node": "training",
            "duration_ms": 80,
        },
    )
    assert [(step.node, step.elapsed_s(99.0), step.doing) for step in story.steps] == [
        ("split", 0.5, "400 rows."),
        ("training", 8.0, "Ridge: done"),
    ]
