"""The application: routes and pages behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from l2t._version import __version__
from l2t.experiences import ExperienceStore
from l2t.interfaces.dashboard import pages
from l2t.interfaces.dashboard.context import Context
from l2t.interfaces.dashboard.errors import add_handlers
from l2t.interfaces.dashboard.routes import router
from l2t.interfaces.dashboard.safety import Guard
from l2t.interfaces.dashboard.settings import Settings

__all__ = ["create_app"]


def create_app(store: ExperienceStore, settings: Settings | None = None) -> FastAPI:
    """Return the dashboard of a store as an ASGI application."""
    settings = Settings() if settings is None else settings
    context = Context(store, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        context.close()

    app = FastAPI(
        title="L2T dashboard",
        version=__version__,
        description="What an experience store holds, and what to transfer between two domains.",
        docs_url=None,  # its page would need scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.context = context
    add_handlers(app)
    app.include_router(router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.add_middleware(Guard, settings=settings)
    return app
