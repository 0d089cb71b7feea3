"""Agglomerative merging of package lists by Jaccard distance, as container managers do.

The rule is that of Shaffer, Hazekamp, Blomer & Thain, "Solving the Container Explosion Problem for
Distributed High Throughput Computing", IPDPS 2020, DOI 10.1109/IPDPS47924.2020.00048 (LANDLORD):
specifications whose Jaccard distance is below a threshold share a container that holds their union. Average
linkage stands in for its order of arrival, so that the result does not depend on the order of tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import average, fcluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from partition.features.model import TaskFeatures


def items(features: TaskFeatures) -> frozenset[str]:
    """Return the specification of a class as a set of items."""
    own = f"{features.family}@{features.version}"
    return frozenset(
        {
            f"base:{features.base}",
            f"python:{features.python}",
            *(f"apt:{name}" for name in features.apt),
            *(f"pip:{name}" for name in features.pip),
            *(f"conda:{name}" for name in features.conda),
            *(f"file:{own}:{name}" for name in features.requirement_files),
            *([f"project:{own}"] if features.repo else []),
        }
    )


def jaccard_clusters(
    features: Sequence[TaskFeatures], *, thresholds: int = 12
) -> tuple[NDArray[np.int64], ...]:
    """Return partitions of the classes, from fine to coarse, one for each of at most `thresholds` cuts.

    Returns
    -------
    Labels of shape (n,) for each distinct partition.
    """
    specifications = [items(item) for item in features]
    distinct = sorted({tuple(sorted(item)) for item in specifications})
    position = {item: index for index, item in enumerate(distinct)}
    where = np.array([position[tuple(sorted(item))] for item in specifications], dtype=np.int64)
    if len(distinct) == 1:
        return (np.zeros(len(features), dtype=np.int64),)
    names = {name: column for column, name in enumerate(sorted({name for item in distinct for name in item}))}
    table = np.zeros((len(distinct), len(names)), dtype=np.float32)
    for row, item in enumerate(distinct):
        table[row, [names[name] for name in item]] = 1.0
    shared = table @ table.T
    counts = table.sum(axis=1)
    union = counts[:, None] + counts[None, :] - shared
    distance = 1.0 - shared / union
    tree = average(distance[np.triu_indices(len(distinct), 1)].astype(np.float64))
    heights = np.unique(np.quantile(tree[:, 2], np.linspace(0, 1, thresholds)))
    partitions = [fcluster(tree, t=height, criterion="distance") for height in heights]
    unique = {labels.tobytes(): labels for labels in partitions}
    return tuple(labels[where].astype(np.int64) for labels in unique.values())
