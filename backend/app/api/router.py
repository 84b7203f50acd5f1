"""Every route module, under /api/v1."""

from importlib import import_module
from pkgutil import iter_modules

from fastapi import APIRouter

from app.api import routes
from app.api.openapi import EVERY_ROUTE

PREFIX = "/api/v1"


def api_router() -> APIRouter:
    """Each module of `api/routes` has a `router`."""
    router = APIRouter(prefix=PREFIX, responses=EVERY_ROUTE)
    for module in sorted(found.name for found in iter_modules(routes.__path__)):
        router.include_router(import_module(f"{routes.__name__}.{module}").router)
    return router
