"""Router of all route modules."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.api import routes
from app.api.openapi.document import COMMON_RESPONSES, build_document
from app.api.paths import PREFIX

FIRST_MODULES = ("sessions", "stream")
"""Modules with the most requests: routes are matched in order."""


@cache
def api_routes() -> tuple[BaseRoute, ...]:
    """Return the routes of `router` of each module in `api/routes`, under `PREFIX`.

    Applications of one process share them: FastAPI builds parameters and answers of a route anew, in a
    millisecond or more, wherever its router is included.
    """
    router = APIRouter(responses=COMMON_RESPONSES)
    modules = sorted(module.name for module in iter_modules(routes.__path__))
    for module in sorted(modules, key=lambda name: name not in FIRST_MODULES):
        router.include_router(import_module(f"{routes.__name__}.{module}").router)
    root = APIRouter()
    root.include_router(router, prefix=PREFIX)
    return tuple(root.routes)


@cache
def api_document(title: str, version: str) -> dict[str, Any]:
    """Return the OpenAPI document of `api_routes`, which nobody may change: applications share it too."""
    return build_document(title, version, api_routes())
