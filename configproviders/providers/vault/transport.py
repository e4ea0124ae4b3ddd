"""HTTP as Vault wants it: tried again where that can help, and never beyond a deadline.

What to try again, and after how long, is urllib3's ``Retry``. It is driven from here, since a body
that breaks off or never ends shows only when it is read, which urllib3 leaves to its caller.
"""

from __future__ import annotations

import json
import os
import random
import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy
from urllib3.exceptions import HTTPError, MaxRetryError, ProtocolError
from urllib3.util import Retry

from . import settings as s

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_CONNECTIONS = 32
_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 1.0
_MOST_OF_IT = 0.9
_PIECE = 1 << 16
_LARGEST = 1 << 25  # Of Vault's own answers, unpacked.
_READ_AGAIN = (412, 429, 500, 502, 503, 504)
_NOTHING_DONE = (412, 429, 503)
_MAKES_SOMETHING = re.compile("/(?:creds|sts|token|key)/")  # Reading there issues credentials.


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
    session.max_redirects = 1  # From a standby to the active server, as Vault's own client.
    session.trust_env = False  # It reads the environment, and ~/.netrc, for each request.
    session.proxies = _proxies(settings)
    return session, transport


def proxy_of(settings: Mapping[str, object]) -> str | None:
    """Return the URL of the proxy to Vault, by the settings or the environment."""
    proxy = select_proxy(s.ADDR.read(settings), _proxies(settings))
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


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
        self._certificate = s.CLIENT_CERT.read(settings), s.CLIENT_KEY.read(settings)
        self._certificate_state = _states(self._certificate)
        self._is_closed = False
        self._answered = self._gave_up = 0.0
        self._server_name = s.SERVER_NAME.read(settings)
        self._thread = threading.local()
        self._counting = threading.Lock()
        self.calls_made = 0
        super().__init__(pool_connections=1, pool_maxsize=_CONNECTIONS)

    @contextmanager
    def deadline(self, seconds: float | None = None) -> Iterator[None]:
        """Have all that this thread sends meanwhile end within one timeout, or within *seconds*."""
        outer = getattr(self._thread, "deadline", None)
        if outer is None:
            self._thread.deadline = time.monotonic() + min(seconds or self._timeout, self._timeout)
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
        came = time.monotonic()
        is_silent = self._gave_up > self._answered and came - self._gave_up < _SILENCE_SECONDS
        if is_silent and request.method == "GET":
            raise requests.Timeout("nobody has answered for long")
        deadline = getattr(self._thread, "deadline", None) or came + self._timeout
        method = request.method or "GET"
        makes = method != "GET" or _MAKES_SOMETHING.search(request.url or "")
        retry = (self._write if makes else self._read).new()
        self._take_new_certificate()
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
                self._give_up_after(came)
                raise failure or requests.ConnectionError
            time.sleep(pause)

    def _give_up_after(self, came: float) -> None:
        """Spare those in line the wait if a whole timeout has passed, and nobody was answered."""
        now = time.monotonic()
        if self._answered < came and now - came >= self._timeout * _MOST_OF_IT:
            self._gave_up = now

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS settings, with the client's certificate as it is now; none for http."""
        self._take_new_certificate()
        return self._tls

    def count(self) -> None:
        """Count a call of Vault."""
        with self._counting:
            self.calls_made += 1

    def close(self) -> None:
        """Close the connections, and send nothing more."""
        self._is_closed = True
        super().close()

    def _try(
        self, request: requests.PreparedRequest, deadline: float, proxies: Any
    ) -> tuple[requests.Response | None, requests.RequestException | None]:
        left = deadline - time.monotonic()
        if left <= 0 or self._is_closed:
            return None, requests.Timeout("the deadline has passed")
        self.count()
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
        self._answered = time.monotonic()
        return response, None

    def _take_new_certificate(self) -> None:
        """Read the client's certificate again if its files have changed."""
        certificate, key = self._certificate
        if self._tls is None or certificate is None:
            return
        state = _states(self._certificate)
        if state != self._certificate_state and None not in state:
            with suppress(OSError):  # Half of it may be there; the next look finds the rest.
                self._tls.load_cert_chain(certificate, key, password="")
                self._certificate_state = state
                self.poolmanager.clear()  # Connections that are open have shown the old one.

    def _tls_arguments(self) -> dict[str, Any]:
        names = {"server_hostname": self._server_name, "assert_hostname": self._server_name}
        return {"ssl_context": self._tls, **(names if self._server_name else {})}


def _proxies(settings: Mapping[str, object]) -> dict[str, str]:
    proxy = s.PROXY.read(settings)
    return {"http": proxy, "https": proxy} if proxy else get_environ_proxies(s.ADDR.read(settings))


def _tls(settings: Mapping[str, object]) -> ssl.SSLContext:
    file, text = s.CA_FILE.read(settings), s.CA_TEXT.read(settings)
    directory = s.CA_DIRECTORY.read(settings)
    if directory and not (file or text):
        # OpenSSL finds by hashed names alone what stands in a directory; Vault's CLI reads it all.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        for name in sorted(os.listdir(directory)):
            with suppress(ssl.SSLError):  # Other files may stand there too.
                context.load_verify_locations(os.path.join(directory, name))
    else:
        context = ssl.create_default_context(cafile=file, cadata=text)
    if certificate := s.CLIENT_CERT.read(settings):
        context.load_cert_chain(certificate, s.CLIENT_KEY.read(settings), password="")
    if not s.VERIFY.read(settings):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _read_body(response: requests.Response, deadline: float) -> None:
    """Read the body piece by piece, so that one which drips meets the deadline."""
    pieces, size = [], 0
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
        size += len(piece)
        if size > _LARGEST:
            raise ProtocolError("the answer is too large")
    response._content = b"".join(pieces)  # noqa: SLF001  Where requests keeps what was read.
    # Its types leave this out; without it, requests would read again.
    response._content_consumed = True  # type: ignore[attr-defined]  # noqa: SLF001  See above.
    if response.ok and response.content:
        _refuse_broken_json(response.content)


def _states(files: tuple[str | None, str | None]) -> tuple[object, ...]:
    found: list[object] = []
    for file in filter(None, files):
        try:
            state = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((state.st_ino, state.st_mtime_ns, state.st_size))
    return tuple(found)


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
    wanted = None
    with suppress(HTTPError, ValueError, OverflowError):  # What is no time counts as none.
        wanted = retry.get_retry_after(response) if response is not None else None
    if wanted is not None and wanted >= 0:
        return wanted
    # urllib3 does not pause before the first try; a herd would come back as one.
    return retry.get_backoff_time() or random.random() * retry.backoff_factor  # noqa: S311  No secret.
