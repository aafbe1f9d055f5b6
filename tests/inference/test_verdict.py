"""The vote of labelled rows, triple by triple, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t import Domain, DomainPair, infer
from l2t.inference.verdict import Vote, decide, triple_vote
from l2t.reflection.plan import Rule


def marked(X, y, mask=None):
    mask = np.ones(len(X), dtype=bool) if mask is None else mask
    return DomainPair(Domain(X + 1.0), Domain(X, y, labeled=mask))


def share_in_order(Z, y):
    """One triple after another, in whole numbers: a tie is a tie."""
    rows = []
    for a in range(len(Z)):
        right = [
            1.0 if near < far else 0.5 if near == far else 0.0
            for b in range(len(Z))
            for c in range(len(Z))
            if a != b and y[a] == y[b] and y[a] != y[c]
            for near, far in [(np.sum((Z[a] - Z[b]) ** 2), np.sum((Z[a] - Z[c]) ** 2))]
        ]
        if right:
            rows.append(np.mean(right))
    return np.mean(rows)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("n", [4, 11, 16])
@pytest.mark.parametrize("largest", [2, 1000])
def test_the_vote_counts_triples(rng, n, n_classes, largest):
    """With values up to 2 most distances are ties, and many rows coincide."""
    X = rng.integers(largest, size=(n, 3), endpoint=True).astype(float)
    y = rng.integers(n_classes, size=n)
    y[:3] = 0, 0, 1
    W = rng.integers(-2, 2, size=(3, 2)).astype(float)
    vote = triple_vote(marked(X, y), W)
    assert vote.n_labels == n
    assert vote.without == pytest.approx(share_in_order(X, y), abs=1e-12)
    assert vote.with_W == pytest.approx(share_in_order(X @ W, y), abs=1e-12)
    assert vote.gain == vote.with_W - vote.without


def test_rounding_breaks_no_tie(rng):
    """A W that keeps all distances, or all but their scale, has no say."""
    X = np.array([[i, j] for i in range(4) for j in range(4)], dtype=float)
    y = rng.integers(3, size=16)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    for n in range(9, 17):
        for far in (0.0, 1e3):
            for W in (np.eye(2), 3.0 * np.eye(2), 1e-5 * turn, turn):
                assert triple_vote(marked(X[:n] + far, y[:n]), W).gain == 0.0


def test_all_rows_at_one_point_are_ties():
    vote = triple_vote(marked(np.eye(6), np.arange(6) % 2), np.zeros((6, 1)))
    assert vote == Vote(6, 0.5, 0.5)


def test_a_W_that_leaves_the_classes_alone_puts_all_triples_in_order(rng):
    y = np.arange(20) % 2
    X = np.c_[10.0 * y + rng.normal(size=20), 100.0 * rng.normal(size=20)]
    vote = triple_vote(marked(X, y), np.eye(2, 1))
    assert vote.with_W == 1.0
    assert 0.3 < vote.without < 0.7


@pytest.mark.parametrize(
    ("y", "mask"),
    [
        ([0, 1, 2, 3], [True] * 4),  # no class has two rows
        ([0, 0, 0, 0], [True] * 4),  # no second class
        ([0, 0, 1, 1], [True, False, True, False]),
        ([0, 0, 1, 1], [True, True, False, False]),
        ([0, 0, 1, 1], [False] * 4),
    ],
)
def test_too_few_labels_to_vote(rng, y, mask):
    pair = marked(rng.normal(size=(4, 2)), np.array(y), np.array(mask))
    assert triple_vote(pair, np.eye(2)) is None


def test_without_a_mask_nobody_votes(pair):
    assert triple_vote(pair, np.eye(10)) is None


def test_classes_of_a_single_row_are_others_alone():
    """Rows 0 and 1 vote: 0 is nearer to the lone row 2 than to 1, and 1 is not."""
    vote = triple_vote(marked(np.array([[0.0], [3.0], [-2.0]]), np.array([0, 0, 1])), np.eye(1))
    assert vote == Vote(3, 0.5, 0.5)


def test_only_labelled_rows_are_seen(rng):
    X, y, W = rng.normal(size=(12, 4)), np.arange(12) % 3, rng.normal(size=(4, 2))
    mask = np.arange(12) < 7
    vote = triple_vote(marked(X, y, mask), W)
    others, names = X.copy(), y.astype(object)
    others[~mask], names[~mask] = 1e3 * rng.normal(size=(5, 4)), None
    assert triple_vote(marked(others, names, mask), W) == vote
    assert triple_vote(marked(X[:7], y[:7]), W) == vote
    assert triple_vote(marked(X, np.array(["x", "y", "z"])[y], mask), W) == vote


RULE = Rule(margin=0.01, doubtful_margin=0.05, least_predicted=1.1)


@pytest.mark.parametrize(
    ("predicted", "verdict", "reason"),
    [
        (
            1.2,
            "transfer",
            "the predicted improvement ratio is 1.200, and no labelled rows can object",
        ),
        (
            1.1,
            "transfer",
            "the predicted improvement ratio is 1.100, and no labelled rows can object",
        ),
        (1.05, "no-transfer", "the predicted improvement ratio is 1.050, below 1.1"),
    ],
)
def test_without_a_vote_the_prediction_decides(predicted, verdict, reason):
    assert decide(RULE, predicted, None) == (verdict, reason)


@pytest.mark.parametrize(
    ("predicted", "with_W", "verdict"),
    [
        (1.2, 0.64, "transfer"),
        (1.2, 0.605, "no-transfer"),
        (1.2, 0.5, "no-transfer"),
        (1.0, 0.64, "no-transfer"),  # a doubtful prediction needs more of a vote
        (1.0, 0.66, "transfer"),
    ],
)
def test_labelled_rows_decide_by_a_margin(predicted, with_W, verdict):
    told, reason = decide(RULE, predicted, Vote(15, 0.6, with_W))
    assert told == verdict
    margin = RULE.margin if predicted >= RULE.least_predicted else RULE.doubtful_margin
    assert reason == (
        f"W puts {100 * with_W:.1f} % of the triples of 15 labelled rows in order instead of 60.0 %, where "
        f"more than {100 * margin:g} % of gain is asked for, as the predicted improvement ratio is "
        f"{predicted:.3f}"
    )


def test_the_usual_rule():
    assert Rule() == Rule(0.0, 0.02, 1.0)
    assert decide(Rule(), 1.0, None)[0] == "transfer"
    assert decide(Rule(), 1.5, Vote(15, 0.6, 0.6))[0] == "no-transfer", "no gain, no transfer"


def test_infer_goes_by_the_rule_of_its_function(labelled, reflection):
    found = infer(labelled, reflection)
    assert found.vote == triple_vote(labelled, found.W)
    assert (found.verdict, found.reason) == decide(Rule(), found.predicted, found.vote)
    strict = infer(labelled, replace(reflection, rule=Rule(2.0, 2.0, 1.0)))
    assert strict.verdict == "no-transfer"
    assert strict.vote == found.vote
    assert "more than 200 % of gain is asked for" in strict.reason
