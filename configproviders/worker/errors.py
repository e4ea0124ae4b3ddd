"""What the worker refuses, after Kafka Connect's exceptions; each is answered with its own status.

::

    ConnectException            500  what was asked for failed
    ├── BadRequest              400  the request, or the config in it, is wrong
    ├── NotFound                404  there is no such connector, task, plugin or logger
    └── Conflict                409  it cannot be done now
        └── AlreadyExists       409  a connector of that name is there
"""

from __future__ import annotations

from ..errors import ConfigException


class ConnectException(ConfigException):
    """What was asked of the worker failed."""

    status = 500
    """The HTTP status that answers it."""


class BadRequest(ConnectException):
    """The request, or the config in it, is wrong."""

    status = 400


class NotFound(ConnectException):
    """There is no such connector, task, plugin or logger."""

    status = 404


class Conflict(ConnectException):
    """The connector is in a state in which this cannot be done."""

    status = 409


class AlreadyExists(Conflict):
    """A connector of that name is there."""
