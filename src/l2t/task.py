"""The task of a transfer: what is asked, decided once for all functions that solve it.

A task says which classes mean the same in source and target, how many labels and classes there are, and which
rows represent the domains. Rows are in an order that depends on their content, so that no answer depends on
their order, and copies of a row are in one group, so that they are never on both sides of a split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from l2t.domains import Domain, KnownClasses
from l2t.domains.copies import join_copies
from l2t.domains.domain import is_wide
from l2t.domains.draw import LANDMARKS, representative, target_rows
from l2t.domains.labels import unify_labels
from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray, Indices, Label
from l2t.validation import seed, whole_number

#: Defaults for the number of classes and of labels per class of a target without labelled rows.
N_CLASSES = 3
ASSUMED_SHOTS = 5
#: Maximum number of rows, of all domains together, for sparse matrices of very many features: memory and time
#: grow with its square and cube.
MAX_WIDE_ROWS = 2000


@dataclass(frozen=True)
class ClassRoles:
    """The classes of labelled rows in both domains, in sources only, and in the target only."""

    both: tuple[Label, ...]
    source_only: tuple[Label, ...]
    target_only: tuple[Label, ...]

    @classmethod
    def of(cls, sources: Sequence[Domain], target: Domain) -> ClassRoles:
        """Return the roles of the classes; labels of target rows that are not marked are not read."""
        in_sources = dict.fromkeys(
            name for source in sources for name in _labeled_classes(source, default=True)
        )
        in_target = _labeled_classes(target, default=False)
        both = tuple(name for name in in_sources if name in in_target)
        return cls(
            both,
            tuple(name for name in in_sources if name not in both),
            tuple(name for name in in_target if name not in both),
        )

    @property
    def of_sources(self) -> tuple[Label, ...]:
        """All classes of the sources."""
        return self.both + self.source_only

    @property
    def every(self) -> tuple[Label, ...]:
        """All classes."""
        return self.both + self.source_only + self.target_only

    def are_shared(self, shared: bool | None = None, *, unlabeled: bool = False) -> bool:
        """Return whether equal labels of source and target mean equal classes.

        Parameters
        ----------
        shared : bool, optional
            What the user says; by default a class in both domains says that they do.
        unlabeled : bool, default=False
            The default if no target row is labelled, or only rows of one class.

        Returns
        -------
        bool
        """
        if shared is not None:
            return shared
        if unlabeled and len(self.both) + len(self.target_only) < 2:
            return bool(self.of_sources)  # a target has at least two classes
        return bool(self.both)


def _labeled_classes(domain: Domain, *, default: bool) -> list[Label]:
    codes = np.unique(domain.codes[domain.labeled_rows(default=default)])
    return [domain.classes[code] for code in codes if code >= 0]


@dataclass(frozen=True, eq=False)
class Task:
    """Sources and a target, ready to be solved.

    Attributes
    ----------
    sources : tuple of Domain
        The sources, each with at most 20,000 rows, or fewer of very many features.
    target : Domain
        The rows that represent the target: first those that were drawn without regard to labels, then the
        other labelled ones.
    n_drawn : int
        The number of the former; every W is fitted to them alone.
    whole_target : Domain
        The target with all its rows in the order of the user.
    rows : int array of shape (n,)
        The indices of the rows of `target` among those of `whole_target`.
    roles : ClassRoles
        Which classes source and target have.
    shared : bool
        Whether equal labels of source and target mean equal classes.
    n_labels : int
        The number of labelled target rows, or the number that is assumed.
    n_classes : int
        The number of classes of the target.
    random_state : int
        The seed.
    copies : str
        A sentence on copies of rows; empty if there are none.
    """

    sources: tuple[Domain, ...]
    target: Domain
    n_drawn: int
    whole_target: Domain
    rows: Indices
    roles: ClassRoles
    shared: bool
    n_labels: int
    n_classes: int
    random_state: int
    copies: str = ""

    @classmethod
    def of(
        cls,
        sources: Sequence[Domain],
        target: Domain,
        *,
        shared: bool | None = None,
        shared_if_unlabeled: bool = False,
        n_labels: int | None = None,
        n_classes: int | None = None,
        random_state: int = 0,
    ) -> Task:
        """Decide on the task.

        Parameters
        ----------
        sources : sequence of Domain
            The sources, with the columns of the target in the same order.
        target : Domain
            The target.
        shared : bool, optional
            Whether equal labels of source and target mean equal classes; by default a class in both says so.
        shared_if_unlabeled : bool, default=False
            The default of `shared` if no target row is labelled, or only rows of one class.
        n_labels : int, optional
            The number of labels to assume; by default that of the labelled rows, or five per class.
        n_classes : int, optional
            The number of target classes; by default that of the labelled rows, or 3.
        random_state : int, default=0
            The seed.

        Returns
        -------
        Task

        Raises
        ------
        InvalidInputError
            `n_labels` or `n_classes` contradicts the labelled rows.
        """
        *origins, whole = unify_labels([*sources, target])
        n_classes = _class_count(whole, n_classes)
        n_labels = _label_count(whole, n_labels, n_classes)
        roles = ClassRoles.of(origins, whole)
        counts = _row_counts(whole, origins)
        rows = target_rows(whole, seed(random_state), counts.drawn, counts.labeled)
        copies = join_copies(
            whole.take(rows),
            [
                representative(source, random_state, most)
                for source, most in zip(origins, counts.sources, strict=True)
            ],
        )
        return cls(
            sources=tuple(copies.sources),
            target=copies.target,
            n_drawn=min(counts.drawn, len(whole)),
            whole_target=whole,
            rows=rows,
            roles=roles,
            shared=roles.are_shared(shared, unlabeled=shared_if_unlabeled),
            n_labels=n_labels,
            n_classes=n_classes,
            random_state=random_state,
            copies=copies.sentence,
        )

    @property
    def is_sampled(self) -> bool:
        """Whether the target has more rows than those that were drawn."""
        return self.n_drawn < len(self.whole_target)

    @property
    def drawn(self) -> Domain:
        """The target rows that were drawn without regard to labels."""
        if self.n_drawn == len(self.target):
            return self.target
        return self.target.take(np.arange(self.n_drawn))

    @property
    def domains(self) -> list[Domain]:
        """The target, and the sources after it."""
        return [self.target, *self.sources]

    def with_domains(self, domains: Sequence[Domain]) -> Task:
        """Return the task with other features of the target and the sources after it."""
        target, *sources = domains
        return replace(self, target=target, sources=tuple(sources))

    def with_classes(self, n_classes: int) -> Task:
        """Return the task with another number of classes, and of labels if no target row is labelled."""
        labeled = int(self.target.labeled_rows(default=False).sum())
        return replace(self, n_classes=n_classes, n_labels=labeled or ASSUMED_SHOTS * n_classes)

    def divided_by(self, columns: AnyArray) -> Task:
        """Return the task with each column of all domains divided by a number."""
        return self.with_domains(
            [
                domain.with_features(domain.X / columns, feature_names=domain.feature_names)
                for domain in self.domains
            ]
        )

    def only(self, places: Sequence[int]) -> Task:
        """Return the task with some of the sources."""
        return replace(self, sources=tuple(self.sources[place] for place in places))

    def known_classes(self, further: Sequence[KnownClasses] = ()) -> KnownClasses:
        """Return the classes of the sources and further ones, without rows of the target.

        Parameters
        ----------
        further : sequence of KnownClasses, default=()
            Further known classes with the same features.

        Returns
        -------
        KnownClasses
        """
        classes = KnownClasses.in_given_order(self.sources).without(self.whole_target)
        for known in further:
            classes = classes.merge(known.without(self.whole_target))
        return classes


@dataclass(frozen=True)
class _RowCounts:
    """Maximum numbers of drawn and labelled target rows, and of rows of each source."""

    drawn: int
    labeled: int
    sources: tuple[int, ...]


def _row_counts(target: Domain, sources: Sequence[Domain]) -> _RowCounts:
    """Return at most how many rows represent each domain.

    Sparse matrices of very many features have `MAX_WIDE_ROWS` in all, divided equally, but what one of them
    leaves over goes to the others.
    """
    n_labeled = int(target.labeled_rows(default=False).sum())
    sizes = np.array([len(target), n_labeled, *map(len, sources)])
    fits = sizes.sum() - n_labeled <= MAX_WIDE_ROWS
    if fits or not any(is_wide(domain.rows) for domain in (target, *sources)):
        return _RowCounts(LANDMARKS, LANDMARKS, (LANDMARKS,) * len(sources))
    left, counts = MAX_WIDE_ROWS, np.zeros_like(sizes)
    for place, number in enumerate(np.argsort(sizes, kind="stable")):
        counts[number] = min(sizes[number], left // (len(sizes) - place))
        left -= counts[number]
    drawn, labeled, *of_sources = counts.tolist()
    return _RowCounts(drawn, labeled, tuple(of_sources))


def _label_count(target: Domain, n_labels: int | None, n_classes: int) -> int:
    """Return the number of labelled target rows: of those marked, or else as given, or five per class."""
    marked = int(target.labeled_rows(default=False).sum())
    if not marked:
        return (
            ASSUMED_SHOTS * n_classes
            if n_labels is None
            else whole_number("n_labels", n_labels, least=1)
        )
    if n_labels not in (None, marked):
        raise InvalidInputError(
            f"n_labels must be the number of labelled target rows ({marked}) or be left out, "
            f"got {n_labels!r}"
        )
    return marked


def _class_count(target: Domain, n_classes: int | None) -> int:
    """Return the number of target classes: as given, or of the labelled rows, or 3."""
    seen = len(np.unique(target.codes[target.labeled_rows(default=False)]))
    if n_classes is None:
        return seen if seen > 1 else N_CLASSES
    wanted = whole_number("n_classes", n_classes, least=2)
    if wanted < seen:
        raise InvalidInputError(
            f"n_classes must be at least {seen}, the classes of the labelled rows, got {n_classes!r}"
        )
    return wanted
