"""Structured logs: one JSON object a line, with the ids of request, session and step, and no user data."""

import logging
import sys
from typing import Literal, TextIO

import structlog
from structlog.types import Processor

LogFormat = Literal["json", "console"]


def configure_logging(level: str = "INFO", form: LogFormat = "json", stream: TextIO | None = None) -> None:
    """Our own logs and every library's standard logs, to `stream` (standard error) in one form."""
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
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_rendering(form))
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in _REPLACED:
        logging.getLogger(name).setLevel(logging.WARNING)


_REPLACED = ("uvicorn.access", "uvicorn.error")
"""Loggers whose lines ours say better: theirs show query strings, and tickets with them."""


def _rendering(form: LogFormat) -> list[Processor]:
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if form == "console":
        # The default shows local variables in tracebacks: passwords and rows among them.
        return [
            strip,
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
        ]
    return [strip, structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
