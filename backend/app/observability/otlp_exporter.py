"""OTLP exporter of spans; importable with the extra `otel` only."""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from app.observability.trace_ids import root_session, root_span_id


class SessionIds(RandomIdGenerator):
    """Id generator: the root span of a session takes its ids from the session's id."""

    def generate_trace_id(self) -> int:
        session = root_session()
        return session.int if session else super().generate_trace_id()

    def generate_span_id(self) -> int:
        session = root_session()
        return root_span_id(session) if session else super().generate_span_id()


def provider(address: str, timeout_s: float, exporter: SpanExporter | None = None) -> TracerProvider:
    """Create a provider that sends spans in the background to `<address>/v1/traces`.

    The headers come from OTEL_EXPORTER_OTLP_HEADERS.
    """
    # No hook at the exit: `tracing` shuts it down, and a second time would wait for the collector again.
    tracer_provider = TracerProvider(
        resource=Resource.create({"service.name": "labcrew"}), id_generator=SessionIds(), shutdown_on_exit=False
    )
    sender = exporter or OTLPSpanExporter(f"{address.rstrip('/')}/v1/traces", timeout=timeout_s)
    tracer_provider.add_span_processor(BatchSpanProcessor(sender))
    return tracer_provider
