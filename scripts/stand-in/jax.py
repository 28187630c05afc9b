"""Hides jax from tests with the stand-in driver, which cannot run the kernels of jax."""

raise ImportError("jax is hidden: the stand-in driver runs no kernels")
