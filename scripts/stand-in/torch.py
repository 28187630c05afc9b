"""Hides torch from tests with the stand-in driver, which cannot run the kernels of torch."""

raise ImportError("torch is hidden: the stand-in driver runs no kernels")
