#!/bin/sh
# Writes the fixtures of zstd_fixtures_test.go: frames of libzstd by the command zstd (1.5.4), for
# contents that python3 makes. Each has the checksum of its contents.
set -eu
cd "$(dirname "$0")"
python3 - <<'PYTHON'
import random, struct

random.seed(1)
words = [bytes(random.choices(b"etaoinshrdlu", k=random.randint(2, 9))) for _ in range(400)]

def text(n):
    data = b""
    while len(data) < n:
        data += random.choice(words) + random.choice([b" ", b" ", b", ", b".\n"])
    return data[:n]

def columns(n):  # int64 keys, prices, and days, one after the other
    keys = b"".join(struct.pack("<q", 4 * i + random.randint(0, 3)) for i in range(n))
    prices = b"".join(struct.pack("<d", round(random.uniform(1, 900), 2)) for _ in range(n))
    days = b"".join(struct.pack("<i", 8000 + random.randint(0, 2500)) for _ in range(n))
    return keys + prices + days

def periods(n):  # records that repeat earlier ones at a few distances
    data = bytearray(random.randbytes(300))
    while len(data) < n:
        distance = random.choice([3, 8, 8, 8, 24, 300])
        data += bytes(data[-distance:])[: random.randint(4, 40)]
        data += random.randbytes(random.choice([0, 0, 1, 3]))
    return bytes(data[:n])

contents = {
    "text": text(140000),
    "columns": columns(2000),
    "periods": periods(135000),
    "codes": bytes(random.choices(range(16), weights=[2 ** -k for k in range(16)], k=40000)),
    "rare": bytes(random.choices(range(256), weights=[1 + (k * k) % 97 for k in range(256)], k=30000)),
    "same": b"a" * 200000 + random.randbytes(500) + b"b" * 70000,
    "changes": b"".join(text(random.randint(200, 4000)) + random.randbytes(random.randint(0, 300)) + b"\0" * random.randint(0, 3000) for _ in range(30)),
    "far": (block := random.randbytes(9000)) + b"".join(b"%d\n" % (7 * k) for k in range(22000)) + block + block[100:],
}
for name, data in contents.items():
    open(name, "wb").write(data)
PYTHON
compress() { # NAME LEVEL...
    name=$1 && shift
    for level; do zstd -q -f --check "-$level" "$name" -o "$name-$level.zst"; done
}
compress text 1 19
compress columns 3 9
compress periods 1 9 19
compress codes 3
compress rare 3
compress same 1 19
compress changes 3 19
compress far 9
zstd -q -f --check --no-content-size -5 <changes >changes-stream.zst
rm text columns periods codes rare same changes far
