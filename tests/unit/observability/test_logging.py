import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from app.errors import NotFound
from app.observability.logging import configure_logging


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    stream = io.StringIO()
    configure_logging("INFO", "json", stream)
    yield stream
    root.handlers, root.level = before
    structlog.contextvars.clear_contextvars()


def test_a_line_is_one_json_object_with_the_ids_of_its_context(lines: io.StringIO) -> None:
    structlog.contextvars.bind_contextvars(request_id="r1", session_id="s1")
    structlog.get_logger("labcrew.test").info("step_committed", step=3)
    line = json.loads(lines.getvalue())
    assert (line["event"], line["level"], line["step"]) == ("step_committed", "info", 3)
    assert (line["request_id"], line["session_id"], line["logger"]) == ("r1", "s1", "labcrew.test")


def test_a_librarys_line_has_the_same_form(lines: io.StringIO) -> None:
    logging.getLogger("somebody").warning("careful with %s", "that")
    assert json.loads(lines.getvalue())["event"] == "careful with that"


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_local_variable(form: str, lines: io.StringIO) -> None:
    configure_logging("INFO", form, lines)  # type: ignore[arg-type]  # both values of LogFormat
    password = "correct horse"
    try:
        raise LookupError("no such thing")
    except LookupError:
        structlog.get_logger("labcrew.traceback").exception("broken")
    assert "LookupError" in lines.getvalue()
    assert password not in lines.getvalue()


def test_the_servers_own_lines_with_query_strings_are_left_out(lines: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").info('"WebSocket /stream?ticket=t0ken" [accepted]')
    assert lines.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_has_places_and_types_without_texts(form: str, lines: io.StringIO) -> None:
    configure_logging("INFO", form, lines)  # type: ignore[arg-type]  # both values of LogFormat
    person = "ada@example.org"
    try:
        try:
            raise ValueError(f"could not convert {person} to float")
        except ValueError as error:
            raise NotFound("dataset_not_found", f"There is no table of {person}.") from error
    except NotFound:
        logging.getLogger("labcrew.broken").exception("step failed")
    said = lines.getvalue()
    assert "ValueError" in said
    assert "NotFound (dataset_not_found)" in said
    assert "test_logging.py" in said
    assert person not in said


def test_at_debug_a_traceback_has_texts(lines: io.StringIO) -> None:
    configure_logging("DEBUG", "json", lines)
    try:
        raise ValueError(f"said {1 + 1}")
    except ValueError:
        logging.getLogger("labcrew.broken").exception("step failed")
    assert "said 2" in lines.getvalue()
