"""What `infer` promises: no target label reaches a W, and the number and the verdict agree."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from l2t import Domain, DomainPair, algorithms, infer, open_store
from l2t.domains import KnownClasses, normalize
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError
from l2t.experiences import Run, collect
from l2t.inference import Candidate, Candidates, Inference
from l2t.inference.choice import meta_features
from l2t.paper import ReflectionFunction, load_reflection, search
from l2t.paper.plan import Plan
from l2t.rehearsal import MutualShare, Rehearsal

FOUR = ("identity", "spectrum", "classes", "classes+spectrum")


def made(n_source=6, n_target=3, rows=30, m=12, seed=0):
    """Source and target classes differ along all axes but the last, which is a large nuisance."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_source + n_target), rows)
    X = rng.normal(size=(n_source + n_target, m))[codes] + rng.normal(size=(len(codes), m))
    X[:, -1] = 8.0 * rng.normal(size=len(codes))
    ours = codes < n_source
    return DomainPair(
        Domain(X[ours], codes[ours], name="source"), Domain(X[~ours], codes[~ours], name="target")
    )


def with_labels(pair, y, mask=None):
    return DomainPair(pair.source, Domain(pair.target.X, y, labeled=mask))


def same_factors(first, second):
    assert list(first.candidates) == list(second.candidates)
    for name in first.candidates:
        np.testing.assert_array_equal(
            first.candidates[name].W, second.candidates[name].W, err_msg=name
        )


@pytest.fixture(scope="module")
def pair():
    return made()


@pytest.fixture(scope="module")
def found(pair):
    return infer(pair, n_labels=3)


def test_the_record_of_every_candidate(found):
    assert tuple(found.candidates) == FOUR
    chosen = [each for each in found.candidates.values() if each.chosen]
    assert [each.name for each in chosen] == [found.choice]
    assert found.W is chosen[0].W
    assert (found.predicted, found.interval) == (chosen[0].predicted, chosen[0].interval)
    assert found.predicted == max(each.predicted for each in found.candidates.values())
    plain = found.candidates["identity"]
    assert (plain.predicted, plain.interval, plain.rehearsed) == (1.0, (1.0, 1.0), None)
    frame = found.candidates.to_frame()
    assert list(frame.index) == list(FOUR)
    assert frame["chosen"].sum() == 1


def test_the_nuisance_is_seen_through(found):
    assert found.choice in ("classes", "classes+spectrum")
    assert found.predicted > 1.1
    assert found.candidates["classes"].rehearsed > 1.1
    assert found.verdict == "transfer"


def test_the_source_counts(pair, found):
    """Noise in place of the source gives another W, and no more than no source does."""
    rng = np.random.default_rng(1)
    noise = Domain(rng.normal(size=pair.source.X.shape), pair.source.y)
    other = infer(DomainPair(noise, pair.target), n_labels=3)
    none = infer(pair.target, sources=[], n_labels=3)
    assert not np.array_equal(other.W, found.W)
    assert other.choice == none.choice
    assert other.predicted == none.predicted
    assert "classes" in none.candidates
    assert "needs a source with labels" in none.candidates["classes"].reason


