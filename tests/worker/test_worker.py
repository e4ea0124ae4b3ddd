"""Connectors in a worker: their life, their failures and their secrets; none needs Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import pytest
from worker.odd_connectors import Deaf, HangingConnector, Waiting
from worker.odd_connectors import ResettingConnector as Resetting
from worker.workers import Begun, RotatedSecret, runs, until

from configproviders.errors import UnresolvedError
from configproviders.testing import CANARY
from configproviders.worker.errors import AlreadyExists, BadRequest, Conflict, NotFound
from configproviders.worker.status import ConnectorStatus, State, TargetState
from configproviders.worker.worker import Worker


def config(name: str, connector: str, secret: RotatedSecret, **more: str) -> Mapping[str, str]:
    given = {key.replace("__", "."): text for key, text in more.items()}
    known = {"name": name, "connector.class": f"worker.odd_connectors:{connector}"}
    return {**known, "password": secret.reference, **given}


def start(worker: Worker, name: str, settings: Mapping[str, str]) -> None:
    worker.herder.create(name, settings).result()
    until(worker, name, runs)


def test_status_and_config_are_there_with_the_answer(begun: Begun, secret: RotatedSecret) -> None:
    with begun() as worker:
        info = worker.herder.create("a", config("a", "CheapConnector", secret)).result()

        assert worker.herder.info("a").config == info.config
        assert worker.herder.status("a").type == "source"


def test_a_connector_runs_with_the_value_and_is_stored_with_the_reference(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        start(worker, "a", config("a", "CheapConnector", secret, tasks__max="2"))

        assert Waiting.seen["a", 1] == secret.value
        assert worker.herder.info("a").config["password"] == secret.reference
        assert [each["url"] for each in worker.herder.task_configs("a")] == [
            f"db://nobody:{secret.reference}@host"
        ] * 2


def test_a_rotated_secret_restarts_connector_and_tasks(begun: Begun, secret: RotatedSecret) -> None:
    with begun() as worker:
        start(worker, "a", config("a", "CheapConnector", secret, tasks__max="3"))

        secret.rotate()

        until(worker, "a", lambda status: worker.herder.reloads == 1 and runs(status))
        assert [Waiting.seen["a", task] for task in range(3)] == [secret.value] * 3
        assert worker.secrets("a")[0].changed_at is not None


def test_a_connector_that_wants_no_restart_asks_for_the_latest_itself(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        settings = config("a", "CheapConnector", secret, config__action__reload="none")
        worker.herder.create("a", settings).result()
        until(worker, "a", runs)

        secret.rotate()

        assert Waiting.contexts["a", 0].configs()["url"] == f"db://nobody:{secret.value}@host"
        until(worker, "a", lambda _: worker.secrets("a")[0].changed_at is not None)
        assert worker.herder.reloads == 0


def test_many_connectors_with_one_secret_all_get_the_new_value(
    begun: Begun, secret: RotatedSecret
) -> None:
    names = [f"c{number}" for number in range(40)]
    with begun(launch__concurrency="4") as worker:
        for name in names:
            worker.herder.create(name, config(name, "CheapConnector", secret)).result()
        for name in names:
            until(worker, name, runs)

        secret.rotate()

        until(worker, "c0", lambda _: worker.herder.reloads == len(names))
        for name in names:
            until(worker, name, runs)
            assert Waiting.seen[name, 0] == secret.value


@pytest.mark.parametrize("connector", ["QuotingConnector", "RaisingConnector"])
def test_a_connector_that_cannot_start_has_a_trace_without_values(
    begun: Begun, secret: RotatedSecret, connector: str
) -> None:
    with begun() as worker:
        worker.herder.create("a", config("a", connector, secret)).result()
        status = until(worker, "a", lambda status: status.state is State.FAILED)

        what, traceback, *_ = status.trace.splitlines()
        assert what.startswith(("ValueError: cannot log in with", "RuntimeError: no way"))
        assert traceback.startswith("Traceback")
        assert CANARY not in status.trace
        assert status.tasks == ()


def test_a_task_that_fails_leaves_the_others_and_has_a_trace_without_values(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        worker.herder.create("bad", config("bad", "FailingConnector", secret)).result()
        worker.herder.create("good", config("good", "CheapConnector", secret)).result()
        status = until(
            worker, "bad", lambda status: bool(status.tasks) and bool(status.tasks[0].trace)
        )
        until(worker, "good", runs)

        assert status.state is State.RUNNING
        assert "RuntimeError: refused" in status.tasks[0].trace
        assert CANARY not in status.tasks[0].trace


def test_a_missing_secret_fails_the_connector_until_it_is_there(
    begun: Begun, secret: RotatedSecret
) -> None:
    secret.file.write_text("user=orders\n")
    with begun() as worker:
        worker.herder.create("a", config("a", "CheapConnector", secret)).result()
        status = until(worker, "a", lambda status: status.state is State.FAILED)
        assert "no key 'password'" in status.trace

        secret.rotate()

        until(worker, "a", runs)
        assert Waiting.seen["a", 0] == secret.value


def test_configs_of_a_task_raise_when_the_secret_is_gone(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        settings = config("a", "CheapConnector", secret, config__action__reload="none")
        worker.herder.create("a", settings).result()
        until(worker, "a", runs)

        secret.file.unlink()

        with pytest.raises(UnresolvedError):
            Waiting.contexts["a", 0].configs()


def test_a_connector_is_deleted_while_it_starts_and_made_again(
    begun: Begun, secret: RotatedSecret
) -> None:
    HangingConnector.go_on.clear()
    with begun(task__shutdown__graceful__timeout__ms="200") as worker:
        worker.herder.create("a", config("a", "HangingConnector", secret)).result()
        worker.herder.delete("a").result()
        with pytest.raises(NotFound):
            worker.herder.status("a")

        worker.herder.create("a", config("a", "CheapConnector", secret)).result()

        until(worker, "a", runs)
        HangingConnector.go_on.set()


def test_a_task_that_does_not_stop_holds_up_nobody_for_long(
    begun: Begun, secret: RotatedSecret
) -> None:
    Deaf.go_on.clear()
    with begun(task__shutdown__graceful__timeout__ms="200") as worker:
        start(worker, "a", config("a", "DeafConnector", secret))

        worker.herder.stop("a").result(timeout=30)

        assert worker.herder.status("a").state is State.STOPPED
    Deaf.go_on.set()


def test_a_batch_that_is_done_stops_and_can_be_run_again(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        worker.herder.create("a", config("a", "OnceConnector", secret, tasks__max="2")).result()
        until(worker, "a", lambda status: status.state is State.STOPPED)
        assert worker.herder.info("a").target is TargetState.STOPPED
        Waiting.seen.clear()

        worker.herder.resume("a").result()

        until(worker, "a", lambda status: len(Waiting.seen) == 2 and status.state is State.STOPPED)
        assert worker.herder.status("a").tasks == ()


def test_of_two_that_create_the_same_name_one_is_refused(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        made = [worker.herder.create("a", config("a", "CheapConnector", secret)) for _ in range(2)]

        errors = [type(each.exception()) for each in made]

    assert errors == [type(None), AlreadyExists]


def test_a_stopped_connector_is_not_restarted(begun: Begun, secret: RotatedSecret) -> None:
    with begun() as worker:
        target = TargetState.STOPPED
        worker.herder.create("a", config("a", "CheapConnector", secret), target).result()

        with pytest.raises(Conflict, match="resume it"):
            worker.herder.restart("a").result()

        assert worker.herder.status("a").state is State.STOPPED


def test_connectors_are_there_again_as_they_were_wanted(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        for name in ("runs", "paused", "stopped"):
            worker.herder.create(name, config(name, "CheapConnector", secret)).result()
            until(worker, name, runs)
        worker.herder.pause("paused").result()
        worker.herder.stop("stopped").result()

    with begun() as worker:
        until(worker, "runs", runs)
        states = {name: worker.herder.status(name).state for name in worker.herder.names()}

    assert states == {"runs": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}


def test_no_thread_is_left(begun: Begun, secret: RotatedSecret) -> None:
    before = set(threading.enumerate())

    with begun() as worker:
        start(worker, "a", config("a", "CheapConnector", secret, tasks__max="5"))

    end = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()


def test_no_file_of_the_worker_holds_the_value(begun: Begun, secret: RotatedSecret) -> None:
    with begun() as worker:
        start(worker, "a", config("a", "CheapConnector", secret))

        files = [each for each in secret.file.parent.iterdir() if each != secret.file]

        assert [each.name for each in files if CANARY.encode() in each.read_bytes()] == []
        assert any(each.suffix == ".db" for each in files)


def has_reloaded(worker: Worker, count: int) -> Callable[[ConnectorStatus], bool]:
    return lambda _: worker.herder.reloads >= count


def test_a_secret_that_is_another_each_time_has_its_connector_restarted_so_often_and_no_more(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun(reload__settle__ms="0") as worker:
        start(worker, "a", config("a", "CheapConnector", secret))

        for _ in range(35):
            count = worker.herder.reloads
            secret.rotate()
            if count < 30:
                until(worker, "a", has_reloaded(worker, count + 1))
                until(worker, "a", runs)

        assert worker.herder.reloads == 30


def test_a_restart_of_the_connector_alone_does_not_leave_its_tasks_with_the_old_secret(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun(reload__settle__ms="500") as worker:
        start(worker, "a", config("a", "CheapConnector", secret))

        secret.rotate()
        worker.herder.restart("a").result()

        until(worker, "a", has_reloaded(worker, 1))
        until(worker, "a", runs)
        assert Waiting.seen["a", 0] == secret.value


def test_a_secret_that_is_deleted_leaves_what_runs_and_restarts_it_when_it_is_there_again(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        start(worker, "a", config("a", "CheapConnector", secret))

        secret.file.unlink()
        until(worker, "a", lambda _: worker.secrets("a")[0].changed_at is not None)
        assert runs(worker.herder.status("a"))
        secret.rotate()

        until(worker, "a", has_reloaded(worker, 1))
        until(worker, "a", runs)
        assert Waiting.seen["a", 0] == secret.value


def test_offsets_are_reset_only_while_nothing_can_start(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        start(worker, "a", config("a", "ResettingConnector", secret))
        with pytest.raises(BadRequest, match="STOPPED"):
            worker.herder.reset_offsets("a")
        worker.herder.stop("a").result()
        Resetting.go_on.clear()
        thread = threading.Thread(target=worker.herder.reset_offsets, args=["a"])
        thread.start()
        Resetting.begun.wait(10)

        with pytest.raises(Conflict, match="are being reset"):
            worker.herder.resume("a").result()

        Resetting.go_on.set()
        thread.join()
        worker.herder.resume("a").result()
        until(worker, "a", runs)


def test_a_password_that_is_written_out_is_not_in_a_trace(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun() as worker:
        settings = {**config("a", "QuotingConnector", secret), "password": f"typed-{CANARY}"}
        worker.herder.create("a", settings).result()
        status = until(worker, "a", lambda status: status.state is State.FAILED)

        assert "cannot log in" in status.trace
        assert CANARY not in status.trace
