"""No secret and no token in a log, a repr or an error, with every SDK logging all it can."""

from __future__ import annotations

import http.client
import logging
import traceback

import pytest
from providers.vault.conftest import Configured, Engine
from servers.fault_proxy import FaultProxy
from servers.faults import Status, WrongJson
from servers.vault import Vault

from configproviders.errors import LookupFailed
from configproviders.testing import CANARY

pytestmark = [pytest.mark.vault, pytest.mark.postgres]


def test_nothing_secret_is_logged_or_raised(
    server: Vault, engine: Engine, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": CANARY})
    creds = f"{engine.mount}/creds/orders"
    settings = server.app_role(server.allow(f"{mount}/*", creds))
    shown: list[str] = []

    with caplog.at_level(logging.DEBUG), FaultProxy(server.address) as proxy:
        provider = configured(settings | {"vault.addr": proxy.url, "retry.max": "0"})
        data = provider.get(f"{mount}/db"), provider.get(creds)
        shown += [repr(provider), repr(data), repr(provider.health())]
        proxy.script = [Status(500), WrongJson(), Status(403), None, Status(403)]
        for path in ("db", "db", "absent"):
            with pytest.raises(LookupFailed) as caught:
                provider.get(f"{mount}/data/{path}")
            shown += traceback.format_exception(caught.value)
            shown += [repr(each) for each in causes(caught.value)]

    secrets = [CANARY, *data[1].data.values(), settings["vault.approle.secret.id"]]
    text = "\n".join([*shown, caplog.text, *(str(vars(each)) for each in caplog.records)])
    assert [secret for secret in secrets if secret in text] == []
    assert "hvs." not in text
    assert not http.client.HTTPConnection.debuglevel


def causes(error: BaseException | None) -> list[object]:
    """Return the errors behind *error*, and what each holds."""
    found: list[object] = []
    while error is not None:
        found += [error, error.args, vars(error)]
        error = error.__cause__ or error.__context__
    return found
