"""What a collection tells of itself while it works."""

from __future__ import annotations

import os
import sys

import pytest

import l2t
from l2t.experiences import heartbeat
from l2t.experiences.heartbeat import Heartbeat
from l2t.experiences.store import database

QUICK = {"algorithms": ["gfk"], "label_counts": (3,), "n_draws": 2, "progress": False}


@pytest.fixture
def store():
    with l2t.open_store("memory://") as opened:
        yield opened


def test_a_collection_notes_how_it_went(store, pair):
    l2t.collect([pair], store, **QUICK)
    l2t.collect([pair], store, **QUICK)
    again, first = store.collections()
    assert (first.total, first.done, first.failed, first.already_there) == (1, 1, 0, 0)
    assert (again.done, again.already_there) == (0, 1)
    assert first.latest == "gfk: source -> target"
    assert first.outcome == again.outcome == "finished"
    assert first.pid == os.getpid()
    assert first.started_at <= first.updated_at == first.ended_at <= again.started_at


def test_while_it_works_it_has_no_end(store):
    with Heartbeat(store, 7):
        (collection,) = store.collections()
        assert (collection.total, collection.ended_at, collection.outcome) == (7, None, "")


def test_signs_are_a_second_apart(store, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(heartbeat.time, "monotonic", lambda: now[0])
    with Heartbeat(store, None) as heart:
        for seconds, done, seen in ((0.4, 1, 0), (0.5, 2, 0), (0.2, 3, 3), (0.9, 4, 3)):
            now[0] += seconds
            heart.report({"done": done, "failed": 0, "already_there": 0}, f"run {done}")
            assert store.collections()[0].done == seen
    (collection,) = store.collections()
    assert (collection.done, collection.latest) == (4, "run 4")


def test_ctrl_c_as_a_transaction_begins_keeps_nobody_waiting(tmp_path, pair, monkeypatch):
    """The transaction is rolled back, and the end is noted without waiting for it."""
    monkeypatch.setattr(database, "_TIMEOUT", 0.1)  # seconds, then it is an error
    writing = database.Database.writing.__wrapped__.__code__
    begun = []

    def interrupt(frame, event, function):
        """Raise where the second transaction has begun, and its `with` block has not."""
        if event == "return" and frame.f_code is writing:
            begun.append(event)
        elif len(begun) == 3 and event == "c_return" and function is next:
            raise KeyboardInterrupt

    with l2t.open_store(tmp_path / "a.db") as store:
        sys.setprofile(interrupt)
        with pytest.raises(KeyboardInterrupt):
            l2t.collect([pair], store, **QUICK)
        sys.setprofile(None)
        (collection,) = store.collections()
        assert collection.outcome == "stopped by KeyboardInterrupt:"


def test_what_stopped_it_is_told(store):
    def pairs():
        raise RuntimeError("the disk\nis on fire")
        yield

    with pytest.raises(RuntimeError):
        l2t.collect(pairs(), store, **QUICK)
    assert store.collections()[0].outcome == "stopped by RuntimeError: the disk is on fire"
    assert len(store.collections(limit=1)) == 1
