"""Numerical methods: spans, kernels, graphs, sparse codes, Riemannian conjugate gradient."""

from l2t.numerics.cache import LRUCache
from l2t.numerics.conjugate_gradient import (
    Grassmann,
    Manifold,
    Optimum,
    Sphere,
    ValueAndGradient,
    gradient_error,
    minimize_on_manifold,
)
from l2t.numerics.eigen import (
    leading_eigenpairs,
    leading_eigenpairs_of,
    matrix_power,
    principal_axes,
    two_components,
)
from l2t.numerics.fingerprint import fingerprint
from l2t.numerics.gram import GramSpan
from l2t.numerics.graphs import cosine_graph, mutual_neighbors
from l2t.numerics.kernels import (
    laplacian_product,
    mean_gap_weights,
    mean_squared_distance,
    rbf_kernel,
    squared_distances,
    unit_rows,
)
from l2t.numerics.span import JointSpan, jointly_centred
from l2t.numerics.sparse_coding import SparseCodes, lasso_objective, sparse_codes
from l2t.numerics.threads import few_threads, in_threads, one_thread

__all__ = ["GramSpan", "Grassmann", "JointSpan", "LRUCache", "Manifold", "Optimum", "SparseCodes"]
__all__ += ["Sphere", "ValueAndGradient"]
__all__ += ["cosine_graph", "few_threads", "fingerprint", "gradient_error", "in_threads"]
__all__ += ["jointly_centred"]
__all__ += ["laplacian_product", "lasso_objective", "leading_eigenpairs", "leading_eigenpairs_of"]
__all__ += ["matrix_power", "mean_gap_weights", "mean_squared_distance", "minimize_on_manifold"]
__all__ += ["mutual_neighbors", "one_thread", "principal_axes", "rbf_kernel", "sparse_codes"]
__all__ += ["squared_distances", "two_components", "unit_rows"]
