"""HTTP as Vault wants it: tried again where that can help, and never beyond a deadline.

What to try again, and after how long, is urllib3's ``Retry``. It is driven from here, since a body
that breaks off or never ends shows only when it is read, which urllib3 leaves to its caller.
"""

from __future__ import annotations

import json
import random
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, MaxRetryError, ProtocolError
from urllib3.util import Retry

from . import settings as s

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_CONNECTIONS = 32
_CONNECT_SECONDS = 5.0
_PIECE = 1 << 16
_READ_AGAIN = (412, 429, 500, 502, 503, 504)
_NOTHING_DONE = (412, 429, 503)


def open_session(settings: Mapping[str, object]) -> tuple[requests.Session, Transport]:
    """Return a session for *settings*, and the transport that it uses.

    Raises ``OSError`` (``ssl.SSLError``) for certificates that cannot be read.
    """
    transport = Transport(settings)
    session = requests.Session()
    session.adapters.clear()  # A redirect from https to http finds none, so no token is in clear.
    session.mount("https://", transport)
    if s.ADDR.read(settings).startswith("http://"):
        session.mount("http://", transport)
    session.trust_env = False  # It reads the environment, and ~/.netrc, for each request.
    proxy = s.PROXY.read(settings)
    environment = requests.utils.get_environ_proxies(s.ADDR.read(settings))
    session.proxies = {"http": proxy, "https": proxy} if proxy else environment
    return session, transport


class Transport(HTTPAdapter):
    """An adapter for ``requests`` that tries again and keeps deadlines. Thread-safe."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Take retries, timeout and TLS from *settings*."""
        self._timeout = s.TIMEOUT.read(settings).total_seconds()
        base = s.RETRY_BASE.read(settings).total_seconds()
        self._read = Retry(
            s.RETRIES.read(settings),
            allowed_methods=None,
            status_forcelist=_READ_AGAIN,
            backoff_factor=base,
            backoff_jitter=base,
            backoff_max=s.RETRY_MAX.read(settings).total_seconds(),
        )
        # What was sent may have been done: a login may have used up the secret id.
        self._write = self._read.new(read=0, other=0, status_forcelist=_NOTHING_DONE)
        is_https = s.ADDR.read(settings).startswith("https://")
        self._tls = _tls(settings) if is_https else None  # Reading all authorities takes a while.
        self._server_name = s.SERVER_NAME.read(settings)
        self._thread = threading.local()
        self._counting = threading.Lock()
        self.calls_made = 0
        super().__init__(pool_connections=1, pool_maxsize=_CONNECTIONS)

    @contextmanager
    def deadline(self) -> Iterator[None]:
        """Have all that this thread sends meanwhile end within one timeout."""
        outer = getattr(self._thread, "deadline", None)
        if outer is None:
            self._thread.deadline = time.monotonic() + self._timeout
        try:
            yield
        finally:
            self._thread.deadline = outer

    def init_poolmanager(
        self,
        connections: int,
        maxsize: int,
        block: bool = False,  # noqa: FBT001, FBT002  As in requests.
        **kwargs: Any,
    ) -> None:
        """Use the TLS settings for every connection."""
        super().init_poolmanager(connections, maxsize, block, **kwargs, **self._tls_arguments())

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Use the TLS settings behind a proxy too."""
        return super().proxy_manager_for(proxy, **kwargs, **self._tls_arguments())

    def build_connection_pool_key_attributes(
        self,
        request: requests.PreparedRequest,
        verify: bool | str,  # noqa: FBT001  As in requests.
        cert: Any = None,
    ) -> tuple[Any, Any]:
        """Leave TLS to the context, whatever requests takes from the environment."""
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {}

    def cert_verify(self, *args: Any) -> None:
        """Leave TLS to the context."""

    def send(  # noqa: PLR0913, PLR0917  As in requests.
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002  As in requests.
        timeout: Any = None,  # noqa: ARG002  The deadline counts.
        verify: bool | str = True,  # noqa: ARG002, FBT001, FBT002  As in requests.
        cert: Any = None,  # noqa: ARG002  The context holds it.
        proxies: Any = None,
    ) -> requests.Response:
        """Send *request* until it is answered for good; raise requests' exceptions."""
        deadline = getattr(self._thread, "deadline", None) or time.monotonic() + self._timeout
        method = request.method or "GET"
        retry = (self._read if method in {"GET", "LIST"} else self._write).new()
        while True:
            response, failure = self._try(request, deadline, proxies)
            if response is not None and not retry.is_retry(method, response.status_code):
                return response
            if isinstance(failure, requests.exceptions.SSLError):
                raise failure  # A certificate stays what it is.
            try:
                raw = response.raw if response is not None else None
                retry = retry.increment(method, None, response=raw, error=_reason(failure))
                pause = _pause(retry, raw)
            except HTTPError:
                pause = None
            if pause is None or time.monotonic() + pause >= deadline:
                if response is not None:
                    return response
                raise failure or requests.ConnectionError
            time.sleep(pause)

    def _try(
        self, request: requests.PreparedRequest, deadline: float, proxies: Any
    ) -> tuple[requests.Response | None, requests.RequestException | None]:
        left = deadline - time.monotonic()
        if left <= 0:
            return None, requests.Timeout("the deadline has passed")
        with self._counting:
            self.calls_made += 1
        try:
            timeout = (min(left, _CONNECT_SECONDS), left)
            response = super().send(request, stream=True, timeout=timeout, proxies=proxies)
        except requests.RequestException as error:
            return None, error
        try:
            _read_body(response, deadline)
        except (HTTPError, OSError, ValueError) as error:
            response.close()
            return None, requests.ConnectionError(error)
        return response, None

    def _tls_arguments(self) -> dict[str, Any]:
        names = {"server_hostname": self._server_name, "assert_hostname": self._server_name}
        return {"ssl_context": self._tls, **(names if self._server_name else {})}


