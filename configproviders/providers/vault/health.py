"""How a session with Vault is doing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class VaultHealth:
    """*state* is ``new``, ``ready``, ``failing`` or ``closed``.

    *token_ttl* is what the token has left; none if it does not end, or nobody knows. *leases* is
    how many are kept alive, and *last_error* why renewing fails.
    """

    state: str
    token_ttl: timedelta | None = None
    leases: int = 0
    last_error: str | None = None
