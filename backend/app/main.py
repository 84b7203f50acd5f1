"""ASGI application of the API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app.api.access.rate_limit import RateLimitMiddleware
from app.api.exception_handlers import add_failures
from app.api.router import api_document, api_routes
from app.api.routes import docs, health
from app.api.server.middleware import BodyLimit, Envelope, SlowClientMiddleware
from app.api.server.path_aliases import PathAliases
from app.api.server.shutdown import setting_on_termination
from app.api.server.size_limits import MAX_BODY_BYTES, larger_body_limits
from app.api.server.web_page import WebPage
from app.api.status.service_metrics import ServiceMetrics
from app.auth.services import open_auth_services
from app.observability.logging import configure_logging
from app.resources import open_resources
from app.settings import Settings, load_settings


def create_app(settings: Settings, hasher: PasswordHasher | None = None) -> FastAPI:
    """Build the application. Nothing is opened before the server starts the lifespan.

    `hasher`: Argon2 with other costs than its defaults. `app.state.leaving` is set when the server stops:
    event streams end then.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        secrets = settings.load_secret_keys(settings.home, settings.production)
        async with (
            open_resources(settings, "api") as resources,
            open_auth_services(
                settings.auth, secrets, resources.open_uow, resources.redis, resources.database, hasher
            ) as auth_services,
        ):
            await resources.secrets.check()
            app.state.resources, app.state.auth_services = resources, auth_services
            app.state.service_metrics = ServiceMetrics(resources)
            with setting_on_termination(app.state.leaving):
                yield

    app = FastAPI(
        title="Labcrew",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.leaving = asyncio.Event()
    app.state.settings = settings
    add_failures(app)
    # The middleware that is added last is the outermost: the envelope sees all refusals of the others.
    app.add_middleware(
        BodyLimit,
        limit_bytes=MAX_BODY_BYTES,
        larger=larger_body_limits(settings.upload_max_size_mb << 20, settings.prices_max_size_mb << 20),
    )
    app.add_middleware(RateLimitMiddleware)
    app.add_middleware(SlowClientMiddleware)
    app.add_middleware(Envelope)
    if settings.cors_origins:  # outermost, so that pages can read errors too
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"),
            expose_headers=("Location", "Retry-After", "X-Request-ID", "Content-Disposition"),
        )
    if settings.compatible_paths:  # before limits look at the path
        app.add_middleware(PathAliases)
    app.router.routes.extend(api_routes())
    for routes in (health, docs):
        app.include_router(routes.router, include_in_schema=False)
    if settings.compatible_paths:  # before the page, which browsers would get at this address
        app.include_router(health.compatible_router, include_in_schema=False)
    app.router.routes.append(WebPage())
    # The way that FastAPI documents; the document is built when it is first read, for a second.
    app.openapi = lambda: api_document(app.title, app.version)  # type: ignore[method-assign]
    return app


def __getattr__(name: str) -> FastAPI:
    """Build `app` for `uvicorn app.main:app` when it is first used, so that an import reads no settings."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    app = globals()["app"] = app_factory()
    return app


def app_factory() -> FastAPI:
    """Build the application with settings of the environment."""
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    return create_app(settings)
