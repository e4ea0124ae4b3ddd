"""The settings of the Vault provider, under its names and those of the providers it replaces."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from ...config_def import (
    BOOLEAN,
    MILLISECONDS,
    SECONDS,
    STRING,
    WHOLE_NUMBER,
    Alias,
    ConfigDef,
    ConfigKey,
    ConfigType,
    one_of,
    without_effect,
)

T = TypeVar("T")
D = TypeVar("D")

LENSES, CSID, JCUSTENBORDER, AIRFLOW = "Lenses", "csid", "jcustenborder", "Airflow"
METHODS = ("token", "approle", "kubernetes", "jwt", "userpass", "ldap", "cert", "aws")


def _key(
    name: str,
    config_type: ConfigType[T],
    default: D,  # A boolean too.
    doc: str,
    *aliases: tuple[str, str],
) -> ConfigKey[T, D]:
    others: tuple[Alias[T], ...] = tuple(Alias(alias, origin) for origin, alias in aliases)
    return ConfigKey(name, config_type, default, "medium", doc, others)


def _kv_version(text: str) -> str:
    if text.strip().lower() not in {"auto", "1", "2"}:
        raise ValueError("write auto, 1 or 2")
    return text.strip().lower()


def _parts(text: str) -> int:
    return len([part for part in text.split("/") if part])


def _time(text: str) -> timedelta:
    time = MILLISECONDS.parse(text)
    if not timedelta(0) < time <= timedelta(days=1):
        raise ValueError("write 1 or more, and no more than a day")
    return time


def _refused(name: str, origin: str, instead: str) -> ConfigKey[str, None]:
    def parse(_: str) -> str:
        raise ValueError(instead)

    doc = f"{origin}' setting is refused: {instead}."
    return ConfigKey(name, ConfigType("setting of this provider", parse), None, "low", doc)


ADDR = _key(
    "vault.addr",
    STRING,
    "https://127.0.0.1:8200",
    "Address of the server; else VAULT_AGENT_ADDR, VAULT_ADDR.",
    (CSID, "vault.address"),
    (AIRFLOW, "url"),
)
NAMESPACE = _key("vault.namespace", STRING, None, "Namespace; else VAULT_NAMESPACE.")
METHOD = _key(
    "vault.auth.method",
    one_of(*METHODS, awsiam="aws", aws_iam="aws", certificate="cert", tls="cert"),
    "token",
    f"How to log in: {', '.join(METHODS)}.",
    (JCUSTENBORDER, "vault.login.by"),
    (AIRFLOW, "auth_type"),
)
MOUNT = _key(
    "vault.auth.mount",
    STRING,
    None,
    "Where the auth method is mounted, if not under its own name.",
    (AIRFLOW, "auth_mount_point"),
)
METHOD_MOUNTS = {
    method: _key(name, STRING, None, f"{LENSES}' vault.auth.mount, for {method} alone.")
    for method, name in {
        "approle": "app.role.path",
        "kubernetes": "kubernetes.auth.path",
        "jwt": "jwt.provider",
        "userpass": "mount",
        "ldap": "ldap.mount",
        "cert": "cert.mount",
        "aws": "aws.mount",
    }.items()
}
TOKEN = _key(
    "vault.token",
    STRING,
    None,
    "A token; else VAULT_TOKEN, the token file, ~/.vault-token.",
    (CSID, "vault.auth.token"),
    (AIRFLOW, "token"),
)
TOKEN_FILE = _key(
    "vault.token.file",
    STRING,
    None,
    "A file with a token, such as an agent's sink; read again when it changes, and on 403.",
    (AIRFLOW, "token_path"),
)
TOKEN_RENEW = _key(
    "vault.token.renew",
    BOOLEAN,
    True,
    "Whether a token that is given is looked up and renewed; false for one of few uses.",
)
ROLE_ID = _key(
    "vault.approle.role.id",
    STRING,
    None,
    "AppRole's role id.",
    (LENSES, "app.role.id"),
    (CSID, "vault.auth.role"),
    (AIRFLOW, "role_id"),
)
SECRET_ID = _key(
    "vault.approle.secret.id",
    STRING,
    None,
    "AppRole's secret id.",
    (LENSES, "app.role.secret.id"),
    (CSID, "vault.auth.secret"),
    (AIRFLOW, "secret_id"),
)
SECRET_ID_FILE = _key(
    "vault.approle.secret.id.file", STRING, None, "A file with the secret id, read at each login."
)
SECRET_ID_WRAPPED = _key(
    "vault.approle.secret.id.wrapped",
    BOOLEAN,
    False,
    "Whether the secret id is response-wrapped: what is given is the wrapping token.",
)
SECRET_ID_PATH = _key(
    "vault.approle.secret.id.wrapped.path",
    STRING,
    None,
    "Where the wrapped secret id was made: auth/approle/role/<role>/secret-id; any role if unset.",
)
KUBERNETES_ROLE = _key(
    "vault.kubernetes.role",
    STRING,
    None,
    "Role of the Kubernetes auth method.",
    (LENSES, "kubernetes.role"),
    (AIRFLOW, "kubernetes_role"),
)
KUBERNETES_TOKEN = _key(
    "vault.kubernetes.token.path",
    STRING,
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
    "The service account's token, read at each login.",
    (LENSES, "kubernetes.token.path"),
    (AIRFLOW, "kubernetes_jwt_path"),
)
JWT_ROLE = _key(
    "vault.jwt.role",
    STRING,
    None,
    "Role of the JWT auth method.",
    (LENSES, "jwt.role"),
    (AIRFLOW, "jwt_role"),
)
JWT = _key("vault.jwt", STRING, None, "The JWT.", (LENSES, "jwt"), (AIRFLOW, "jwt_token"))
JWT_FILE = _key(
    "vault.jwt.path",
    STRING,
    None,
    "A file with the JWT, read at each login.",
    (AIRFLOW, "jwt_token_path"),
)
USERNAME = _key(
    "vault.username",
    STRING,
    None,
    "User of userpass and LDAP.",
    (LENSES, "username"),
    (CSID, "vault.auth.username"),
)
PASSWORD = _key(
    "vault.password",
    STRING,
    None,
    "Password of userpass and LDAP.",
    (LENSES, "password"),
    (CSID, "vault.auth.password"),
)
LDAP_USERNAME = _key("ldap.username", STRING, None, f"{LENSES}' vault.username, for ldap alone.")
LDAP_PASSWORD = _key("ldap.password", STRING, None, f"{LENSES}' vault.password, for ldap alone.")
PASSWORD_FILE = _key("vault.password.file", STRING, None, "A file with it, read at each login.")
CERT_NAME = _key("vault.cert.name", STRING, None, "Role of the TLS certificate auth method.")
AWS_ROLE = _key("vault.aws.role", STRING, None, "Role of AWS IAM auth.", (LENSES, "aws.role"))
AWS_REGION = _key(
    "vault.aws.region", STRING, None, "Region whose STS the login is signed for; else the global."
)
AWS_SERVER_ID = _key(
    "vault.aws.server.id", STRING, None, "Value of the header X-Vault-AWS-IAM-Server-ID."
)
KV_VERSION = _key(
    "vault.kv.version",
    ConfigType("version of the KV engine", _kv_version),
    "auto",
    "1, 2, or auto: found out for each mount, at one call for a mount.",
    (LENSES, "vault.engine.version"),
    (CSID, "vault.secrets.version"),
    (AIRFLOW, "kv_engine_version"),
)
KV_MOUNT = _key(
    "vault.mount",
    STRING,
    None,
    "Mount of the KV engine, where vault.kv.version is 1 or 2; else its depth says.",
    (AIRFLOW, "mount_point"),
)
KV_DEPTH = ConfigKey(
    "vault.prefix.depth",
    WHOLE_NUMBER,
    1,
    "medium",
    "How many parts of a path are the mount, where vault.kv.version is 1 or 2; as Lenses.",
    (Alias("vault.prefixpath", CSID, ConfigType("path", _parts)),),
)
PREFIX = _key("vault.prefix", STRING, "", "Put before each path, as jcustenborder.")
CA_FILE = _key(
    "vault.ssl.ca",
    STRING,
    None,
    "PEM file of the server's CA; else VAULT_CACERT, VAULT_CACERT_BYTES, VAULT_CAPATH.",
    (LENSES, "vault.pem"),
    (CSID, "vault.ssl.pem_trust_path"),
)
CA_DIRECTORY = _key("vault.ssl.ca.path", STRING, None, "Directory of CA certificates.")
CA_TEXT = _key("vault.ssl.ca.pem", STRING, None, "The CA certificate itself.")
CLIENT_CERT = _key(
    "vault.ssl.cert",
    STRING,
    None,
    "PEM file of the client's certificate; else VAULT_CLIENT_CERT.",
    (LENSES, "vault.client.pem"),
    (CSID, "vault.ssl.pem_cert_path"),
)
CLIENT_KEY = _key(
    "vault.ssl.key",
    STRING,
    None,
    "PEM file of its key, if not in the same file; else VAULT_CLIENT_KEY.",
    (CSID, "vault.ssl.pem_key_path"),
)
SERVER_NAME = _key(
    "vault.ssl.server.name", STRING, None, "Name the server's certificate is checked for (SNI)."
)
VERIFY = _key("vault.ssl.verify.enabled", BOOLEAN, True, "Whether the certificate is checked.")
PROXY = _key("vault.proxy", STRING, None, "HTTP proxy; else VAULT_PROXY_ADDR, VAULT_HTTP_PROXY.")
TIMEOUT = ConfigKey(
    "timeout.ms",
    ConfigType("number of milliseconds", _time),
    timedelta(seconds=30),
    "medium",
    "How long one lookup may take, retries and logins included; else VAULT_CLIENT_TIMEOUT.",
    (Alias("timeout.seconds", CSID, ConfigType("number of seconds", lambda t: _time(f"{t}000"))),),
)
RETRIES = _key(
    "retry.max",
    WHOLE_NUMBER,
    4,
    "How often a call is tried again on 412, 429, 5xx and lost connections.",
    (CSID, "retry.count"),
    (JCUSTENBORDER, "vault.max.retries"),
)
RETRY_BASE = ConfigKey(
    "retry.base.ms",
    MILLISECONDS,
    timedelta(milliseconds=100),
    "low",
    "The first pause between tries; it doubles, with jitter. Retry-After wins.",
    (
        Alias("retry.interval.seconds", CSID, SECONDS),
        Alias("vault.retry.interval.ms", JCUSTENBORDER),
    ),
)
RETRY_MAX = ConfigKey(
    "retry.max.ms", MILLISECONDS, timedelta(seconds=10), "low", "The longest pause between tries."
)
REVOKE = _key(
    "vault.revoke.on.close",
    BOOLEAN,
    True,
    "Whether closing revokes the leases whose values nobody outside the process holds.",
)
EVENTS = _key(
    "vault.events",
    BOOLEAN,
    False,
    "Whether who watches listens to the server's events (Vault Enterprise 1.16 and newer) too.",
)
EVENT_TYPES = _key(
    "vault.events.type",
    STRING,
    "*",
    "Their type, a glob such as kv*; a policy must allow to read it at sys/events/subscribe/.",
)

VAULT_DEF = ConfigDef(
    (
        *(ADDR, NAMESPACE, METHOD, MOUNT, TOKEN, TOKEN_FILE, TOKEN_RENEW),
        *METHOD_MOUNTS.values(),
        *(ROLE_ID, SECRET_ID, SECRET_ID_FILE, SECRET_ID_WRAPPED, SECRET_ID_PATH),
        *(KUBERNETES_ROLE, KUBERNETES_TOKEN, JWT_ROLE, JWT, JWT_FILE),
        *(USERNAME, PASSWORD, PASSWORD_FILE, LDAP_USERNAME, LDAP_PASSWORD),
        *(CERT_NAME, AWS_ROLE, AWS_REGION, AWS_SERVER_ID),
        *(KV_VERSION, KV_MOUNT, KV_DEPTH, PREFIX),
        *(CA_FILE, CA_DIRECTORY, CA_TEXT, CLIENT_CERT, CLIENT_KEY, SERVER_NAME, VERIFY, PROXY),
        *(TIMEOUT, RETRIES, RETRY_BASE, RETRY_MAX, REVOKE, EVENTS, EVENT_TYPES),
        _refused("vault.ssl.truststore.location", LENSES, "set vault.ssl.ca, a PEM file"),
        _refused("vault.ssl.keystore.location", LENSES, "set vault.ssl.cert, a PEM file"),
        _refused("vault.ssl.keystore.password", LENSES, "set vault.ssl.key, a PEM file"),
        _refused("aws.request.url", LENSES, "the request is signed here at each login"),
        _refused("aws.request.headers", LENSES, "the request is signed here at each login"),
        _refused("aws.request.body", LENSES, "the request is signed here at each login"),
        _refused("github.mount", LENSES, "there is no github login here"),
        without_effect("file.dir", LENSES, "values are not written to files here"),
        without_effect(
            "file.write", LENSES, "values are not written to files here", only_false=True
        ),
        without_effect("token.renewal.ms", LENSES, "a token is renewed as its TTL asks for"),
        without_effect("thread.count", CSID, "the transformer's lookup.concurrency counts"),
        without_effect("polling.enabled", CSID, "what is subscribed to is polled, and no more"),
    )
)
"""All settings, in the order of their documentation."""