def permuted(y, rng):
    """The same labels for other rows, so that no row keeps its own."""
    return np.roll(y[np.argsort(y, kind="stable")], len(y) // 2)[rng.permutation(len(y))]


@pytest.mark.parametrize("rows", [17, 1700])
def test_no_target_label_reaches_any_W(rows, rng, proves):
    """Also with a store that holds the same target labelled, below and above the number of rows searched."""
    pair = made(rows=rows)
    y = pair.target.y
    mask = np.arange(len(y)) % 5 == 0
    variants = {
        "none": with_labels(pair, None),
        "scoring": pair,
        "labelled": with_labels(pair, y, mask),
        "permuted": with_labels(pair, permuted(y, rng), mask),
        "words": with_labels(
            pair, np.array(["ant", "bee", "cat"])[rng.integers(3, size=len(y))], mask
        ),
        "fillers": with_labels(pair, np.where(mask, y, -1), mask),
    }
    n_labels = int(mask.sum())
    results = {}
    for name, each in variants.items():
        scaled = Domain(2.0 * each.target.X, each.target.y)
        past = KnownClasses([scaled] if scaled.y is not None else [])
        results[name] = infer(each, n_labels=n_labels, n_classes=3, known=past, n_rehearsals=2)
    for each in results.values():
        same_factors(each, results["none"])
    assert results["labelled"].choice == results["fillers"].choice
    proves("No target label reaches a transformation", len(variants), "labellings")


@pytest.mark.parametrize("rows", [17, 1700])
def test_no_label_of_a_stored_target_reaches_any_W(rows, rng):
    """The store holds the target labelled: as it is, scaled, by row norms, by z-scores, and in part."""
    pair = made(rows=rows)
    bare = Domain(pair.target.X)
    reference = infer(DomainPair(pair.source, bare), n_labels=6, n_rehearsals=2)
    for y in (pair.target.y, permuted(pair.target.y, rng)):
        past = Domain(pair.target.X, y)
        stored = [
            past,
            Domain(0.2 * past.X, y),
            normalize(past),
            normalize(past, "zscore"),
            normalize(normalize(past, "zscore")),
            normalize(past.take(np.arange(0, len(y), 2)), "zscore"),
        ]
        with open_store("memory://") as store:
            for each in stored:
                store.add(run_on(each))
            known = KnownClasses.of(store)
        for target in (bare, normalize(bare, "zscore")):
            assert known.n_classes == 3 * len(stored)
            assert known.without(target).n_classes == 0
        found = infer(DomainPair(pair.source, bare), n_labels=6, n_rehearsals=2, known=known)
        same_factors(found, reference)


def run_on(target):
    """Return a run on a labelled target, as a store keeps it."""
    W = np.eye(target.n_features)[:, :2]
    return Run(
        pair=DomainPair(target, target),
        algorithm="made",
        params={},
        random_state=0,
        protocol={},
        status="done",
        W=W,
    )


def test_labels_that_are_not_marked_are_not_even_counted(pair):
    everywhere = infer(pair)
    assert (everywhere.n_labels, everywhere.n_classes) == (15, 3)
    many = with_labels(pair, np.arange(len(pair.target)))
    assert infer(many).n_classes == 3
    marked = np.arange(len(pair.target)) % 15 == 0
    some = infer(with_labels(pair, pair.target.y, marked))
    assert (some.n_labels, some.n_classes) == (6, 3)


@pytest.mark.parametrize("n_labels", [5, 7, 0])
def test_another_number_than_the_marked_rows_is_an_error(pair, n_labels):
    marked = with_labels(pair, pair.target.y, np.arange(len(pair.target)) % 15 == 0)
    sentence = (
        f"n_labels must be the number of labelled target rows (6) or be left out, got {n_labels}"
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        infer(marked, n_labels=n_labels)


def test_evidence_may_change_the_choice_and_nothing_else(pair, found):
    """Labels along the nuisance: what removes it is not chosen any more."""
    high = 100 + (pair.target.X[:, -1] > np.median(pair.target.X[:, -1]))
    mask = np.arange(len(high)) % 2 == 0
    warned = infer(with_labels(pair, high, mask))
    same_factors(warned, found)
    assert found.choice in ("classes", "classes+spectrum")
    assert warned.choice in ("identity", "spectrum")
    assert warned.candidates[found.choice].evidence.suggests.mean < 0
    assert warned.candidates[found.choice].predicted < found.predicted


def test_one_class_with_two_rows_does_not_outvote_everything(pair, found):
    high = 100 + (pair.target.X[:, -1] > np.median(pair.target.X[:, -1]))
    mask = np.zeros(len(high), dtype=bool)
    mask[[*np.flatnonzero(high > 100)[:2], np.flatnonzero(high == 100)[0]]] = True
    assert infer(with_labels(pair, high, mask)).choice == found.choice


def test_transform_is_the_product_or_the_rows_themselves(pair, found):
    X = np.round(np.random.default_rng(0).normal(size=(7, 12)) * 4)
    forms = (X, X.tolist(), pd.DataFrame(X), sparse.csr_array(X), Domain(X))
    for given in forms:
        np.testing.assert_allclose(found.transform(given), X @ found.W)
    plain = infer(pair, candidates=("identity",))
    assert plain.verdict == "no-transfer"
    for given in forms:
        np.testing.assert_array_equal(plain.transform(given), X)


def test_candidates_that_are_named(pair):
    chosen = infer(pair, candidates=("gfk", algorithms.make("tca", n_components=3), "spectrum"))
    assert tuple(chosen.candidates) == ("identity", "gfk", "tca", "spectrum")
    assert chosen.candidates["gfk"].rehearsed is not None
    with pytest.raises(UnknownAlgorithmError, match="there is no algorithm 'pca'; choose from tca"):
        infer(pair, candidates=("pca",))
    with pytest.raises(InvalidInputError, match="candidates must be names or algorithms, got int"):
        infer(pair, candidates=(3,))


def test_a_candidate_may_be_given_as_a_matrix(pair):
    W = np.eye(12)[:, :11]
    marked = with_labels(pair, pair.target.y, np.arange(len(pair.target)) % 6 == 0)
    given = infer(marked, candidates={"mine": W})
    assert given.choice == "mine"
    np.testing.assert_array_equal(given.W, W)
    assert given.candidates["mine"].rehearsed is None
    for bad in (np.eye(3), np.full((12, 2), np.nan), "W"):
        with pytest.raises(InvalidInputError, match="candidate 'mine' must be"):
            infer(pair, candidates={"mine": bad})


def test_a_random_projection_is_not_taken_for_a_gain(pair):
    """Of 40 random projections to six dimensions, the evidence of 15 labels lets few pass."""
    mask = np.arange(len(pair.target)) % 6 == 0
    marked = with_labels(pair, pair.target.y, mask)
    rng = np.random.default_rng(0)
    projections = {f"random {i}": rng.normal(size=(12, 6)) for i in range(40)}
    each = infer(marked, candidates=projections).candidates
    assert np.mean([each[name].predicted > 1 for name in projections]) < 0.15


def test_fewer_columns_on_request(pair, found):
    small = infer(pair, n_components=4, n_labels=3)
    for name, each in small.candidates.items():
        assert each.W.shape == ((12, 12) if name == "identity" else (12, 4))
    full = np.linalg.svd(found.candidates["classes"].W)[1][:4]
    np.testing.assert_allclose(np.linalg.svd(small.candidates["classes"].W)[1], full)


def test_five_labels_per_class_are_expected_of_any_number_of_classes():
    pair = DomainPair(made().source, Domain(made().target.X))
    for options, n_labels in (({}, 15), ({"n_classes": 7}, 35)):
        assert infer(pair, n_rehearsals=0, **options).n_labels == n_labels


def test_two_known_classes_cannot_rehearse_and_it_says_so():
    found = infer(made(n_source=2), n_labels=3)
    assert found.rehearsal.n_plays == 0
    assert "a rehearsal needs three labelled classes besides the target, got 2" in found.reason
    assert found.candidates["classes"].rehearsed is None


def test_classes_of_few_rows_cannot_rehearse_and_it_says_so():
    """Playing targets of ten rows per class leave too few rows to measure on."""
    found = infer(made(n_source=9, rows=10), n_labels=3)
    assert found.rehearsal.n_plays == 0
    assert "the 9 known classes have too few rows for a rehearsal" in found.reason
    assert found.candidates["classes"].W is not None


def test_a_store_brings_known_classes(pair):
    """A source without labels and a past target with labels: what is known is the past."""
    with open_store("memory://") as store:
        from l2t import collect

        past = made(seed=3)
        collect([past], store, algorithms=["identity"], label_counts=(3,), progress=False)
        known = KnownClasses.of(store)
        assert known.n_classes == 3
        bare = DomainPair(Domain(pair.source.X), pair.target)
        found = infer(bare, known=known, n_labels=3)
        assert found.candidates["classes"].W is not None
        with pytest.raises(
            InvalidInputError, match="known must have the target's 5 features, got 12"
        ):
            infer(DomainPair(Domain(np.eye(5)), Domain(np.eye(5))), known=known)


def test_several_sources_are_known_together(pair):
    first, second = pair.source.take(np.arange(90)), pair.source.take(np.arange(90, 180))
    both = infer(pair.target, sources=[first, second], n_labels=3)
    whole = infer(pair, n_labels=3)
    np.testing.assert_allclose(
        both.candidates["classes"].W, whole.candidates["classes"].W, atol=1e-10
    )


def test_the_same_seed_gives_the_same_result(pair, found):
    again = infer(pair, n_labels=3)
    same_factors(again, found)
    assert again.predicted == found.predicted


def test_stages_are_reported(pair):
    stages = []
    infer(pair, callback=stages.append)
    assert stages == ["known", "rehearsing", "fitting", "choosing"]


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (("photos",), {}, "pair must be a DomainPair, or a target Domain together with sources"),
        ((made(),), {"sources": []}, "pair must be a DomainPair, or a target Domain together"),
        ((made().target,), {}, "pair must be a DomainPair, or a target Domain together"),
        ((made(),), {"method": "guess"}, "method must be 'l2t' or 'paper', got 'guess'"),
        (
            (made(),),
            {"plan": Plan(), "n_components": 5},
            "n_components must be left out if plan is",
        ),
        (
            (made(),),
            {"n_components": 0},
            "n_components must be a whole number of at least 1, got 0",
        ),
        (
            (made(),),
            {"n_rehearsals": -1},
            "n_rehearsals must be a whole number of at least 0, got -1",
        ),
        (
            (made(),),
            {"random_state": "a"},
            "random_state must be a whole number of at least 0, got 'a'",
        ),
        ((made(),), {"known": [1]}, "known must be a KnownClasses"),
        ((made(),), {"candidates": {"identity": np.eye(12)}}, "must not name a matrix 'identity'"),
        (
            (made(),),
            {"candidates": ("gfk",), "method": "paper"},
            "candidates must be left out for the paper's method",
        ),
        ((made(),), {"n_labels": 0}, "n_labels must be a whole number of at least 1, got 0"),
        ((made(),), {"n_classes": 1}, "n_classes must be a whole number of at least 2, got 1"),
    ],
)
def test_what_cannot_be_is_refused(arguments, options, match):
    with pytest.raises(InvalidInputError, match=match):
        infer(*arguments, **options)


