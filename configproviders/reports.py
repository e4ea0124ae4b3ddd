"""What ``resolve-config`` tells about a config instead of resolving it, without any value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .data import Answer, ConfigData
from .errors import (
    ConfigException,
    KeyNotFound,
    LookupDenied,
    LookupFailed,
    PathNotFound,
    UnknownProvider,
    UnsupportedOperation,
    plugin_failure,
)
from .plan import Location, LookupPlan, Use
from .provider import ConfigProvider
from .transformer import ConfigTransformer, explain

Outcomes = Sequence[tuple[Use, ConfigException | None]]
Providers = Mapping[str, ConfigProvider]


class Report(NamedTuple):
    """A table, header first, or a *text*; *notes* on it; and what came of each use.

    *failures* says, by name, which providers could not say what they were asked for.
    """

    outcomes: Outcomes
    table: Sequence[Sequence[str]] = ()
    text: str = ""
    notes: Sequence[str] = ()
    failures: Mapping[str, ConfigException] = MappingProxyType({})


def show_plan(plan: LookupPlan) -> Report:
    """Say what would be asked of whom."""
    uses = list(plan.uses())
    rows = ((use.location.provider, use.location.path, use.key, use.config_key) for use in uses)
    return Report(_planned(uses), [("PROVIDER", "PATH", "KEY", "CONFIG KEY"), *rows])


def show_routes(plan: LookupPlan, configs: Mapping[str, str]) -> Report:
    """Say how what stands under each key of *configs* would travel into Spark."""
    from .spark.routes import route

    routes = {key: route(key, configs) for key in plan.references}
    rows = [(key, each.way.value, each.shown, each.instead) for key, each in routes.items()]
    shown = [key for key, each in routes.items() if each.is_refused]
    notes = [f"refused by Spark sessions unless allowed: {', '.join(shown)}"] if shown else []
    header = ("CONFIG KEY", "ROUTE", "WOULD BE SEEN IN", "INSTEAD")
    return Report(_planned(plan.uses()), [header, *rows], notes=notes)


def check(transformer: ConfigTransformer, plan: LookupPlan, providers: Providers) -> Report:
    """Ask for all of *plan*; say what was found, for how long it is good, and what it cost."""
    seconds: dict[Location, float] = {}
    answers = transformer.fetch(plan, seconds=seconds)
    outcomes = list(explain(plan, answers))
    rows = [("REFERENCE", "CONFIG KEY", "PROVIDER", "OUTCOME", "TTL", "LATENCY")]
    waiting = {name for name in providers if providers[name].waits}
    for use, error in outcomes:
        name, location = use.reference.provider, use.location
        latency = _latency(seconds.get(location) if name in waiting else None)
        answer = answers.get(location)
        what, ttl = outcome(error, answer), _ttl(answer)
        rows.append((use.reference.text, use.config_key, name, what, ttl, latency))
    notes = [_cost(name, plan, providers[name]) for name in sorted(waiting & _asked(plan))]
    return Report(outcomes, rows, notes=notes)


def policies(plan: LookupPlan, providers: Providers, *, online: bool) -> Report:
    """Say what the backends must allow; each policy under its provider's name if there are more."""
    said = {
        name: _policy(name, plan, providers[name], online=online) for name in sorted(_asked(plan))
    }
    failures = {name: each for name, each in said.items() if isinstance(each, ConfigException)}
    found = {name: policy for name, policy in said.items() if isinstance(policy, str)}
    notes = () if found or failures else ("no provider of this config has a backend with policies",)
    several = len(found) + len(failures) > 1
    text = "\n".join(f"# {name}\n{found[name]}" if several else found[name] for name in found)
    return Report(_planned(plan.uses()), text=text, notes=notes, failures=failures)


def outcome(error: ConfigException | None, answer: Answer | None) -> str:
    """Say in one word what came of a reference: found, stale, missing, refused or failed."""
    if error is None:
        return "stale" if isinstance(answer, ConfigData) and answer.stale else "found"
    if isinstance(error, LookupDenied):
        return "refused"
    missing = isinstance(error, UnknownProvider | PathNotFound | KeyNotFound)
    return "missing" if missing else "failed"


def _policy(
    name: str, plan: LookupPlan, provider: ConfigProvider, *, online: bool
) -> str | ConfigException | None:
    """Return the policy, why there is none to be had, or nothing if the backend has none."""
    lookups = {at.path: keys for at, keys in plan.lookups.items() if at.provider == name}
    try:
        policy: object = provider.policy(lookups, online=online)
    except UnsupportedOperation:
        return None
    except ConfigException as error:
        return error
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        return plugin_failure(provider, error)
    if isinstance(policy, str):
        return policy
    return LookupFailed(f"the provider returned {type(policy).__name__}, not the text of a policy")


def _planned(uses: Iterable[Use]) -> Outcomes:
    return [(use, use.error) for use in uses]


def _asked(plan: LookupPlan) -> set[str]:
    return {location.provider for location in plan.lookups}


def _cost(name: str, plan: LookupPlan, provider: ConfigProvider) -> str:
    locations = sum(location.provider == name for location in plan.lookups)
    return f"{name}: {locations} locations in {provider.calls_made} calls"


def _ttl(answer: Answer | None) -> str:
    if not isinstance(answer, ConfigData) or answer.ttl is None:
        return "-"
    return f"{answer.ttl.total_seconds():.4g} s{', lease' if answer.lease else ''}"


def _latency(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.0f} ms"
