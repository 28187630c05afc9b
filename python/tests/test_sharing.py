"""Tables across processes: the same memory, for reading."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

import pytest

import gpuframe
import support
from gpuframe._library import library


@pytest.fixture
def tmp_path():
    """A folder with a path that is short enough for a socket, wherever temporary files are."""
    with tempfile.TemporaryDirectory(dir="/tmp" if len(tempfile.gettempdir()) > 50 else None) as folder:
        yield pathlib.Path(folder)


def served(where, path):
    table = gpuframe.Table.from_columns({"x": range(1_000_000), "y": [0.5] * 1_000_000}, device=where)
    server = gpuframe.serve(path, patience=support.LIMIT)
    server.publish("numbers", table)
    return server


def test_within_a_process(where, tmp_path):
    with served(where, tmp_path / "s") as server, gpuframe.connect(tmp_path / "s", timeout=support.LIMIT) as client:
        (listed,) = client.tables()
        assert (listed.name, listed.rows, listed.columns) == ("numbers", 1_000_000, 2)
        table = client.open("numbers")
        assert table.device.name == where and len(table) == 1_000_000 and table.schema.types == ["int64", "float64"]
        before = gpuframe.device_memory(where).external
        c = table["x"]
        assert before == 0 and gpuframe.device_memory(where).external >= 8_000_000, "it is mapped when it is asked for"
        assert c[7:9].tolist() == [7, 8]
        assert server.tables()[0].references == 1
        with pytest.raises(BufferError, match="read-only"):
            c.__dlpack__()
        assert c.__dlpack__(max_version=(1, 0))
        assert gpuframe.Table.from_arrow(table, device=where)["y"].tolist()[:2] == [0.5, 0.5]
        rows = table.select(["y"])
        assert table.__dlpack_device__() == rows.__dlpack_device__() == c.__dlpack_device__()
        assert rows.__dlpack__(max_version=(1, 0), copy=False) and rows.matrix()["y"].data_ptr == rows["y"].data_ptr
        rows.release()
        table.release()
        assert c[:3].tolist() == [0, 1, 2]


def test_errors(where, tmp_path):
    with pytest.raises(FileNotFoundError):
        gpuframe.connect(tmp_path / "s")
    with served(where, tmp_path / "s") as server:
        with pytest.raises(OSError):
            gpuframe.serve(tmp_path / "s")
        with pytest.raises(ValueError):
            server.publish("numbers", gpuframe.Table.from_columns({"x": [1]}, device=where))
        for seconds in (0, -1, float("nan")):
            with pytest.raises(ValueError, match="timeout is .*, expected a positive number of seconds"):
                gpuframe.connect(tmp_path / "s", timeout=seconds)
            with pytest.raises(ValueError, match="patience is"):
                gpuframe.serve(tmp_path / "t", patience=seconds)
        client = gpuframe.connect(tmp_path / "s", timeout=float("inf"))
        with pytest.raises(KeyError):
            client.open("letters")
        server.withdraw("numbers")
        with pytest.raises(KeyError):
            client.open("numbers")
        assert os.stat(tmp_path / "s").st_mode & 0o777 == 0o600
    with pytest.raises((ConnectionError, gpuframe.GpuframeError)):
        client.tables()
    client.close()
    assert not os.path.exists(tmp_path / "s")


def test_another_process(where, tmp_path):
    program = tmp_path / "reader.py"
    program.write_text(textwrap.dedent(f"""
        import gpuframe
        client = gpuframe.connect({str(tmp_path / "s")!r}, timeout={support.LIMIT})
        table = client.open("numbers")
        c = table["x"]
        assert table.device.name == {where!r}
        assert c[999_998:].tolist() == [999998, 999999]
        print(sum(c.tolist()))
    """))
    with served(where, tmp_path / "s") as server:
        path = os.path.dirname(os.path.dirname(gpuframe.__file__))
        environment = {**os.environ, "PYTHONPATH": path, "GPUFRAME_LIBRARY": library.path}
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment, timeout=support.LIMIT)
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(sum(range(1_000_000))), "")
        assert [each.name for each in server.tables()] == ["numbers"]
    support.settle()
