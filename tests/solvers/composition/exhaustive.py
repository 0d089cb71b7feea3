"""The best composition of a tiny instance by trying every image; shares nothing with the solvers."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.composition.instance import CompositionInstance

Image = tuple[int, frozenset[int]]


def images(instance: CompositionInstance) -> list[Image]:
    """Return every (base, venvs) that keeps to the rules of an image."""
    venvs = range(len(instance.venvs))
    found = []
    for base in range(len(instance.base_sizes)):
        for held in chain.from_iterable(combinations(venvs, count) for count in range(len(venvs) + 1)):
            packages = {p for v in held for p in instance.venvs[v]}
            size = int(instance.base_sizes[base]) + sum(int(instance.sizes[p]) for p in packages)
            clash = any(p in packages and q in packages for p, q in instance.conflicts)
            if all(instance.runs_on[v, base] for v in held) and size <= instance.capacity and not clash:
                found.append((base, frozenset(held)))
    return found


def passes(instance: CompositionInstance, image: Image, i: int) -> Fraction | None:
    """Return the six-digit probability of a class in an image, None where it is not admitted."""
    base, held = image
    packages = {p for v in held for p in instance.venvs[v]}
    if not instance.admitted[i, base] or packages & set(instance.forbids[i]):
        return None
    chances = [float(instance.fallback[i])]
    if instance.class_venvs[i] in held:
        chances.append(float(instance.baked[i]))
    return max(Fraction(round(chance * 10**6), 10**6) for chance in chances)


def best_coverage(instance: CompositionInstance) -> Fraction:
    """Return the largest expected passes."""
    classes = range(len(instance.weights))
    rows = {tuple(passes(instance, image, i) or Fraction(0) for i in classes) for image in images(instance)}
    reached = {tuple(Fraction(0) for _ in classes)}
    for _ in range(instance.max_images):
        reached |= {tuple(map(max, have, row)) for have in reached for row in rows}
    weights = [Fraction(float(weight)) for weight in instance.weights]
    return max(sum((w * p for w, p in zip(weights, have, strict=True)), Fraction(0)) for have in reached)


def fewest_images(instance: CompositionInstance) -> int:
    """Return the least number of images that serve all that some image can serve."""
    served = set()
    for image in images(instance):
        venvs = {("venv", v) for v in image[1]}
        classes = {
            ("class", i)
            for i in range(len(instance.weights))
            if instance.class_venvs[i] in image[1] and passes(instance, image, i) is not None
        }
        served.add(frozenset(venvs | classes))
    everything = frozenset().union(*served)
    reached, count = {frozenset()}, 0
    while everything not in reached:
        reached = {have | more for have in reached for more in served}
        count += 1
    return count
