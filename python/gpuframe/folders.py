"""Files of folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .table import Names, names_of


@dataclass(frozen=True)
class Folder:
    """Files of a folder that a query is written to, for :meth:`LazyFrame.sink_parquet` and the like.

    partition_by are columns with a folder key=value for each value, within each other: integers, decimals, bools, text, dates or timestamps.
    They are not in the files; scans of the folder have them again. file_rows is the most rows of a file, file_bytes its approximate length.

    existing is what happens if the folder has files: "error", "append" (they stay, and new names are added), "overwrite", or
    "overwrite_partitions" (those of the partitions that the result has are replaced). Names that begin with a dot or an underscore do not count.

    More than most_files files are an error. most_open files are written at a time, and rows that wait for the row groups of Parquet files use
    most_bytes of host memory. manifest is the name of a file with the list of all files of the folder in JSON, such as "_manifest.json".
    0 is the usual number.
    """

    partition_by: Names = ()
    file_rows: int = 0
    file_bytes: int = 0
    existing: Literal["error", "append", "overwrite", "overwrite_partitions"] = "error"
    most_files: int = 0
    most_open: int = 0
    most_bytes: int = 0
    manifest: str = ""

    def _document(self) -> dict[str, Any]:
        return {**self.__dict__, "partition_by": names_of(self.partition_by)}
