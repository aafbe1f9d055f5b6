"""Training, validation and testing pairs have nothing in common that would tell."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from l2t import Domain, DomainPair, PairSampler
from l2t.exceptions import InvalidInputError
from reproduction.families import FAMILIES, PARTS, Pairs, draw_pairs, split_classes

pytestmark = pytest.mark.reproduction


def ends(pairs):
    """Both domains of each pair, by content."""
    return [(each.source.fingerprint, each.target.fingerprint) for each in pairs]


def names(domain):
    return {str(name) for name in domain.classes}


@pytest.fixture(scope="module")
def drawn(data_directory):
    """Four photo-sketch pairs of each part."""
    return {part: draw_pairs("photo-sketch", part, 4, data_directory) for part in PARTS}


def test_parts_of_photo_sketch_share_no_class(drawn):
    parts = [
        names(pairs.samplers[0].source) | names(pairs.samplers[0].target)
        for pairs in drawn.values()
    ]
    for one, other in combinations(parts, 2):
        assert not one & other
    sizes = [len(part) for part in parts]
    np.testing.assert_allclose(np.array(sizes) / sum(sizes), (0.5, 0.2, 0.3), atol=0.01)


def test_pairs_of_files_are_ready_to_use(drawn):
    everything = [end for pairs in drawn.values() for end in ends(pairs)]
    assert len(set(everything)) == len(everything) == 12
    for pairs in drawn.values():
        for pair in pairs:
            assert isinstance(pair, DomainPair)
            assert len(pair.source.classes) == len(pair.target.classes) == 3
            assert not names(pair.source) & names(pair.target)


def test_parts_of_digits_share_no_pair():
    everything = [end for part in PARTS for end in ends(draw_pairs("digits", part, 6))]
    assert len(set(everything)) == len(everything)
    seeds = {
        sampler.random_state
        for seed in (0, 1)
        for part in PARTS
        for sampler in draw_pairs("digits", part, 2, random_state=seed).samplers
    }
    assert len(seeds) == 12, "every part, seed and direction has a seed of its own"


def test_digits_go_both_ways():
    pairs = draw_pairs("digits", "train", 5)
    assert len(pairs) == 5
    first = [pair.source.name.split("[")[0] for pair in pairs]
    assert first == ["digits", "mnist", "digits", "mnist", "digits"]
    for pair in pairs:
        np.testing.assert_allclose(np.linalg.norm(pair.source.X, axis=1), 1.0, rtol=1e-6)
        assert not names(pair.source) & names(pair.target)


def test_the_demo_draws_the_same_digits():
    from l2t.interfaces.cli.demo import digit_pairs

    for at, part in enumerate(PARTS):
        drawn = draw_pairs("digits", part, 3, random_state=2)
        assert ends(drawn) == ends(digit_pairs(3, 3 * 2 + at))


def test_pairs_depend_on_seed_and_place_alone():
    few, many = (draw_pairs("digits", "test", n, random_state=7) for n in (3, 9))
    assert ends(few) == ends(many[:3])
    assert ends(few) != ends(draw_pairs("digits", "test", 3, random_state=8))


def test_they_are_a_sequence(rng):
    domain = Domain(rng.normal(size=(12, 2)), np.arange(12) % 6)
    samplers = tuple(
        PairSampler(domain, domain, 3, n_classes=2, random_state=seed) for seed in (0, 1)
    )
    pairs = Pairs(samplers, 5)
    assert ends(pairs) == ends([samplers[i % 2][i // 2] for i in range(5)])
    assert ends([pairs[-1], *pairs[1:3]]) == ends([pairs[4], pairs[1], pairs[2]])
    for bad in (5, -6):
        with pytest.raises(IndexError, match=f"index {bad} is out of range for 5 pairs"):
            pairs[bad]


def test_a_class_that_several_domains_have_is_in_one_part(rng):
    one = Domain(rng.normal(size=(40, 2)), np.arange(40) % 20, name="one")
    other = Domain(rng.normal(size=(30, 2)), (np.arange(30) % 15 + 10).astype(str), name="other")
    parts = split_classes([one, other])
    assert [len(names(a) | names(b)) for a, b in parts] == [12, 6, 7]  # .5, .2 and .3 of 25
    for (a, b), (c, d) in combinations(parts, 2):
        assert not (names(a) | names(b)) & (names(c) | names(d))
    assert sum(len(a) for a, _ in parts) == 40
    assert sum(len(b) for _, b in parts) == 30
    others = split_classes([one, other], random_state=1)
    assert names(others[0][0]) != names(parts[0][0])


@pytest.mark.parametrize(("family", "part"), [("words", "train"), ("digits", "exam")])
def test_what_is_no_family(family, part):
    sentence = (
        f"family must be one of {', '.join(FAMILIES)} and part one of {', '.join(PARTS)}, "
        f"got {family!r} and {part!r}"
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        draw_pairs(family, part, 3)


@pytest.mark.parametrize(
    ("family", "files"),
    [
        ("photo-sketch", "photo-sketch/photo.npz and photo-sketch/sketch.npz"),
        ("own", "source.npz and target.npz"),
    ],
)
def test_data_that_is_not_there(tmp_path, family, files):
    for data in (None, tmp_path):
        sentence = f"data must be a directory with {files}, got {data}"
        with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
            draw_pairs(family, "train", 1, data)
