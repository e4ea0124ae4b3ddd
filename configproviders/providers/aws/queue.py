"""The queue of SQS in which events arrive: the calls that a listener makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from .answers import entries, text
from .session import Clients

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from mypy_boto3_sqs import SQSClient

    from .queue_url import QueueUrl
    from .settings import Settings

WAIT = 20
"""For how many seconds SQS waits for a message at most."""

BATCH = 10
"""How many messages SQS takes and gives in one call at most."""

_HIDDEN = 10  # Seconds until a message comes again that was lost on its way, or not deleted.


class Message(NamedTuple):
    """What one message says, and what it is deleted by."""

    body: str
    receipt: str


class Queue:
    """A queue, asked with the credentials that the settings say, at the host of its URL.

    A call is one attempt, which raises :class:`ServiceError`; whether there is another is for
    the caller to decide, as the pauses of the SDK cannot be ended. One thread makes the calls;
    any may interrupt them.
    """

    def __init__(self, url: QueueUrl, settings: Settings, clock: Callable[[], float]) -> None:
        """Remember how it is asked; nothing is looked for yet."""
        self._url = url
        self._patience = settings.attempt.total_seconds()
        patient = settings.for_one_attempt(settings.attempt + timedelta(seconds=WAIT))
        self._clients: Clients[SQSClient] = Clients(self._client, patient, clock)

    def receive(self, wait: int) -> list[Message]:
        """Return the messages that come within *wait* seconds, none if none does."""
        with self._clients.deadline(wait + self._patience):
            reply = self._clients.call(
                self._url.region,
                lambda client: client.receive_message(
                    QueueUrl=self._url.text,
                    MaxNumberOfMessages=BATCH,
                    VisibilityTimeout=_HIDDEN,
                    WaitTimeSeconds=wait,
                ),
            )
        return [
            Message(text(each, "Body") or "", text(each, "ReceiptHandle") or "")
            for each in entries(reply, "Messages")
        ]

    def delete(self, messages: Sequence[Message]) -> None:
        """Delete :data:`BATCH` messages at most; one for which that fails comes again."""
        with self._clients.deadline(self._patience):
            self._clients.call(
                self._url.region,
                lambda client: client.delete_message_batch(
                    QueueUrl=self._url.text,
                    Entries=[
                        {"Id": str(number), "ReceiptHandle": each.receipt}
                        for number, each in enumerate(messages)
                    ],
                ),
            )

    def interrupt(self) -> None:
        """Have a call that another thread is in fail now."""
        self._clients.interrupt()

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()

    def _client(
        self,
        session: boto3.Session,
        region: str,
        endpoint: str | None,  # noqa: ARG002  It is that of the store.
        config: Config,
    ) -> SQSClient:
        from botocore.config import Config as More

        config = config.merge(More(connect_timeout=self._patience))
        return session.client(
            "sqs", region_name=region, endpoint_url=self._url.endpoint, config=config
        )
