"""What driver and executors say to each other: four bytes of length, and that much JSON.

The length counts bytes and is big-endian; the JSON is one object in ASCII.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

Message = dict[str, Any]

_LENGTH = struct.Struct(">I")


def send(connection: socket.socket, message: Message) -> None:
    """Write *message*; raise ``OSError`` if the other side is gone."""
    text = json.dumps(message).encode("ascii")
    connection.sendall(_LENGTH.pack(len(text)) + text)


def receive(connection: socket.socket, *, limit: int, seconds: float) -> Message:
    """Return the next message, of *limit* bytes at most, all of it within *seconds*.

    Raises ``OSError`` if the other side is gone or slow, ``ValueError`` for what is no message;
    neither quotes what came.
    """
    end = time.monotonic() + seconds
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size, end))
    if length > limit:
        raise ValueError(f"a message of {length:,} bytes, where {limit:,} are allowed")
    text = _exactly(connection, length, end)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("a message that is no JSON") from None
    if not isinstance(message, dict):
        raise ValueError("a message that is no JSON object")  # noqa: TRY004  Of its content.
    return message


def _exactly(connection: socket.socket, length: int, end: float) -> bytes:
    received = bytearray()
    while len(received) < length:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the message did not come in time")
        connection.settimeout(left)
        piece = connection.recv(min(length - len(received), 1 << 16))
        if not piece:
            raise ConnectionError("the connection was closed")
        received += piece
    return bytes(received)
