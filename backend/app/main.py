"""ASGI application of the API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from argon2 import PasswordHasher
from fastapi import FastAPI

from app.api.exception_handlers import add_failures
from app.api.middleware import BodyLimit, Envelope, SlowClientMiddleware
from app.api.openapi import describe
from app.api.rate_limit import RateLimitMiddleware
from app.api.router import api_router
from app.api.routes import docs, health
from app.api.service_metrics import ServiceMetrics
from app.api.size_limits import MAX_BODY_BYTES, larger_body_limits
from app.auth.secret import load_signing_secrets
from app.auth.services import open_auth_services
from app.observability.logging import configure_logging
from app.resources import open_resources
from app.settings import Settings, load_settings


def create_app(settings: Settings, hasher: PasswordHasher | None = None) -> FastAPI:
    """Build the application. Nothing is opened before the server starts the lifespan.

    `hasher`: Argon2 with other costs than its defaults. The server sets `app.state.leaving` when it stops:
    event streams end then.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        secret_key = settings.secret_key.get_secret_value() if settings.secret_key else None
        secrets = load_signing_secrets(secret_key, settings.other_secrets, settings.home, settings.production)
        async with (
            open_resources(settings, "api") as resources,
            open_auth_services(
                settings.auth, secrets, resources.open_uow, resources.redis, resources.database, hasher
            ) as auth_services,
        ):
            app.state.resources, app.state.auth_services = resources, auth_services
            app.state.service_metrics = ServiceMetrics(resources)
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
    add_failures(app)
    app.add_middleware(
        BodyLimit,
        limit_bytes=MAX_BODY_BYTES,
        larger=larger_body_limits(settings.upload_max_size_mb << 20, settings.prices_max_size_mb << 20),
    )
    app.add_middleware(RateLimitMiddleware)
    app.add_middleware(SlowClientMiddleware)
    app.add_middleware(Envelope)
    app.include_router(api_router())
    for routes in (health, docs):
        app.include_router(routes.router, include_in_schema=False)
    describe(app)
    return app


def app_factory() -> FastAPI:
    """Build the application for `uvicorn app.main:app_factory --factory`, with settings of the environment."""
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    return create_app(settings)
