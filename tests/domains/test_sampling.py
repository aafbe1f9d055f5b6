"""Pairs by seed: reproducible, independent of the order of calls, disjoint by name."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, PairSampler
from l2t.exceptions import InvalidInputError


@pytest.fixture
def photos(rng):
    return Domain(rng.normal(size=(200, 4)), rng.choice(list("abcdefgh"), 200), name="photos")


@pytest.fixture
def sketches(rng):
    return Domain(rng.normal(size=(150, 4)), rng.choice(list("efghijkl"), 150), name="sketches")


def test_order_of_calls_does_not_matter(photos, sketches):
    sampler = PairSampler(photos, sketches, 20, random_state=3)
    backwards = [sampler[i] for i in reversed(range(20))][::-1]
    assert backwards == list(sampler)
    longer = PairSampler(photos, sketches, 500, random_state=3)
    assert longer[:20] == backwards
    assert sampler[-1] == sampler[19]
    other = PairSampler(photos, sketches, 20, random_state=4)
    assert sum(a == b for a, b in zip(sampler, other, strict=True)) == 0


def test_classes_are_disjoint_by_name_and_rows_are_capped(photos, sketches):
    drawn = set()
    for pair in PairSampler(photos, sketches, 60, max_per_class=7):
        assert len(pair.source.classes) == len(pair.target.classes) == 3
        assert not set(pair.source.classes) & set(pair.target.classes)
        for domain in (pair.source, pair.target):
            assert np.bincount(domain.codes).max() <= 7
        drawn |= set(pair.source.classes) | set(pair.target.classes)
    assert drawn == set("abcdefghijkl"), "every class is drawn sooner or later"
    uncapped = PairSampler(photos, sketches, 1, max_per_class=None)[0]
    codes = photos.codes[[name in uncapped.source.classes for name in photos.y]]
    assert len(uncapped.source) == len(codes)


def test_rows_are_those_of_the_domain(photos, sketches):
    pair = PairSampler(photos, sketches, 1)[0]
    rows = {row.tobytes(): label for row, label in zip(photos.X, photos.y, strict=True)}
    assert [rows[row.tobytes()] for row in pair.source.X] == pair.source.y.tolist()
    assert pair.source.name == f"photos[{', '.join(pair.source.classes)}]"


def test_two_target_classes_with_one_name_leave_fewer(rng):
    source = Domain(rng.normal(size=(2, 3)), ["stop_sign", "cat"])
    target = Domain(rng.normal(size=(3, 3)), ["Stop sign", "stop signs", "dog"])
    for pair in PairSampler(source, target, 10, n_classes=1):
        assert len(pair.target.classes) == 1
    with pytest.raises(InvalidInputError, match="n_classes must be at most 1"):
        PairSampler(source, target, 10, n_classes=2)


def test_index_out_of_range(photos, sketches):
    with pytest.raises(IndexError):
        PairSampler(photos, sketches, 3)[3]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_classes": 9}, "n_classes must be at most 4, because source and target have 8 and 8"),
        (
            {"n_classes": 5},
            "n_classes must be at most 4, .* 4 in common, and those of a pair must differ, got 5",
        ),
        ({"n_classes": 0}, "n_classes must be a whole number of at least 1, got 0"),
        ({"max_per_class": 0}, "max_per_class must be a whole number of at least 1, got 0"),
        ({"max_per_class": 2.5}, "max_per_class must be a whole number"),
        ({"n_classes": True}, "n_classes must be a whole number"),
        ({"random_state": None}, "random_state must be a whole number"),
    ],
)
def test_impossible_settings_are_refused(photos, sketches, options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        PairSampler(photos, sketches, 5, **options)


def test_names_are_compared_as_they_read(photos):
    numbers = Domain(photos.X, photos.codes)
    texts = Domain(photos.X, photos.codes.astype(str))
    for pair in PairSampler(numbers, texts, 20):
        assert not {str(name) for name in pair.source.classes} & set(pair.target.classes)


def test_features_must_match(photos):
    with pytest.raises(InvalidInputError, match="the same features, got 4 and 3 columns"):
        PairSampler(photos, Domain(photos.X[:, :3], photos.y), 2)
    with pytest.raises(InvalidInputError, match="source must be a Domain, got ndarray"):
        PairSampler(photos.X, photos, 2)


def test_one_domain_with_itself(photos):
    """Shared names: what the source takes, the target cannot."""
    for pair in PairSampler(photos, photos, 30, n_classes=4):
        assert not set(pair.source.classes) & set(pair.target.classes)


def test_the_same_classes_of_both():
    source = Domain(np.arange(12.0)[:, None], list("abcd") * 3, name="s")
    target = Domain(np.arange(12.0)[:, None], list("cabx") * 3, name="t")
    for pair in PairSampler(source, target, 20, n_classes=2, shared=True):
        assert pair.source.classes == pair.target.classes
        assert set(pair.source.classes) < {"a", "b", "c"}
    assert len({pair.source.name for pair in PairSampler(source, target, 20, 2, shared=True)}) == 3
    with pytest.raises(
        InvalidInputError, match=r"at most 3, .* 3 in common, and those of a pair must be the same"
    ):
        PairSampler(source, target, 1, n_classes=4, shared=True)


@pytest.mark.parametrize("shared", [True, False])
def test_numbers_and_their_text_are_one_class(shared):
    source = Domain(np.arange(12.0)[:, None], [1, 2, 3, 4] * 3)
    target = Domain(np.arange(12.0)[:, None], ["1.0", "2", "3", "x"] * 3)
    for pair in PairSampler(source, target, 20, n_classes=2, shared=shared):
        ours, theirs = set(pair.source.classes), set(pair.target.classes)
        assert (ours == theirs) if shared else ours.isdisjoint(theirs)
