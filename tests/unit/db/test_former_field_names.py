"""Stored JSON with former field names is read by the present ones."""

import json

from app.db.former_field_names import current_event, current_result


def test_former_fields_of_a_result_are_renamed() -> None:
    result = {
        "report": {"artifact": "a", "checked": 41},
        "leaderboard": [{"name": "A", "folded": True}, {"name": "B", "folded": False}],
        "answer": {"rows_used": 3, "rows_there": 5},
    }
    assert current_result(result) == {
        "report": {"artifact": "a", "checked_claims": 41},
        "leaderboard": [{"name": "A", "collapsed": True}, {"name": "B", "collapsed": False}],
        "answer": {"rows_used": 3, "total_rows": 5},
    }


def test_a_result_of_present_names_stays_as_it_is() -> None:
    result = {"report": {"checked_claims": 41}, "leaderboard": [], "answer": None}
    assert current_result(json.loads(json.dumps(result))) == result


def test_the_result_of_a_program_is_left_alone() -> None:
    result = {"end": "returned", "result": {"report": {"checked": 1}}}
    assert current_result(json.loads(json.dumps(result))) == result


def test_the_result_inside_a_stored_event_is_renamed() -> None:
    body = '{"kind":"session_finished","result":{"report":{"checked":41}}}'
    assert json.loads(current_event("session_finished", body)) == {
        "kind": "session_finished",
        "result": {"report": {"checked_claims": 41}},
    }


def test_other_events_are_passed_on_as_their_text() -> None:
    body = '{"kind": "message",  "text": "checked"}'
    assert current_event("message", body) is body
