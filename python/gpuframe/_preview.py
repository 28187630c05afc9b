"""Tables as text: a headline, the schema and the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .table import Table

#: Limits of the preview: rows, columns, and characters of a value.
ROWS, COLUMNS, WIDTH = 5, 12, 24


def headline(table: Table) -> str:
    """Return a description of a table in one line."""
    rows, columns = table.shape
    return f"gpuframe.Table: {_count(rows, 'row')} × {_count(columns, 'column')} on {table._description['device'] or 'no device'}"


def text(table: Table) -> str:
    """Return the schema and the first rows of a table."""
    names, types = table.schema.names[:COLUMNS], table.schema.types[:COLUMNS]
    cells = [[name, kind, *_values(table, i)] for i, (name, kind) in enumerate(zip(names, types))]
    if table.num_columns > COLUMNS:
        cells.append(["…"] * len(cells[0]))
    lines = [headline(table)]
    if cells:
        widths = [max(len(each) for each in column) for column in cells]
        for row in zip(*cells):
            lines.append("  ".join(each.rjust(width) for each, width in zip(row, widths)))
    if table.num_rows > ROWS:
        lines.append(f"… {_count(table.num_rows - ROWS, 'more row', 'more rows')}")
    return "\n".join(lines)


def _values(table: Table, i: int) -> list[str]:
    shown = min(ROWS, table.num_rows)
    try:
        values = table.slice(0, shown).column(i).tolist()
    except Exception:  # noqa: BLE001 - a type that needs pyarrow, or a device that failed: show the rest
        return ["?"] * shown
    return [_short(each) for each in values]


def _short(value: Any) -> str:
    shown = "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    shown = shown.replace("\n", "\\n")
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
