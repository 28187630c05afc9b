"""The package as type checkers see it: it has no errors, and results of tables have types."""

import os
import subprocess
import sys

import pytest

import gpuframe
import support

PACKAGE = os.path.dirname(gpuframe.__file__)
PROGRAM = """
import gpuframe
from typing import List, Tuple

table: gpuframe.Table = gpuframe.read_parquet("x.parquet", columns="delay", device="cuda:0")
column: gpuframe.Column = table["delay"]
other: gpuframe.Column = table[0]
part: gpuframe.Table = table[1:3]
some: gpuframe.Table = table[["delay", "distance"]]
nulls: int = table["delay"].null_count
shape: Tuple[int, int] = table.head(3).rename({"a": "b"}).drop("c").shape
on: Tuple[int, int] = column.__dlpack_device__()
names: List[str] = table.schema.names
size: int = gpuframe.device_memory("cuda:0").in_use
query: gpuframe.LazyFrame = table.lazy().filter(gpuframe.col("x") > 1, ~gpuframe.col("y")).sort("x", descending=[True])
total: gpuframe.Expr = (1 + gpuframe.col("x").str.len_chars()).filter(gpuframe.col("y") == 2).sum().alias("z")
result: gpuframe.Table = query.group_by("x", gpuframe.col("y")).agg(total, n=gpuframe.len()).collect(device="host")
with gpuframe.budget("2 GB", device=table.device) as budget, table:
    peak: int = budget.peak
with gpuframe.connect("/tmp/x") as client:
    opened: gpuframe.Table = client.open("flights")
"""
MISTAKES = ['gpuframe.Table.from_columns({}).colunm("x")', 'gpuframe.Table.from_columns({})["x"].nul_count', "gpuframe.budget(b'x')",
            "gpuframe.Table.from_columns({})[1.5]", 'gpuframe.scan_parquet("x").fliter(gpuframe.col("x"))', 'gpuframe.scan_csv("x", header=True)', "gpuframe.col(1)"]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        environment = {**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)}
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--python-version", "3.9" if sys.version_info < (3, 13) else "3.13",
                               "--cache-dir", str(cache), *arguments], capture_output=True, text=True, env=environment, timeout=support.LIMIT,
                              cwd=os.path.dirname(PACKAGE))

    return run


def test_the_package_has_no_errors(mypy):
    done = mypy("-p", "gpuframe", "--ignore-missing-imports")
    assert done.returncode == 0, done.stdout + done.stderr


def test_users_see_types(mypy, tmp_path):
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = mypy(str(program), "--ignore-missing-imports")
    assert done.returncode == 0, done.stdout + done.stderr
    program.write_text("import gpuframe\n" + "\n".join(MISTAKES))
    done = mypy(str(program), "--ignore-missing-imports")
    assert done.stdout.count("error:") == len(MISTAKES), done.stdout
