"""Charts of tables."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Optional, Union

from .errors import ArgumentError

if TYPE_CHECKING:
    from .lazy import LazyFrame


class Chart:
    """A chart of a table, which a notebook shows. :meth:`Table.chart` makes it.

    >>> import gpuframe
    >>> table = gpuframe.Table.from_columns({"day": [1, 2, 3], "mean": [4.0, 2.0, 5.5]}, device="host")
    >>> chart = table.chart("line", "day", "mean", title="Means")
    >>> chart.spec["mark"]["type"], chart.svg.startswith("<svg ")
    ('line', True)
    """

    __slots__ = ("spec", "svg", "html")

    #: The specification of Vega-Lite with the data.
    spec: dict[str, Any]
    #: A drawing without scripts and links.
    svg: str
    #: A page with the drawing and the specification, which loads nothing from elsewhere.
    html: str

    def __init__(self, spec: dict[str, Any], svg: str, html: str) -> None:
        self.spec, self.svg, self.html = spec, svg, html

    @classmethod
    def _of(cls, table: LazyFrame, mark: str, x: str, y: Optional[str], color: Optional[str], title: str, width: int, height: int) -> Chart:
        if (y is None) != (mark == "histogram"):
            raise ArgumentError(f"{mark}: y is given for line, bar and points, and not for histogram")
        request = {"mark": mark, "x": x, "y": y or "", "color": color or "", "title": title, "width": width, "height": height}
        run = table._start("chart", None, chart=request)
        run.only()
        answer = run.answer["chart"]
        return cls(answer["spec"], answer["svg"], answer["html"])

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the chart to a file: .html, .svg, or .json for Vega-Lite."""
        extension = os.path.splitext(os.fspath(path))[1].lower()
        texts = {".html": self.html, ".svg": self.svg, ".json": json.dumps(self.spec)}
        if extension not in texts:
            raise ArgumentError(f"the extension of {os.fspath(path)!r} is {extension!r}, expected .html, .svg or .json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(texts[extension])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the forms for a notebook: one that knows Vega-Lite draws the specification, others show the drawing."""
        return {"application/vnd.vegalite.v5+json": self.spec, "image/svg+xml": self.svg, "text/html": self.svg, "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<gpuframe.Chart: {self.spec['mark']['type']}, {len(self.spec['data']['values'])} rows; save() writes it>"
