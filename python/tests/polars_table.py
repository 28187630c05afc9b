"""Writes docs/polars.md, the table of Polars' names: python3 python/tests/polars_table.py"""

import pathlib

import gpuframe
from gpuframe import preprocessing

NAMES = pathlib.Path(__file__).parent / "testdata" / "polars_names.txt"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "polars.md"

_AGGREGATES = ("first", "implode", "last", "max", "mean", "median", "min", "n_unique", "quantile", "std", "sum", "var", "cum_sum", "cum_count")
_ROLLING = ("max", "mean", "median", "min", "quantile", "std", "sum", "var")

#: Names that gpuframe has by another name, and a remark.
OTHERS = {
    "Expr.struct.field": ("Expr.field", ""),
    "Expr.map_elements": ("Expr.map_batches", "the function gets batches"),
    **{"Expr." + name: ("Expr." + operator, "an operator") for name, operator in [
        ("add", "__add__"), ("sub", "__sub__"), ("mul", "__mul__"), ("truediv", "__truediv__"), ("floordiv", "__floordiv__"), ("mod", "__mod__"),
        ("pow", "__pow__"), ("neg", "__neg__"), ("and_", "__and__"), ("or_", "__or__"), ("eq", "__eq__"), ("ne", "__ne__"), ("lt", "__lt__"),
        ("le", "__le__"), ("gt", "__gt__"), ("ge", "__ge__")]},
    "Expr.dt.to_string": ("Expr.dt.strftime", ""),
    "Expr.str.to_date": ("Expr.str.strptime", ""),
    "Expr.str.to_datetime": ("Expr.str.strptime", ""),
    "Expr.str.to_time": ("Expr.str.strptime", ""),
    "Expr.str.concat": ("Expr.str.join", ""),
    "Expr.str.split_exact": ("Expr.str.split_fields", ""),
    "Expr.max_by": ("Expr.at_max", ""),
    "Expr.min_by": ("Expr.at_min", ""),
    "Expr.len": ("len", ""),
    **{f"Expr.rolling_{name}": ("Expr.over", f"{name}().over(…, order_by=…, rows=…)") for name in _ROLLING},
    **{f"Expr.rolling_{name}_by": ("Expr.over", f"{name}().over(…, order_by=…, range=…)") for name in _ROLLING},
    "LazyFrame.group_by_dynamic": ("LazyFrame.resample", ""),
    "Expr.arr.dot": ("Expr.list.dot", ""),
    "LazyFrame.join_where": ("LazyFrame.join", "where="),
    "LazyFrame.columns": ("LazyFrame.collect_schema", ""),
    "LazyFrame.dtypes": ("LazyFrame.collect_schema", ""),
    "LazyFrame.schema": ("LazyFrame.collect_schema", ""),
    "LazyFrame.with_row_count": ("LazyFrame.with_row_index", ""),
    "LazyFrame.melt": ("LazyFrame.unpivot", ""),
    "LazyFrame.sink_batches": ("LazyFrame.collect_batches", ""),
    "LazyFrame.show_graph": ("LazyFrame.explain", "format="),
    **{name: ("Expr." + name, "a method") for name in _AGGREGATES},
    "arctan2": ("Expr.arctan2", "a method"),
    "count": ("len", ""),
    "from_dict": ("from_columns", ""),
    "read_delta": ("scan_delta", ""),
    "read_ndjson": ("scan_ndjson", ""),
    "union": ("concat", ""),
}

#: Classes by Polars' names.
_ROOTS = {"Expr": gpuframe.col("x"), "LazyFrame": gpuframe.LazyFrame, "LazyGroupBy": gpuframe.GroupBy, "preprocessing": preprocessing}


def exists(name):
    """Return whether gpuframe has a name."""
    first, *rest = name.split(".")
    if first not in _ROOTS:
        return first in gpuframe.__all__ and not rest
    thing = _ROOTS[first]
    for part in rest:
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def names():
    return [line for line in NAMES.read_text().splitlines() if not line.startswith("#")]


def _list(wanted):
    return ", ".join(f"`{name}`" for name in wanted)


def _section(title, listed, short):
    same = [name for name in listed if exists(name)]
    others = [name for name in listed if name not in same and name in OTHERS]
    missing = [name for name in listed if name not in same and name not in OTHERS]
    lines = [f"## {title}", "", f"{len(same)} of {len(listed)} names are the same, {len(others)} have another name, {len(missing)} are missing.", ""]
    if same:
        lines += ["**The same**: " + _list(map(short, same)), ""]
    if others:
        lines += ["| Polars | gpuframe | |", "| --- | --- | --- |"]
        lines += [f"| `{short(name)}` | `{OTHERS[name][0]}` | {OTHERS[name][1]} |" for name in others] + [""]
    if missing:
        lines += ["**Missing**: " + _list(map(short, missing)), ""]
    return lines


def page():
    """Return the text of the page."""
    listed = names()

    def after(prefix):
        return lambda name: name[len(prefix):]

    groups = [("Expressions", "Expr."), ("LazyFrame", "LazyFrame."), ("GroupBy", "LazyGroupBy.")]
    lines = ["# Polars' names in gpuframe", "",
             "`python3 python/tests/polars_table.py` writes this page from the names of Polars' reference documentation and of the Python package; a test compares them. "
             "The same name has Polars' meaning unless its docstring states a difference; arguments may be fewer.", ""]
    for title, prefix in groups:
        lines += _section(title, [name for name in listed if name.startswith(prefix)], after(prefix))
    lines += _section("Functions", [name for name in listed if "." not in name], lambda name: name)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