def _tls(settings: Mapping[str, object]) -> ssl.SSLContext:
    context = ssl.create_default_context(
        cafile=s.CA_FILE.read(settings),
        capath=s.CA_DIRECTORY.read(settings),
        cadata=s.CA_TEXT.read(settings),
    )
    if certificate := s.CLIENT_CERT.read(settings):
        context.load_cert_chain(certificate, s.CLIENT_KEY.read(settings), password="")
    if not s.VERIFY.read(settings):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _read_body(response: requests.Response, deadline: float) -> None:
    """Read the body piece by piece, so that one which drips meets the deadline."""
    pieces = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        socket = getattr(getattr(response.raw, "connection", None), "sock", None)
        if socket is not None:
            socket.settimeout(left)
        piece = response.raw.read1(_PIECE, decode_content=True)
        if not piece:
            break
        pieces.append(piece)
    response._content = b"".join(pieces)  # noqa: SLF001  Where requests keeps what was read.
    response._content_consumed = True  # type: ignore[attr-defined]  # noqa: SLF001
    if response.ok and response.content:
        _refuse_broken_json(response.content)


def _refuse_broken_json(content: bytes) -> None:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        raise ProtocolError("the answer is not JSON") from None


def _reason(failure: requests.RequestException | None) -> Exception | None:
    """Return what urllib3 raised: a ``Retry`` tells by it whether anything was sent."""
    reason = failure.args[0] if failure is not None and failure.args else failure
    if isinstance(reason, MaxRetryError):
        reason = reason.reason
    return reason if isinstance(reason, Exception) else failure


def _pause(retry: Retry, response: BaseHTTPResponse | None) -> float:
    wanted = retry.get_retry_after(response) if response is not None else None
    if wanted is not None:
        return wanted
    # urllib3 does not pause before the first try; a herd would come back as one.
    return retry.get_backoff_time() or random.random() * retry.backoff_factor  # noqa: S311  No secret.
