"""Hides cupy from tests with the stand-in driver, which cannot run the kernels of cupy."""

raise ImportError("cupy is hidden: the stand-in driver runs no kernels")
