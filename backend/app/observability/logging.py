"""Structured logs: one JSON object a line, with the ids of request, session and step, and no user data.

A traceback shows places and types of errors without their text, which may quote a cell, a query or an address
and is shown to its owner in the session. At the level DEBUG the text is logged too.
"""

import logging
import sys
import traceback
from typing import Literal, TextIO

import structlog
from structlog.types import ExcInfo, Processor

from app.errors import LabError

LogFormat = Literal["json", "console"]


def format_traceback(error: BaseException | None, texts: bool = False) -> str:
    """Format a traceback with the causes of the error, innermost first; `texts`: with the errors' texts."""
    tracebacks: list[str] = []
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        # A chain of causes may be a circle.
        visited.add(id(error))
        detail = f": {error}" if texts else f" ({error.code})" if isinstance(error, LabError) else ""
        frames = "".join(traceback.format_tb(error.__traceback__))
        tracebacks.append(f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}{detail}")
        # As Python prints it: `raise ... from None` hides what came before.
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n\n".join(reversed(tracebacks))


def configure_logging(level: str = "INFO", form: LogFormat = "json", stream: TextIO | None = None) -> None:
    """Write this package's logs and every library's standard logs to `stream` (standard error) in one form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # Modules make their loggers when they are imported, before this: only the first use binds them.
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=_make_renderers(form, level == "DEBUG")
        )
    )
    root = logging.getLogger()
    # In place of those that a library or the server has set, which would write every line again.
    root.handlers = [handler]
    root.setLevel(level)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


_QUIET_LOGGERS = ("uvicorn.access", "uvicorn.error", "httpx")
"""Loggers replaced by this package's own: their lines show query strings, and tickets in these."""


def _make_renderers(form: LogFormat, texts: bool) -> list[Processor]:
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta

    def render_traceback(exc_info: ExcInfo) -> str:
        return format_traceback(exc_info[1], texts)

    def write(out: TextIO, exc_info: ExcInfo) -> None:
        out.write(render_traceback(exc_info))

    if form == "console":
        return [strip, structlog.dev.ConsoleRenderer(exception_formatter=write)]
    return [
        strip,
        structlog.processors.ExceptionRenderer(render_traceback),
        structlog.processors.JSONRenderer(default=str),
    ]
