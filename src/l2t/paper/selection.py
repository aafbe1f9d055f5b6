"""The choice of a reflection function by what its search is worth: the real ratios of the W's that it finds.

Held-out rank correlation, by which `learn` chooses gamma, says how well a function tells the W's of
algorithms apart. That is not what a search needs: the function with the better rank correlation can lead to
worse W's. On validation pairs with labelled targets the worth of a search can be measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience
from l2t.experiences.evaluation import evaluate, improvement_ratio
from l2t.paper.function import Reflection
from l2t.paper.learning import learn
from l2t.paper.plan import Plan
from l2t.paper.search import search
from l2t.paper.starts import Starts
from l2t.paper.table import recompute_statistics
from l2t.typing import Array, JsonObject

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: What is chosen from by default: options of `learn`.
SETTINGS: tuple[dict[str, Any], ...] = tuple(
    {"form": form, "best": best, "gamma": gamma}
    for form, best, gamma in itertools.product(("paper", "convex"), (1.0, 0.5), (1e-2, 1e-4))
)


@dataclass(frozen=True, eq=False)
class SelectionTrial:
    """A function of the selection, and what its search is worth.

    Attributes
    ----------
    settings : dict
        The options of `learn`.
    function : ReflectionFunction or ConvexReflection
        The function learned with them.
    log_ratios : array of shape (pairs,)
        The mean logarithm of the ratios of the searched W on each validation pair.
    """

    settings: JsonObject
    function: Reflection
    log_ratios: Array

    @property
    def ratio(self) -> float:
        """The geometric mean of the ratios over pairs and label counts."""
        return float(np.exp(self.log_ratios.mean()))


@dataclass(frozen=True, eq=False)
class Selection:
    """The result of `select`.

    Attributes
    ----------
    trials : tuple of SelectionTrial
        All functions, in the order of the settings.
    """

    trials: tuple[SelectionTrial, ...]

    @property
    def best(self) -> SelectionTrial:
        """The trial with the highest ratio; of equals the first."""
        return max(self.trials, key=lambda trial: trial.ratio)

    @property
    def function(self) -> Reflection:
        """The function of the best trial; its `training` has the settings and ratios of all trials."""
        compared = [trial.settings | {"ratio": trial.ratio} for trial in self.trials]
        function = self.best.function
        return replace(function, training={**function.training, "selected_from": compared})


def select(  # noqa: PLR0913
    experiences: Iterable[Experience],
    pairs: Iterable[DomainPair],
    *,
    settings: Sequence[Mapping[str, Any]] = SETTINGS,
    plan: Plan | None = None,
    starts: Starts | None = None,
    known: KnownClasses | None = None,
    store: ExperienceStore | None = None,
    label_counts: Sequence[int] = (3, 15, 30),
    n_draws: int = 10,
    random_state: int = 0,
) -> Selection:
    """Learn functions with several settings, and choose by the real ratios of the W's that they lead to.

    Parameters
    ----------
    experiences : iterable of Experience
        What to learn from, as for `learn`.
    pairs : iterable of DomainPair
        Validation pairs with labelled targets, of classes that the experiences do not have. The labels
        measure the W's that were searched; no search reads them.
    settings : sequence of mappings, default=SETTINGS
        The options of `learn` for each function, such as gamma, n_neighbors, best and form; by default both
        forms, all runs or the best half, and gamma 1e-2 or 1e-4.
    plan, starts, known : optional
        How W is searched, as for `search`.
    store : ExperienceStore, optional
        The store of the experiences, needed only for other `n_neighbors`.
    label_counts : sequence of int, default=(3, 15, 30)
        The numbers of labelled target rows over which the logarithms of ratios are averaged.
    n_draws : int, default=10
        The number of draws per label count.
    random_state : int, default=0
        The seed of learning, searches and draws.

    Returns
    -------
    Selection
        `function` is the chosen one.
    """
    past = list(experiences)
    options = [dict(setting) for setting in settings]
    if not options:
        raise InvalidInputError("settings must be one or more mappings, got none")
    by_neighbors: dict[
        Any, list[Experience]
    ] = {}  # statistics are recomputed once for each n_neighbors
    functions = []
    for option in options:
        r, rest = option.get("n_neighbors"), {k: v for k, v in option.items() if k != "n_neighbors"}
        if r not in by_neighbors:
            by_neighbors[r] = list(recompute_statistics(past, store, n_neighbors=r))
        functions.append(learn(by_neighbors[r], random_state=random_state, **rest))

    def log_ratios(pair: DomainPair) -> list[float]:
        """Return the mean logarithm of the ratios of the W that each function leads to."""
        target = pair.target
        blind = DomainPair(pair.source, Domain(target.X, name=target.name))
        measure = partial(
            evaluate,
            label_counts=label_counts,
            n_draws=n_draws,
            groups=target.group_codes,
            random_state=random_state,
        )
        before = measure(target.X, target.codes)
        means = []
        for function in functions:
            W = search(
                blind, function, plan, starts=starts, known=known, random_state=random_state
            ).W
            after = measure(target.X @ W, target.codes)
            ratios = improvement_ratio(before.mean, after.mean, after.n_test)
            means.append(float(np.log(ratios).mean()))
        return means

    rows = [log_ratios(pair) for pair in pairs]
    if not rows:
        raise InvalidInputError("pairs must be one or more, got none")
    return Selection(tuple(map(SelectionTrial, options, functions, np.array(rows).T)))
