"""States of connectors and tasks, and what may follow what: the table that the herder obeys.

::

    UNASSIGNED ──launched──▶ RUNNING ──paused──▶ PAUSED ──resume──▶ UNASSIGNED
        │                     │  ▲ │
        │ failed              │  │ └──restart──▶ RESTARTING ──launched──▶ RUNNING
        ▼                     │  │
      FAILED ──restart────────┼──┘   any ──stopped──▶ STOPPED ──resume──▶ UNASSIGNED
                              ▼
                     failed / ended (a batch that is done)

What a user asks for (``PAUSE`` … ``RESTART``) is legal or not in the state that is shown. What a
runner tells (``LAUNCHED`` … ``ENDED``) moves the state; a user's wish moves it when the runner has
done it, so that no state is shown that is not true yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """The state of a connector or, but for ``STOPPED``, of a task; Kafka Connect's words."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


class TargetState(StrEnum):
    """What the user wants a connector to be; it is stored."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class Event(StrEnum):
    """What moves a state: the wish of a user, or what the runner tells."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART = "restart"
    CONFIGURE = "configure"
    LAUNCHED = "launched"
    FAILED = "failed"
    ENDED = "ended"
    HALTED_TO_PAUSE = "paused"
    HALTED_TO_STOP = "stopped"


_S, _E = State, Event

CONNECTOR: Mapping[tuple[State, Event], State] = {
    (_S.UNASSIGNED, _E.PAUSE): _S.UNASSIGNED,
    (_S.UNASSIGNED, _E.RESUME): _S.UNASSIGNED,
    (_S.UNASSIGNED, _E.STOP): _S.UNASSIGNED,
    (_S.UNASSIGNED, _E.RESTART): _S.RESTARTING,
    (_S.UNASSIGNED, _E.CONFIGURE): _S.UNASSIGNED,
    (_S.UNASSIGNED, _E.LAUNCHED): _S.RUNNING,
    (_S.UNASSIGNED, _E.FAILED): _S.FAILED,
    (_S.UNASSIGNED, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.UNASSIGNED, _E.HALTED_TO_STOP): _S.STOPPED,
    (_S.RUNNING, _E.PAUSE): _S.RUNNING,
    (_S.RUNNING, _E.RESUME): _S.RUNNING,
    (_S.RUNNING, _E.STOP): _S.RUNNING,
    (_S.RUNNING, _E.RESTART): _S.RESTARTING,
    (_S.RUNNING, _E.CONFIGURE): _S.RESTARTING,
    (_S.RUNNING, _E.FAILED): _S.FAILED,
    (_S.RUNNING, _E.ENDED): _S.STOPPED,
    (_S.RUNNING, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.RUNNING, _E.HALTED_TO_STOP): _S.STOPPED,
    (_S.RESTARTING, _E.PAUSE): _S.RESTARTING,
    (_S.RESTARTING, _E.RESUME): _S.RESTARTING,
    (_S.RESTARTING, _E.STOP): _S.RESTARTING,
    (_S.RESTARTING, _E.CONFIGURE): _S.RESTARTING,
    (_S.RESTARTING, _E.LAUNCHED): _S.RUNNING,
    (_S.RESTARTING, _E.FAILED): _S.FAILED,
    (_S.RESTARTING, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.RESTARTING, _E.HALTED_TO_STOP): _S.STOPPED,
    (_S.PAUSED, _E.PAUSE): _S.PAUSED,
    (_S.PAUSED, _E.RESUME): _S.UNASSIGNED,
    (_S.PAUSED, _E.STOP): _S.STOPPED,
    (_S.PAUSED, _E.RESTART): _S.PAUSED,
    (_S.PAUSED, _E.CONFIGURE): _S.PAUSED,
    (_S.STOPPED, _E.PAUSE): _S.PAUSED,
    (_S.STOPPED, _E.RESUME): _S.UNASSIGNED,
    (_S.STOPPED, _E.STOP): _S.STOPPED,
    (_S.STOPPED, _E.CONFIGURE): _S.STOPPED,
    (_S.FAILED, _E.PAUSE): _S.FAILED,
    (_S.FAILED, _E.RESUME): _S.FAILED,
    (_S.FAILED, _E.STOP): _S.STOPPED,
    (_S.FAILED, _E.RESTART): _S.RESTARTING,
    (_S.FAILED, _E.CONFIGURE): _S.RESTARTING,
    (_S.FAILED, _E.HALTED_TO_STOP): _S.STOPPED,
}
"""What a connector is after an event; a pair that is not here is illegal, and changes nothing.

A RESTARTING connector cannot be restarted, nor can a STOPPED one, which is resumed instead.
"""

TASK: Mapping[tuple[State, Event], State] = {
    (_S.UNASSIGNED, _E.LAUNCHED): _S.RUNNING,
    (_S.UNASSIGNED, _E.RESTART): _S.RESTARTING,
    (_S.UNASSIGNED, _E.FAILED): _S.FAILED,
    (_S.UNASSIGNED, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.RUNNING, _E.ENDED): _S.UNASSIGNED,
    (_S.RUNNING, _E.RESTART): _S.RESTARTING,
    (_S.RUNNING, _E.FAILED): _S.FAILED,
    (_S.RUNNING, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.RESTARTING, _E.LAUNCHED): _S.RUNNING,
    (_S.RESTARTING, _E.FAILED): _S.FAILED,
    (_S.RESTARTING, _E.HALTED_TO_PAUSE): _S.PAUSED,
    (_S.PAUSED, _E.RESTART): _S.PAUSED,
    (_S.FAILED, _E.RESTART): _S.RESTARTING,
    (_S.FAILED, _E.LAUNCHED): _S.RUNNING,  # It had failed when its restart was asked for.
}
"""The same for a task. New ones are UNASSIGNED; those of a connector that stops are gone."""


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """How it is with one task; ``trace`` is without values."""

    id: int
    state: State
    trace: str = ""


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """How it is with one connector and its tasks, by id; ``trace`` is without values."""

    name: str
    state: State
    tasks: tuple[TaskStatus, ...]
    type: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    """A connector as it is stored: its config raw, with references; ``tasks`` are their ids."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    tasks: tuple[int, ...]
    type: str
    target: TargetState
