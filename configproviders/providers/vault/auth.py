"""How to log in: each method is what it posts to ``auth/<mount>/login``, made for each login."""

from __future__ import annotations

import base64
import errno
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...config_def import ConfigKey
from ...errors import ConfigException, LookupDenied, LookupFailed, ProviderUnavailable, shorten
from . import environment
from . import settings as s

if TYPE_CHECKING:
    import logging

    from .client import Client

Settings = Mapping[str, object]
_LONGEST = 1 << 20
_STS_REQUEST = "Action=GetCallerIdentity&Version=2011-06-15"


class LoginDenied(LookupDenied):
    """There is no token, whatever path is read."""


class Login:
    """Logs in by the method of the settings. Not thread-safe: the session holds a lock."""

    def __init__(self, settings: Settings, client: Client) -> None:
        """Take what the method needs."""
        self._settings = settings
        self._client = client
        self._method = s.METHOD.read(settings)
        self._mount = _mount(settings)
        self._unwrapped = ("", "")  # The wrapping token, and the secret id that was in it.

    @property
    def is_given(self) -> bool:
        """Whether there is no login: the token is given, by a setting or in a file."""
        return self._method == "token"

    def log_in(self) -> Mapping[str, Any]:
        """Return the ``auth`` part of Vault's answer; raise :class:`LoginDenied`."""
        body = _BODIES[self._method](self._settings)
        if self._method == "approle" and (secret_id := self._secret_id()):
            body["secret_id"] = secret_id
        user = f"/{body.pop('username')}" if self._method in {"userpass", "ldap"} else ""
        at = f"auth/{self._mount}"
        try:
            auth = self._client.post(f"{at}/login{user}", "", body).get("auth")
        except ProviderUnavailable:
            raise
        except LookupFailed as error:
            raise LoginDenied(
                f"the {self._method} login at {at!r} is refused by Vault: {error}"
            ) from error
        token = auth.get("client_token") if isinstance(auth, Mapping) else None
        if not isinstance(auth, Mapping) or not isinstance(token, str) or not _is_token(token):
            raise LoginDenied(f"the {self._method} login at {at!r} is refused: it gave no token")
        return auth

    def _secret_id(self) -> str:
        given = _text(s.SECRET_ID, s.SECRET_ID_FILE, self._settings)
        if not given or not s.SECRET_ID_WRAPPED.read(self._settings):
            return given
        # A wrapping token opens once; what was in it serves later logins, until there is another.
        if self._unwrapped[0] != given:
            self._unwrapped = given, self._unwrap(given)
        return self._unwrapped[1]

    def _unwrap(self, token: str) -> str:
        default = f"auth/{self._mount}/role/<role>/secret-id"
        expected = s.SECRET_ID_PATH.read(self._settings) or default
        pattern = re.escape(expected).replace("<role>", "[^/]+")
        try:
            found = self._client.post("sys/wrapping/lookup", "", {"token": token})
            made_at = str(found["data"]["creation_path"])
            if not re.fullmatch(pattern, made_at):
                raise LoginDenied(
                    f"the wrapped secret id is refused: it was made at {shorten(made_at)!r}, not at"
                    f" {expected!r}; see {s.SECRET_ID_PATH.name}"
                )
            answer = self._client.post("sys/wrapping/unwrap", token)
            return str(answer["data"]["secret_id"])
        except (LoginDenied, ProviderUnavailable):
            raise
        except (LookupFailed, KeyError, TypeError):
            pass
        raise LoginDenied(
            "the wrapped secret id is refused: its token has ended, or somebody else has opened it;"
            " if it was not too late, take that secret id as stolen"
        )


def check(settings: Settings) -> None:
    """Raise :class:`ConfigException` if *settings* lack what their auth method needs."""
    method = s.METHOD.read(settings)
    for keys in _NEEDED[method]:
        if not any(key.read(settings) for key in keys):
            names = " or ".join(key.name for key in keys)
            raise ConfigException(f"vault.auth.method={method} needs {names}")


def _mount(settings: Settings) -> str:
    method = s.METHOD.read(settings)
    named = s.MOUNT.read(settings)
    if not named and method in s.METHOD_MOUNTS:
        named = s.METHOD_MOUNTS[method].read(settings)
    return (named or method).strip("/").removeprefix("auth/")


