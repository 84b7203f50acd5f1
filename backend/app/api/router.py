"""Every route module, under /api/v1."""

from importlib import import_module
from pkgutil import iter_modules

from fastapi import APIRouter

from app.api import routes
from app.api.openapi import EVERY_ROUTE

PREFIX = "/api/v1"

BUSIEST = ("sessions", "stream")
"""Routes are tried in order, so these come first."""


def api_router() -> APIRouter:
    """Each module of `api/routes` has a `router`."""
    router = APIRouter(prefix=PREFIX, responses=EVERY_ROUTE)
    modules = sorted(found.name for found in iter_modules(routes.__path__))
    for module in sorted(modules, key=lambda name: name not in BUSIEST):
        router.include_router(import_module(f"{routes.__name__}.{module}").router)
    return router
