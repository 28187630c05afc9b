"""docs/polars.md has the names of the package as they are."""

import polars_table
import pytest


def test_the_page_is_fresh():
    if not polars_table.PAGE.exists():
        pytest.skip("the documents are not here")
    assert polars_table.PAGE.read_text() == polars_table.page(), "run python3 python/tests/polars_table.py"


def test_other_names_exist():
    listed = polars_table.names()
    for name, (other, _) in polars_table.OTHERS.items():
        assert name in listed, name
        assert not polars_table.exists(name), f"{name} exists: take it out of OTHERS"
        assert polars_table.exists(other), other
