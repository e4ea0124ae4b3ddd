"""What a secret holds, and the values that keys stand for in it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from ...data import ConfigData
from ...errors import KeyNotFound, MalformedText, shorten
from ...fields import parse, select
from .references import WHOLE

VALUE = "value"
"""The key of a text that has no fields."""

AUTO, JSON, STRING, BINARY = "auto", "json", "string", "binary"


@dataclass(frozen=True, slots=True)
class Content:
    """One version of a secret: its text, or its bytes."""

    raw: str | bytes = field(repr=False)
    version: str | None

    def data(
        self,
        keys: Collection[str] | None,
        *,
        name: str,
        read_as: str = AUTO,
        ttl: timedelta | None = None,
    ) -> ConfigData:
        """Return the values of *keys*, of all fields if ``None``, in the secret called *name*.

        Raises :class:`MalformedText` for what cannot be read as *read_as* says.
        """
        try:
            fields = self._fields(read_as)
            if fields is not None:
                return self._of_fields(fields, keys, read_as, ttl)
            whole = self._whole(read_as)
        except MalformedText as error:
            raise MalformedText(f"{shorten(name)!r} {error}") from None
        wholes = {WHOLE, VALUE, name} if read_as == STRING else {WHOLE, VALUE}
        asked = {VALUE} if keys is None else set(keys)
        return ConfigData(
            dict.fromkeys(asked & wholes, whole),
            ttl,
            version=self.version,
            available=(VALUE,),
            errors={key: _no_object(name, key) for key in asked - wholes},
        )

    def _fields(self, read_as: str) -> Mapping[str, object] | None:
        """Return the fields of a JSON object, or ``None`` for any other text."""
        if read_as in {STRING, BINARY} or (read_as == AUTO and isinstance(self.raw, bytes)):
            return None
        try:
            value = parse(self.raw)
        except MalformedText as error:
            if read_as == JSON:
                raise MalformedText(f"is not a JSON object: {error}") from None
            return None
        if isinstance(value, Mapping):
            return value
        if read_as == JSON:
            raise MalformedText("is not a JSON object")
        return None

    def _whole(self, read_as: str) -> str:
        if read_as == BINARY and isinstance(self.raw, str):
            return b64encode(self.raw.encode()).decode()
        if isinstance(self.raw, str):
            return self.raw
        if read_as in {AUTO, BINARY}:
            return b64encode(self.raw).decode()
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            pass
        raise MalformedText("is binary and not UTF-8: set secret.type=binary")

    def _of_fields(
        self,
        fields: Mapping[str, object],
        keys: Collection[str] | None,
        read_as: str,
        ttl: timedelta | None,
    ) -> ConfigData:
        values = select(fields, None if keys is None else [key for key in keys if key != WHOLE])
        if keys is not None and WHOLE in keys:
            values[WHOLE] = self._whole(read_as)
        return ConfigData(values, ttl, version=self.version, available=fields.keys())


def _no_object(name: str, key: str) -> KeyNotFound:
    return KeyNotFound(
        f"no key {shorten(key)!r}: {shorten(name)!r} is not a JSON object,"
        f" its whole text has the key {VALUE!r}"
    )
