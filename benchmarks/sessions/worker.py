"""A worker of the product whose only graph does nothing."""

from benchmarks.sessions.noop import spec

from app.observability.logging import configure_logging
from app.sessions.graphs import Graphs
from app.settings import load_settings
from app.worker.process import serve

if __name__ == "__main__":
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    serve(settings, ("steps",), 16, lambda resources: Graphs([spec()]))