def test_a_store_gives_its_targets_and_keeps_rehearsals(pair):
    """The same as with its classes as `known`; the second time nothing is rehearsed."""
    with open_store("memory://") as store:
        store.add(run_on(Domain(made(seed=1).target.X, made(seed=1).target.y)))
        known = infer(pair, known=KnownClasses.of(store), n_rehearsals=2)
        first = infer(pair, store=store, n_rehearsals=2)
        same_factors(first, known)
        assert first.predicted == known.predicted
        assert infer(pair, store=store, n_rehearsals=2).predicted == first.predicted


def test_labelled_rows_say_that_classes_are_shared(pair):
    y = np.resize(pair.source.y, len(pair.target))
    few = np.arange(len(y)) < 12
    together = with_labels(pair, y, few)
    found = infer(together)
    assert found.shared is not None
    assert set(found.candidates) == {"identity", "means", "coral", "gfk", "jda"}
    assert found.candidates[found.choice].chosen
    assert found.verdict == ("no-transfer" if found.choice == "identity" else "transfer")
    assert "equal labels of source and target mean equal classes" in found.reason
    assert found.transform(pair.target.X).shape[0] == len(pair.target)
    assert repr(found.candidates)
    assert infer(together, shared=False).shared is None
    assert infer(pair).shared is None
    assert infer(pair, shared=True, candidates=("gfk",)).shared.trained_on == "source"
    with pytest.raises(InvalidInputError, match="shared=True needs candidates by name"):
        infer(pair, shared=True, method="paper")


