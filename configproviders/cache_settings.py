"""The settings of a cache around a provider."""

from __future__ import annotations

from datetime import timedelta

from .config_def import MILLISECONDS, Alias, ConfigDef, ConfigKey

DEFAULT_TTL = ConfigKey(
    "secret.default.ttl.ms",
    MILLISECONDS,
    timedelta(0),
    "high",
    "How long a value is kept if neither its reference (?ttl=) nor the backend says so; 0 asks"
    " the backend every time.",
    (
        Alias("secret.default.ttl", "Lenses"),
        Alias("secret.ttl.ms", "csid, jcustenborder"),
        Alias("vault.secret.minimum.ttl.ms", "jcustenborder"),
    ),
)
MAX_STALE = ConfigKey(
    "max.stale.ms",
    MILLISECONDS,
    timedelta(0),
    "medium",
    "How long after its TTL a value is served, marked as stale, while the backend cannot be"
    " reached; 0 never.",
)
NEGATIVE_TTL = ConfigKey(
    "negative.ttl.ms",
    MILLISECONDS,
    timedelta(seconds=1),
    "low",
    "How long it is remembered that a path or key is missing or refused; 0 asks every time.",
)
CACHE_DEF = ConfigDef((DEFAULT_TTL, MAX_STALE, NEGATIVE_TTL))
"""The settings of a cache, which stand among those of the provider it is around."""
