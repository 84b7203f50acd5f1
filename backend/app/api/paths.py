"""The path of the API."""

PREFIX = "/api/v1"
"""Given where the router is included: FastAPI builds every route at once to check one without a prefix."""
