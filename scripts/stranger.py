"""Use an installed wheel as scripts/stranger.sh does: with nothing but Python's standard library."""

import os

import gpuframe
from gpuframe import col

assert gpuframe.__version__ == os.environ["GPUFRAME_VERSION"], gpuframe.__version__
assert "venv" in gpuframe.__file__, gpuframe.__file__

with open("flights.csv", "w", encoding="utf-8") as file:
    file.write("origin,delay\nOSL,5\nOSL,20\nBRN,30\nOSL,25\n")
groups = gpuframe.scan_csv("flights.csv").filter(col("delay") > 15).group_by("origin").agg(col("delay").mean().alias("mean")).sort("origin").collect()
print(groups)
assert "22.5" in str(groups), groups
