"""Sums and means of vectors by group, against NumPy and exact sums."""

import math

import pytest

import gpuframe
from gpuframe import col, concat_list, when


def vectors():
    """Return keys and three elements of vectors, of magnitudes that floats do not add up exactly in any order."""
    keys = [i * 7 % 5 for i in range(500)]
    elements = [[(i * 7919 % 1009 - 500) * 10.0 ** (i % 23 - 11) * (j + 1) for i in range(500)] for j in range(3)]
    return keys, elements


def query(keys, elements):
    data = {"k": keys, **{f"e{j}": e for j, e in enumerate(elements)}}
    return gpuframe.from_columns(data, device="host").select("k", v=concat_list("e0", "e1", "e2"))


def test_sums_are_exact():
    keys, elements = vectors()
    groups = query(keys, elements).group_by("k").agg(col("v").sum().alias("s")).sort("k").collect().to_pydict()
    for k, sums in zip(groups["k"], groups["s"]):
        assert list(sums) == [math.fsum(x for key, x in zip(keys, e) if key == k) for e in elements]


def test_means_against_numpy():
    numpy = pytest.importorskip("numpy")
    keys, elements = vectors()
    matrix, group = numpy.array(elements).T, numpy.array(keys)
    groups = query(keys, elements).group_by("k").agg(col("v").mean().alias("m")).sort("k").collect().to_pydict()
    for k, means in zip(groups["k"], groups["m"]):
        numpy.testing.assert_allclose(list(means), matrix[group == k].mean(axis=0), rtol=1e-12)


def test_vectors_in_frames_and_nulls():
    keys, elements = vectors()
    data = {"n": list(range(500)), **{f"e{j}": e for j, e in enumerate(elements)}}
    middle = when(col("n") != 3).then(col("e1")).otherwise(None)
    lazy = gpuframe.from_columns(data, device="host").select("n", v=concat_list("e0", middle, "e2"))
    sums = lazy.select("n", s=col("v").sum().over(order_by="n", rows=(-1, 0))).collect().to_pydict()["s"]
    assert list(sums[4]) == [e[4] for e in elements], "the vector with a null is skipped"
    assert list(sums[10]) == [e[9] + e[10] for e in elements]