def test_a_source_of_noise_costs_nothing_and_is_named(pair):
    rng = np.random.default_rng(0)
    noise = Domain(rng.normal(size=pair.source.X.shape), pair.source.y, name="noise")
    alone = infer(pair.target, sources=[pair.source], n_labels=15)
    found = infer(pair.target, sources=[pair.source, noise], n_labels=15)
    assert found.reason.endswith(", noise (2) not used")
    same_factors(found, alone)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_come_back_as_frames_with_columns_by_their_names(kind):
    frames = pytest.importorskip(kind)
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    source = Domain(rng.normal(size=(60, 4)), np.repeat(np.arange(6), 10), feature_names=names)
    target = Domain(rng.normal(size=(30, 4)), feature_names=names)
    for W in (np.eye(4)[:, :2], None):
        found = infer(DomainPair(source, target), candidates={} if W is None else {"two": W})
        found = dataclasses.replace(found, choice="identity" if W is None else "two")
        frame = frames.DataFrame(dict(zip(names, target.X.T, strict=True)))
        moved = found.transform(frame[["d", "c", "b", "a"]])
        assert type(moved) is type(frame)
        assert list(moved.columns) == (names if W is None else ["x0", "x1"])
        np.testing.assert_allclose(moved.to_numpy(), found.transform(target))
        with pytest.raises(InvalidInputError, match="columns of the target, got none named 'a'"):
            found.transform(frame[["b", "c", "d"]])


