"""Charts of tables, and the progress of queries."""

import io
import json
import threading

import pytest

import gpuframe
from gpuframe import progress


def table():
    return gpuframe.Table.from_columns({"day": [1, 2, 3], "mean": [4.0, 2.0, 5.5], "site": [True, False, True]}, device="host")


def test_chart_in_a_notebook():
    chart = table().chart("points", "day", "mean", color="site", title="Means")
    bundle = chart._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["data"]["values"][1] == {"x": 2, "y": 2, "color": "false"}
    assert bundle["image/svg+xml"] == chart._repr_html_()
    assert "point, 3 rows" in repr(chart)


def test_chart_files(tmp_path):
    chart = table().chart("histogram", "mean")
    for name, begins in {"a.html": "<!doctype html>", "a.svg": "<svg ", "a.json": "{"}.items():
        chart.save(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(begins)
    assert json.loads((tmp_path / "a.json").read_text()) == chart.spec
    with pytest.raises(gpuframe.ArgumentError, match="expected .html, .svg or .json"):
        chart.save(tmp_path / "a.png")


def test_an_interrupt_cancels_a_chart(monkeypatch):
    """The signal comes between two waits for the chart, and the release of the run cancels it. No memory is held then."""
    library = gpuframe._library.library
    waits = []

    def interrupted(handle, *arguments, wait=library.run_wait):
        waits.append(handle)
        raise KeyboardInterrupt

    data = table()
    monkeypatch.setattr(library, "run_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data.chart("histogram", "mean")
    monkeypatch.undo()
    assert len(waits) == 1
    assert data.chart("histogram", "mean").svg.startswith("<svg ")
    data.release()
    with pytest.raises(gpuframe.ReleasedError):
        data.chart("histogram", "mean")


def test_chart_errors():
    with pytest.raises(gpuframe.ArgumentError, match='no chart is called "pie"'):
        table().chart("pie", "day", "mean")
    with pytest.raises(gpuframe.ArgumentError, match="line: y is given"):
        table().chart("line", "day")
    with pytest.raises(gpuframe.ArgumentError, match="of the vertical axis is bool"):
        table().chart("line", "day", "site")
    with pytest.raises(gpuframe.QueryError, match='no column is called "dy"'):
        table().chart("line", "dy", "mean")
    with pytest.raises(gpuframe.ArgumentError, match="width is a value of JSON's type string, expected an integer"):
        table().chart("line", "day", "mean", width="wide")
    with pytest.raises(gpuframe.ArgumentError, match="x is a value of JSON's type number, expected a text"):
        table().chart("line", 1, "mean")


@pytest.fixture
def reports(monkeypatch):
    """Report each wait of a run, also of short ones."""
    reported, second = [], threading.Event()

    def report(each):
        reported.append(each)
        if len(reported) == 2:
            second.set()

    monkeypatch.setattr(progress, "SOON", -1.0)
    monkeypatch.setattr(progress, "EVERY", -1.0)
    gpuframe.report_progress(report)
    yield reported, second
    gpuframe.report_progress(None)


def test_progress(reports):
    reported, second = reports

    def slow(values):
        assert second.wait(60)
        return values

    column = gpuframe.col("day").map_batches(slow, return_dtype="int64")
    assert len(table().lazy().with_columns(column.alias("twice")).collect(device="host")) == 3
    assert reported[-1] is None
    first = reported[0]
    assert isinstance(first, gpuframe.Progress) and first.elapsed >= 0 and "rows" in first.text


def test_line_is_removed():
    file = io.StringIO()
    gpuframe.show_progress(file)
    try:
        line = progress._report
        line(gpuframe.Progress(5, 10, 1.0, 5.0, 1.0, "5 of 10 rows"))
        line(None)
    finally:
        gpuframe.report_progress(None)
    assert file.getvalue() == "\r5 of 10 rows\r\r" + " " * 12 + "\r"


def test_bar_of_a_notebook():
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/html"])

    def display(data, raw, display_id):
        shown.append(data["text/html"])
        return Handle()

    bar = progress._Bar(display)
    bar(gpuframe.Progress(5, 10, 1.0, 5.0, 1.0, "half"))
    bar(gpuframe.Progress(6, -1, 1.0, 5.0, 1.0, "more"))
    bar(None)
    assert shown == ['<progress value="5" max="10"></progress> half', "<progress></progress> more", ""]
