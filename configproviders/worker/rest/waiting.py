"""How requests wait: the event loop answers all others meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def done(future: Future[T]) -> T:
    """Wait until the herder has done it. When the request times out, the herder goes on."""
    return await asyncio.shield(asyncio.wrap_future(future))


async def in_thread(
    function: Callable[[Unpack[Ts]], T],
    *arguments: Unpack[Ts],
    limiter: CapacityLimiter | None = None,
) -> T:
    """Call what may block; when the request times out, nobody waits for it any more."""
    call = partial(function, *arguments)
    return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
