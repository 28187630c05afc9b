"""Files of a web server on this machine."""

from __future__ import annotations

import http.server
import pathlib
import threading
from collections.abc import Iterator

import pytest

import gpuframe as gf

TEXT = b"city,price\nOslo,3\nBergen,5\nOslo,7\n"


class Files(http.server.BaseHTTPRequestHandler):
    """Serves ranges of /sales.csv to those that know the signature, and counts them."""

    ranges = 0

    def do_GET(self) -> None:
        if self.path != "/sales.csv?signature=secret":
            self.send_error(404 if "secret" in self.path else 403)
            return
        first, end = 0, len(TEXT)
        asked = self.headers.get("Range")
        if asked:
            Files.ranges += 1
            low, high = asked.removeprefix("bytes=").split("-")
            first, end = int(low), int(high) + 1
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(TEXT)}")
        else:
            self.send_response(200)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(end - first))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(TEXT[first:end])

    do_HEAD = do_GET

    def log_message(self, *arguments: object) -> None:
        """Logs nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{files.server_port}"
        files.shutdown()


def test_urls(server: str) -> None:
    url = server + "/sales.csv?signature=secret"
    table = gf.scan_csv(url).group_by("city").agg(gf.col("price").sum()).sort("city").collect(device="host")
    assert table.to_pydict() == {"city": ["Bergen", "Oslo"], "price": [5, 10]}
    assert "secret" not in gf.scan_csv(url).explain()


def test_errors_of_urls(server: str) -> None:
    with pytest.raises(FileNotFoundError) as absent:
        gf.scan_csv(server + "/other.csv?signature=secret").collect()
    assert "secret" not in str(absent.value)
    with pytest.raises(OSError):
        gf.scan_csv(server + "/sales.csv?signature=wrong").collect()
    with pytest.raises(ValueError, match="is not registered"):
        gf.scan_csv("hdfs://bucket/sales.csv").collect()


def test_object_cache(server: str, tmp_path: pathlib.Path) -> None:
    url = server + "/sales.csv?signature=secret"
    folder = tmp_path / "cache"
    gf.set_object_cache(folder, "1 MiB")
    try:
        begin = Files.ranges
        gf.scan_csv(url).collect(device="host")
        first = Files.ranges - begin
        assert first > 0
        profile = gf.scan_csv(url).profile(device="host")[1]
        assert Files.ranges == begin + first
        assert "from the cache" in str(profile)
        for path in folder.rglob("*"):
            assert "secret" not in str(path)
    finally:
        gf.set_object_cache(None)
    gf.scan_csv(url).collect(device="host")
    assert Files.ranges > begin + first
    with pytest.raises(ValueError, match="expected the path of a folder"):
        gf.set_object_cache("")
    with pytest.raises(ValueError, match="is not a size"):
        gf.set_object_cache(folder, "much")
