"""Hides numba from tests with the stand-in driver, which cannot run the kernels of numba."""

raise ImportError("numba is hidden: the stand-in driver runs no kernels")
