"""The examples in the documentation print the documented output."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["devices", "errors", "column", "table", "files", "sharing", "expressions", "lazy", "sources", "preprocessing", "loaders", "_types"])
def test_examples(name):
    result = doctest.testmod(importlib.import_module("gpuframe." + name))
    assert result.failed == 0
    assert result.attempted > 0 or name in ("files", "sharing", "sources")


def test_everything_public_is_documented():
    import gpuframe

    for name in gpuframe.__all__:
        thing = getattr(gpuframe, name)
        assert thing.__doc__, name
        for method, value in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{method}"