def test_results_show_themselves_and_are_saved(tmp_path):
    rng = np.random.default_rng(0)
    source = Domain(rng.normal(size=(60, 4)), np.repeat(np.arange(6), 10))
    found = infer(DomainPair(source, Domain(rng.normal(size=(30, 4)))))
    for text in (found._repr_html_(), found.candidates._repr_html_()):
        assert all(name in text for name in found.candidates)
    assert found.reason in found._repr_html_()
    (axes,) = found.plot().axes
    assert [each.get_text() for each in axes.get_yticklabels()] == list(found.candidates)
    with np.load(found.save(tmp_path / "found.npz"), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["W"], found.W)
        content = json.loads(str(file["json"]))
    assert content["choice"] == found.choice
    assert [each["candidate"] for each in content["candidates"]] == list(found.candidates)


@pytest.mark.parametrize("choice", ["identity", "means"])
def test_a_sparse_identity_transforms_sparse_rows_and_is_saved_without_pickle(choice, tmp_path):
    candidates = Candidates([Candidate(choice, sparse.eye_array(3, format="csr"), predicted=1.0)])
    found = Inference(choice, candidates, "", 3, 3)
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(found.transform(sparse.csr_array(X)), X)
    with np.load(found.save(tmp_path / "found.npz"), allow_pickle=False) as file:
        assert list(file) == ["json"]


