"""The state of the service: readiness and metrics."""
