"""Tables of Delta Lake and Iceberg, which other writers made."""

from __future__ import annotations

import datetime
import pathlib

import pytest

import gpuframe as gf

LAKE = pathlib.Path(__file__).parents[2] / "lake"
DELTA = LAKE / "delta/testdata/tables/table-with-dv-small/delta"
ICEBERG = LAKE / "iceberg/testdata/duckdb/data/persistent/equality_deletes/warehouse/mydb/mytable"


def rows(query: gf.LazyFrame) -> int:
    return query.select(gf.len().alias("n")).collect(device="host").to_pydict()["n"][0]


@pytest.fixture(autouse=True)
def formats() -> None:
    try:
        gf.scan_delta(DELTA).collect_schema()
    except gf.GpuframeError as problem:
        if "this is the small package" in str(problem):
            pytest.skip("the library is the small one")
        raise


def test_delta() -> None:
    assert rows(gf.scan_delta(DELTA)) == 8
    assert rows(gf.scan_delta(str(DELTA), version=0)) == 10
    assert rows(gf.scan_delta(DELTA, version=datetime.datetime(2100, 1, 1))) == 8
    assert rows(gf.scan_delta(DELTA, version="2100-01-01T00:00:00Z")) == 8
    assert gf.sql(f"select count(*) as n from delta_scan('{DELTA}', version = 0)").collect(device="host").to_pydict() == {"n": [10]}


def test_iceberg() -> None:
    assert rows(gf.scan_iceberg(ICEBERG, moved=True)) == 2
    assert rows(gf.scan_iceberg(ICEBERG, moved=True, ref="main")) == 2
    assert rows(gf.scan_iceberg(ICEBERG, moved=True, timestamp="2100-01-01")) == 2
    assert list(gf.scan_iceberg(ICEBERG, moved=True).collect_schema()) == ["id", "name", "bir"]


def test_errors() -> None:
    with pytest.raises(gf.MissingFileError, match="scan_iceberg.*absent"):
        gf.scan_iceberg("absent").collect(device="host")
    with pytest.raises(gf.ArgumentError, match="expected a time"):
        gf.scan_delta(DELTA, version="yesterday")
    with pytest.raises(gf.GpuframeError, match="version 7"):
        gf.scan_delta(DELTA, version=7).collect(device="host")
    with pytest.raises(gf.GpuframeError, match="snapshot 7"):
        gf.scan_iceberg(ICEBERG, snapshot_id=7).collect(device="host")
