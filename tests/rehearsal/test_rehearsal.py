"""Rehearsal: plays of known classes, and what candidates are worth in them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, algorithms, open_store
from l2t.algorithms import Diagnostics, LatentFactors
from l2t.domains import KnownClasses
from l2t.exceptions import L2TWarning, StoreError
from l2t.numerics import LRUCache
from l2t.rehearsal import draw_plays, rehearse
from l2t.rehearsal import rehearsal as module
from l2t.statistics import mutual_share


def known_classes(n_classes=8, n=40, m=10, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), n)
    X = 2.0 * rng.normal(size=(n_classes, m))[codes] + noise * rng.normal(size=(len(codes), m))
    X[:, -1] = 10.0 * rng.normal(size=len(X))  # a nuisance that class geometry takes away
    return KnownClasses([Domain(X, codes)])


CANDIDATES = {name: algorithms.make(name) for name in ("spectrum", "classes", "classes+spectrum")}


def forget(monkeypatch):
    """Start with an empty cache."""
    monkeypatch.setattr(module, "_cache", LRUCache(module.CACHE_SIZE))


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    forget(monkeypatch)


def test_playing_classes_are_disjoint_and_reproducible():
    known = known_classes()
    plays = list(draw_plays(known, 3, 20, 4, random_state=0))
    again = list(draw_plays(known, 3, 20, 9, random_state=0))
    for play, same in zip(plays, again, strict=False):
        target = play.pair.target
        assert len(target) == 60
        assert len(target.classes) == 3
        assert play.known.n_classes == 5
        rows = {row.tobytes() for row in target.X}
        assert not rows & {row.tobytes() for row in play.known.X}
        assert target == same.pair.target
    assert len({play.pair.target.fingerprint for play in plays}) == 4


@pytest.mark.parametrize(
    ("n_known", "wanted", "playing"), [(8, 6, 4), (3, 5, 2), (4, 2, 2), (9, 3, 3)]
)
def test_at_most_half_of_the_classes_play_the_target(n_known, wanted, playing):
    (play,) = draw_plays(known_classes(n_known), wanted, 20, 1, random_state=0)
    assert len(play.pair.target.classes) == playing
    assert play.known.n_classes == n_known - playing


@pytest.mark.parametrize("n_known", [1, 2])
def test_two_classes_cannot_be_rehearsed_on(n_known):
    found = rehearse(known_classes(n_known), CANDIDATES)
    assert (found.n_plays, found.n_classes, found.skill) == (0, 0, 0.0)


def test_class_geometry_shows_its_worth():
    found = rehearse(known_classes(), CANDIDATES, rows_per_class=40)
    assert found.before.shape == (8, len(found.shots))
    mean, error = found.log_ratio("classes", 1)
    assert mean > 4 * error > 0
    assert mean == pytest.approx(np.mean(np.log(found.after["classes"] / found.before)[:, 0]))
    between = found.log_ratio("classes", 3)[0]
    two, five = (found.log_ratio("classes", each)[0] for each in (2, 5))
    assert min(two, five) <= between <= max(two, five)


def test_noise_has_no_skill():
    rng = np.random.default_rng(0)
    known = KnownClasses([Domain(rng.normal(size=(320, 10)), np.arange(320) % 8)])
    assert rehearse(known, CANDIDATES).skill < 0.1
    assert rehearse(known_classes(noise=0.1), CANDIDATES).skill > 0.1


def test_the_same_work_is_not_done_twice(monkeypatch):
    known = known_classes()
    first = rehearse(known, CANDIDATES)
    monkeypatch.setattr(module, "_score", None)
    again = rehearse(known_classes(), {**CANDIDATES})
    for name in CANDIDATES:
        np.testing.assert_array_equal(first.after[name], again.after[name])
    with pytest.raises(TypeError):
        rehearse(known, CANDIDATES, random_state=1)


class Selection:
    """An algorithm that does not tell its settings: the first k features."""

    name = "selection"

    def __init__(self, k):
        self.k = k

    def fit(self, pair):
        W = np.eye(pair.n_features, self.k)
        return LatentFactors(W, "linear", self.name, Diagnostics((0.0,), 0, "closed-form"))


def test_algorithms_without_params_are_not_mistaken_for_each_other(store):
    known = known_classes()
    one, nine, again = (
        rehearse(known, {"selection": Selection(k)}, store=store).after["selection"]
        for k in (1, 9, 1)
    )
    assert np.nanmean(nine) > np.nanmean(one) + 0.1
    np.testing.assert_array_equal(one, again)


def test_numbers_of_numpy_are_parameters_like_others(store):
    known = known_classes()
    found = [
        rehearse(known, {"gfk": algorithms.make("gfk", n_components=n)}, store=store).after["gfk"]
        for n in (np.int64(3), 3)
    ]
    np.testing.assert_array_equal(*found)
    assert len(module._cache._values) == 2, "the original features and one algorithm"


def test_a_candidate_that_fails_says_why():
    found = rehearse(known_classes(), {"gfk": algorithms.make("gfk", n_components=-1)})
    assert "n_components must be a whole number" in found.failed["gfk"]
    assert not found.after


def test_base_algorithms_see_at_most_300_rows_and_cmf_the_features_themselves():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(8), 60)
    X = rng.random(size=(8, 300))[codes] + rng.random(size=(480, 300))
    known = KnownClasses([Domain(X, codes)])
    seen = []

    class Watched(algorithms.GFK):
        needs_features = False

        def fit(self, pair):
            seen.append((len(pair.source), pair.n_features, self.needs_features))
            return super().fit(pair)

    class Raw(Watched):
        name = "raw"
        needs_features = True

    rehearse(known, {"reduced": Watched(n_components=3), "raw": Raw(n_components=3)}, n_plays=2)
    assert seen == [(300, 256, False)] * 2 + [(300, 300, True)] * 2
    assert algorithms.CMF.needs_features


@pytest.fixture
def store():
    with open_store("memory://") as opened:
        yield opened


def test_a_store_gives_the_same_numbers_and_saves_the_work(store, monkeypatch):
    known, failing = known_classes(n=18), {"gfk": algorithms.make("gfk", n_components=-1)}
    plain = rehearse(known, CANDIDATES | failing)
    assert np.isnan(plain.before).any(), "NaN must come back too"
    forget(monkeypatch)
    stored = rehearse(known, CANDIDATES | failing, store=store)
    forget(monkeypatch)
    monkeypatch.setattr(module, "_score", None)
    again = rehearse(known_classes(n=18), CANDIDATES | failing, store=store)
    for found in (stored, again):
        np.testing.assert_array_equal(found.before, plain.before)
        assert found.neighbours == plain.neighbours
        assert (found.after.keys(), found.failed) == (plain.after.keys(), plain.failed)
        for name in CANDIDATES:
            np.testing.assert_array_equal(found.after[name], plain.after[name])


def test_what_the_process_knows_reaches_the_store(store, monkeypatch):
    rehearse(known_classes(), CANDIDATES)
    rehearse(known_classes(), CANDIDATES, store=store)
    forget(monkeypatch)
    monkeypatch.setattr(module, "_score", None)
    assert set(rehearse(known_classes(), CANDIDATES, store=store).after) == set(CANDIDATES)


def test_rehearsals_are_no_runs(store):
    rehearse(known_classes(), CANDIDATES, store=store)
    assert (store.count(), list(store.experiences()), list(store.targets())) == (0, [], [])
    assert store.check() == []


def test_a_store_that_cannot_be_written_is_no_obstacle(tmp_path):
    class ReadOnly:
        def rehearsal(self, work):
            return None

        def add_rehearsal(self, work, outcome):
            raise StoreError("the file is read-only")

    with pytest.warns(L2TWarning, match="the rehearsal was not stored: the file is read-only"):
        found = rehearse(known_classes(), CANDIDATES, store=ReadOnly())
    assert set(found.after) == set(CANDIDATES)


@pytest.mark.parametrize(
    ("n_known", "n_classes", "share_classes"), [(3, 3, 3), (3, 9, 3), (9, 3, 3), (9, 6, 6)]
)
def test_neighbourhoods_are_those_of_as_many_classes_as_the_target_has(
    n_known, n_classes, share_classes
):
    (play,) = draw_plays(known_classes(n_known), n_classes, 20, 1, random_state=0)
    assert len(play.like_target) == 20 * share_classes
    rows = {row.tobytes() for row in play.like_target}
    assert {row.tobytes() for row in play.pair.target.X} <= rows
    found = rehearse(known_classes(n_known), {}, n_classes=n_classes, rows_per_class=20)
    assert found.neighbours.n_rows == 20 * n_classes, "as many rows per class"


@pytest.mark.parametrize("n_classes", [3, 6, 12])
def test_three_known_classes_do_not_make_a_target_look_strange(n_classes):
    """Among as many rows in all, more classes look more mutual than two; with as many per class not."""
    rng, n = np.random.default_rng(0), n_classes + 3
    codes = np.repeat(np.arange(n), 40)
    now, before = [], []
    for _ in range(20):
        X = 3.0 * rng.normal(size=(n, 20))[codes] + rng.normal(size=(len(codes), 20))
        known, target = KnownClasses([Domain(X[codes < 3], codes[codes < 3])]), X[codes >= 3]
        found = rehearse(known, {}, n_classes=n_classes, rows_per_class=40, n_plays=1)
        now.append(mutual_share(target, found.neighbours.n_rows) - found.neighbours.share)
        plays = draw_plays(known, n_classes, 40, 1, random_state=0)
        playing = np.mean([mutual_share(play.pair.target.X) for play in plays])
        before.append(mutual_share(target, 80) - playing)
    assert np.mean(now) == pytest.approx(0.0, abs=0.02)
    assert np.mean(before) > 0.03


def test_groups_are_never_labelled_and_tested_at_once(rng):
    """Classes that are noise: only rows of the same group, near copies of each other, tell them."""
    X = np.repeat(rng.normal(size=(96, 10)), 5, axis=0) + 0.01 * rng.normal(size=(480, 10))
    codes, groups = np.repeat(np.arange(96) % 6, 5), np.repeat(np.arange(96), 5)
    plain = rehearse(KnownClasses([Domain(X, codes)]), CANDIDATES)
    found = rehearse(KnownClasses([Domain(X, codes, groups=groups)]), CANDIDATES)
    assert plain.skill > 0.5
    assert found.skill < 0.1
    assert np.isfinite(found.before[:, 0]).all()
    np.testing.assert_array_less(found.after["classes"][:, 0], 0.5)
