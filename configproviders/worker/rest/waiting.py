"""How requests wait: the event loop answers all others meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import to_thread

P = ParamSpec("P")
T = TypeVar("T")


async def done(future: Future[T]) -> T:
    """Wait until the herder has done it. When the request times out, the herder goes on."""
    return await asyncio.shield(asyncio.wrap_future(future))


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what may block. When the request times out, nobody waits for it any more."""
    return await to_thread.run_sync(partial(function, *args, **kwargs), abandon_on_cancel=True)