def test_the_first_inference_imports_little():
    code = """
import sys
import numpy as np
import l2t

rng = np.random.default_rng(0)
source = l2t.Domain(rng.normal(size=(60, 4)) + np.repeat(np.eye(4), 15, axis=0), np.arange(60) // 15)
l2t.infer(l2t.DomainPair(source, l2t.Domain(rng.normal(size=(30, 4)))))
print(*{"sklearn", "pandas", "scipy.stats", "sqlalchemy", "joblib"} & set(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.stdout.strip(), found.stderr) == ("", "")


@pytest.mark.integration
def test_rows_that_occur_many_times(proves):
    """Rounding is no scatter, and no error of numpy leaves the library."""
    pair, targets = made(), 20
    for seed in range(targets):
        rng = np.random.default_rng(seed)
        distinct = np.eye(12) if seed % 2 else rng.normal(size=(6, 12))
        rows = np.repeat(distinct, rng.integers(6, 12), axis=0)
        known = np.arange(len(rows)) % 7 == 0
        target = Domain(rows, np.arange(len(rows)) % 3, labeled=known)
        found = infer(DomainPair(pair.source, target), candidates=(*FOUR, "tca", "gfk"))
        assert np.isfinite(found.transform(target)).all()
    proves("A target of copies of few rows gives a result", targets, "targets")


def test_the_reason_names_the_ratio_that_is_predicted():
    easy = made(rows=40, seed=3)
    scaled = [Domain(3.0 * each.X[:, :-1], each.y) for each in (easy.source, easy.target)]
    found = infer(DomainPair(*scaled), n_labels=3)
    assert found.verdict == "transfer"
    assert f"by {found.predicted:.3f}" in found.reason


def test_the_function_that_ships_by_its_name_changes_nothing(pair):
    mask = np.arange(len(pair.target)) % 5 == 0
    same = DomainPair(pair.source, Domain(pair.target.X, pair.target.codes, labeled=mask))
    assert infer(same).shared is not None
    assert infer(same, "default").shared is not None


def test_the_history_is_that_of_the_papers_search(pair, found):
    assert found.history == ()
    searched = infer(pair, method="paper")
    assert searched.history == searched.search.history != ()


def test_the_papers_search_remembers_past_targets(pair):
    """Given as known classes, as targets in a store, or as both."""
    past = made(seed=1)
    known = KnownClasses([past.target])
    expected = search(pair, load_reflection("default"), known=known).W
    assert not np.allclose(expected, infer(pair, method="paper").search.W)
    with open_store("memory://") as store:
        collect(past, store, algorithms=["gfk"], label_counts=(3,), n_draws=1, progress=False)
        for memory in ({"known": known}, {"store": store}, {"known": known, "store": store}):
            found = infer(pair, method="paper", **memory)
            np.testing.assert_allclose(found.search.W, expected, atol=1e-8)
            np.testing.assert_array_equal(found.candidates["paper"].W, found.search.W)


def test_a_tie_is_no_reason_to_transfer(pair):
    flat = ReflectionFunction(beta=np.zeros(33), lambda_=0, mu=0, b=1.0)
    found = infer(pair, flat)
    assert (found.choice, found.verdict, found.predicted) == ("identity", "no-transfer", 1.0)


def test_near_copies_in_groups_do_not_raise_the_expected_accuracy(rng):
    X = np.repeat(rng.normal(size=(40, 12)), 5, axis=0) + 0.01 * rng.normal(size=(200, 12))
    labels = {"y": np.repeat(rng.integers(0, 3, 40), 5), "labeled": np.ones(200, dtype=bool)}
    target, groups = Domain(X, **labels), np.repeat(np.arange(40), 5)
    grouped = Domain(X, **labels, groups=groups)
    source = Domain(rng.normal(size=(200, 12)), 10 + np.arange(200) % 5)
    plain, found = (infer(DomainPair(source, each)) for each in (target, grouped))
    assert found.accuracy_without < 0.6 < 0.9 < plain.accuracy_without


def test_algorithms_use_the_labels_of_several_sources(pair):
    codes = np.asarray(pair.source.y)
    hidden = Domain(pair.source.X[codes >= 3], codes[codes >= 3], labeled=codes[codes >= 3] < 5)
    first = Domain(pair.source.X[codes < 3], codes[codes < 3] + 3)  # the same labels, other classes
    found = infer(pair.target, sources=[first, hidden], candidates=("itl", "jda"), n_rehearsals=0)
    labels = np.concatenate([codes[codes < 3], codes[codes >= 3]])
    together = Domain(np.concatenate([first.X, hidden.X]), labels, labeled=labels < 5)
    single = infer(pair.target, sources=[together], candidates=("itl", "jda"), n_rehearsals=0)
    for name in ("itl", "jda"):
        one, other = found.candidates[name].W, single.candidates[name].W
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-6)


def test_sources_without_labels_are_pooled_without_labels(pair):
    sources = [Domain(pair.source.X[:90]), Domain(pair.source.X[90:])]
    found = infer(pair.target, sources=sources, candidates=("itl", "gfk"))
    assert found.candidates["gfk"].W is not None
    assert found.candidates["itl"].reason == "itl needs labels in the source, got none"


def test_rows_that_equal_target_rows_are_reported_where_they_prevent_a_rehearsal(rng):
    cells = np.array([[i >> bit & 1 for bit in range(5)] for i in range(1, 32)], dtype=float)
    source = Domain(np.tile(cells, (6, 1)), np.repeat(np.arange(6), 31))
    found = infer(DomainPair(source, Domain(np.tile(cells, (2, 1)))), n_classes=3)
    rule = "a rehearsal needs three labelled classes besides the target, got 0"
    assert f"{rule} after 186 labelled rows that equal target rows were left out" in found.reason


def test_the_gap_between_many_float32_rows_is_that_of_float64(rng):
    known = KnownClasses([Domain(rng.normal(size=(30, 2)), np.arange(30) % 3)])
    rehearsal = Rehearsal(3, (1,), np.full((1, 1), 0.5), MutualShare(0.5, 30), {}, {})
    X = (10 * rng.normal(size=(200_000, 2)) + 1000).astype(np.float32)
    single, double = (
        meta_features(Domain(rows), known, rehearsal, 1.0, 3) for rows in (X, X.astype(np.float64))
    )
    assert single.gap == pytest.approx(double.gap, rel=1e-9)
