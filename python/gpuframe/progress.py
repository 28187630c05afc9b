"""Progress of queries that run longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, NamedTuple, Optional, TextIO


class Progress(NamedTuple):
    """The progress of a query. Times are in seconds."""

    #: The rows that the query has read.
    rows: int
    #: The rows that its sources have, or -1 if that is not known.
    of_rows: int
    elapsed: float
    #: The rows read in a second, on average since the begin.
    per_second: float
    #: The time that the other rows take at this rate, or -1 if it is not known.
    left: float
    #: All of it in words.
    text: str


Report = Callable[[Optional[Progress]], object]

#: The seconds after which a query is reported, and between two reports.
SOON, EVERY = 1.0, 0.1

_report: Optional[Report] = None


def report_progress(report: Optional[Report]) -> None:
    """Call a function with the :class:`Progress` of each query that runs longer than a second, and with None at its end.

    It is called ten times a second at most, on the thread that waits for the query. An exception of it ends the query.
    None stops the reports, which is also the beginning. :func:`show_progress` draws it.

    >>> import gpuframe
    >>> gpuframe.report_progress(lambda progress: print(progress.text if progress else "end"))
    >>> gpuframe.report_progress(None)
    """
    global _report
    _report = report


def show_progress(file: Optional[TextIO] = None) -> None:
    """Draw the progress of queries that run longer than a second: on a terminal as a line of standard error, in a notebook as a bar.

    With a file the line goes there.
    """
    display = _notebook() if file is None else None
    report_progress(_Bar(display) if display else _Line(file or sys.stderr))


def _notebook() -> Optional[Callable[..., Any]]:
    """Return the function of IPython that shows something, in a notebook."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    if running is None or type(running).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    shown: Callable[..., Any] = display
    return shown


class _Line:
    """A line on a terminal."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._shown = file, 0

    def __call__(self, progress: Optional[Progress]) -> None:
        text = progress.text if progress else ""
        self._file.write("\r" + text + " " * max(0, self._shown - len(text)) + "\r")
        self._file.flush()
        self._shown = len(text)


class _Bar:
    """A bar in a notebook."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display, self._shown = display, None  # type: Callable[..., Any], Any

    def __call__(self, progress: Optional[Progress]) -> None:
        value = f' value="{progress.rows}" max="{progress.of_rows}"' if progress and progress.of_rows > 0 else ""
        html = f"<progress{value}></progress> {progress.text}" if progress else ""
        data = {"text/html": html, "text/plain": progress.text if progress else ""}
        if self._shown is None:
            self._shown = self._display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)
        if progress is None:
            self._shown = None


class Watch:
    """The reports of one run."""

    def __init__(self) -> None:
        self._report, self._next = _report, time.monotonic() + SOON
        self._begun = False

    def at(self, answer: Optional[dict[str, Any]]) -> None:
        """Report the progress of a run that continues, if it is time."""
        if self._report is None or not answer or time.monotonic() < self._next:
            return
        self._begun, self._next = True, time.monotonic() + EVERY
        self._report(Progress(**answer))

    def end(self) -> None:
        """Report the end, if there was a report."""
        if self._report is not None and self._begun:
            self._begun = False
            self._report(None)