def given_token(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the token that is given; raise :class:`LoginDenied` if there is none.

    A file that is named wins over ``vault.token`` and ``VAULT_TOKEN``, and these over
    ``~/.vault-token``.
    """
    named = s.TOKEN_FILE.read(settings)
    if not named and (token := s.TOKEN.read(settings)):
        return _printable(token.strip())
    path = environment.token_file(settings, environ)
    if not named and not os.path.isfile(path):
        raise LoginDenied(
            "Vault is refused without a token: set vault.token, vault.token.file, VAULT_TOKEN or"
            " vault.auth.method, or log in with its CLI, which writes ~/.vault-token"
        )
    return _printable(_content(path, s.TOKEN_FILE.name if named else "~/.vault-token"))


def _printable(token: str) -> str:
    if not _is_token(token):
        raise LoginDenied("Vault is refused: what is given as a token is empty, or no token")
    return token


def _is_token(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _approle(settings: Settings) -> dict[str, Any]:
    return {"role_id": s.ROLE_ID.read(settings)}


def _kubernetes(settings: Settings) -> dict[str, Any]:
    jwt = _content(s.KUBERNETES_TOKEN.read(settings), s.KUBERNETES_TOKEN.name)
    return {"role": s.KUBERNETES_ROLE.read(settings), "jwt": jwt}


def _jwt(settings: Settings) -> dict[str, Any]:
    return {"role": s.JWT_ROLE.read(settings), "jwt": _text(s.JWT, s.JWT_FILE, settings)}


def _password(settings: Settings) -> dict[str, Any]:
    password = _text(s.PASSWORD, s.PASSWORD_FILE, settings)
    return {"username": s.USERNAME.read(settings), "password": password}


def _ldap(settings: Settings) -> dict[str, Any]:
    body = _password(settings)
    username = body["username"] or s.LDAP_USERNAME.read(settings)
    return {"username": username, "password": body["password"] or s.LDAP_PASSWORD.read(settings)}


def _cert(settings: Settings) -> dict[str, Any]:
    name = s.CERT_NAME.read(settings)
    return {"name": name} if name else {}


def _aws(settings: Settings) -> dict[str, Any]:
    """Sign a request to STS, which Vault sends on to learn who we are; the chain is boto3's."""
    region = s.AWS_REGION.read(settings)
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    if server_id := s.AWS_SERVER_ID.read(settings):
        headers["X-Vault-AWS-IAM-Server-ID"] = server_id
    host = f"sts.{region}.amazonaws.com" if region else "sts.amazonaws.com"
    url = f"https://{host}/"
    try:
        signed = _signed(url, {**headers, "Host": host}, region or "us-east-1")
    except ImportError:
        failure = "boto3 is missing: pip install 'configproviders[aws]'"
    except Exception as error:  # noqa: BLE001  Whatever the chain runs; its text may hold keys.
        failure = f"boto3 finds no AWS credentials ({type(error).__name__})"
    else:
        return {
            "role": s.AWS_ROLE.read(settings) or "",
            "iam_http_request_method": "POST",
            "iam_request_url": _base64(url),
            "iam_request_headers": _base64(json.dumps(signed)),
            "iam_request_body": _base64(_STS_REQUEST),
        }
    raise LoginDenied(f"the aws login is refused: {failure}")


def _signed(url: str, headers: dict[str, str], region: str) -> dict[str, list[str]]:
    import logging

    import boto3
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.exceptions import NoCredentialsError

    # The signer logs what it signs, which has the session token in it.
    logging.getLogger("botocore.auth").addFilter(_is_no_debugging)
    request = AWSRequest("POST", url, headers, _STS_REQUEST)
    credentials = boto3.Session().get_credentials()
    if credentials is None:
        raise NoCredentialsError
    SigV4Auth(credentials.get_frozen_credentials(), "sts", region).add_auth(request)
    return {name: [value] for name, value in request.headers.items()}


def _is_no_debugging(record: logging.LogRecord) -> bool:
    return record.levelno > 10  # noqa: PLR2004  logging.DEBUG.


_BODIES: Mapping[str, Callable[[Settings], dict[str, Any]]] = {
    "approle": _approle,
    "kubernetes": _kubernetes,
    "jwt": _jwt,
    "userpass": _password,
    "ldap": _ldap,
    "cert": _cert,
    "aws": _aws,
}
_NEEDED: Mapping[str, tuple[tuple[ConfigKey[str, None], ...], ...]] = {
    "token": (),
    "approle": ((s.ROLE_ID,),),  # A role may do without a secret id.
    "kubernetes": ((s.KUBERNETES_ROLE,),),
    "jwt": ((s.JWT, s.JWT_FILE),),  # A mount may have a default role.
    "userpass": ((s.USERNAME,), (s.PASSWORD, s.PASSWORD_FILE)),
    "ldap": (
        (s.USERNAME, s.LDAP_USERNAME),
        (s.PASSWORD, s.PASSWORD_FILE, s.LDAP_PASSWORD),
    ),
    "cert": ((s.CLIENT_CERT,),),
    "aws": (),
}


def _text(value: ConfigKey[str, None], file: ConfigKey[str, None], settings: Settings) -> str:
    path = file.read(settings)
    return _content(path, file.name) if path else value.read(settings) or ""


def _content(path: str, setting: str) -> str:
    # The path is not shown: somebody may have written there what belongs into the file.
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(errno.EINVAL, "not a file")  # A pipe would block all who need a token.
        with open(path, encoding="utf-8") as file:
            return file.read(_LONGEST).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
    raise LoginDenied(f"a login is refused: the file of {setting} cannot be read: {reason}")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
