"""Writes the answers of numpy for business days with holidays: python3 businessdays.py > businessdays.txt"""

import random

import numpy as np

print("# numpy", np.__version__, "by businessdays.py")
random.seed(18)
first, last = np.datetime64("1890-01-01"), np.datetime64("2110-01-01")
for size in (0, 1, 12, 256, 257, 700):
    span = (last - first).astype(int) if size > 12 else 60
    begin = first if size > 12 else np.datetime64("1969-12-01")
    holidays = np.unique([begin + random.randrange(span) for _ in range(size)]).astype("datetime64[D]")
    if size == 12:  # holidays beside each other, on weekends, and twice
        holidays = np.array(["2023-12-22", "2023-12-25", "2023-12-26", "2023-12-27", "2023-12-30", "2023-12-31", "2024-01-01", "2024-01-01",
                             "2024-01-05", "2024-01-08", "2024-01-09", "2024-02-29"], "datetime64[D]")
    print("holidays", *holidays)
    for _ in range(80):
        near = random.choice(holidays) if size and random.random() < 0.7 else begin + random.randrange(span)
        day = near + random.randrange(-8, 9)
        other = near + random.randrange(-40, 41) * random.choice((1, 1, 100))
        n = random.choice((0, 1, -1, 2, -2, 3, -3, random.randrange(-30, 31), random.randrange(-5000, 5001)))
        moved = day
        if n:
            moved = np.busday_offset(day, n, roll="backward" if n > 0 else "forward", holidays=holidays)
        low, high = min(day, other), max(day, other)
        count = int(np.busday_count(low, high, holidays=holidays)) * (1 if other <= day else -1)
        print(day, n, moved, other, count, "true" if np.is_busday(day, holidays=holidays) else "false")
