"""Rehearsal: plays of known classes, and what candidates are worth in them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, algorithms
from l2t.domains import KnownClasses
from l2t.rehearsal import draw_plays, rehearse
from l2t.rehearsal import rehearsal as module


def known_classes(n_classes=8, n=40, m=10, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), n)
    X = 2.0 * rng.normal(size=(n_classes, m))[codes] + noise * rng.normal(size=(len(codes), m))
    X[:, -1] = 10.0 * rng.normal(size=len(X))  # a nuisance that class geometry takes away
    return KnownClasses([Domain(X, codes)])


CANDIDATES = {name: algorithms.make(name) for name in ("spectrum", "classes", "classes+spectrum")}


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(module, "_kept", type(module._kept)())


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


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)
    rehearse(known_classes(), CANDIDATES)
    assert len(module._kept) == 3


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
