"""Time the package against its peers, one thread each, in one process.

make bench                              all benchmarks
make bench BENCH="cs_rbf --repeat 5"    some of them
make bench BENCH=--list                 what there is
make bench BENCH=--write                all, and put the tables into benchmarks/README.md
"""

import argparse
import os
import sys

for v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[v] = "1"  # before numpy is imported
import harness
import wzl  # noqa: F401, E402  (a chapter registers its benchmarks when it is imported)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("names", nargs="*", help="benchmarks to run; all when none is named")
    p.add_argument("--repeat", type=int, default=3, help="medians of this many runs (default 3)")
    p.add_argument("--list", action="store_true", help="say what there is")
    p.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    a = p.parse_args()
    if unknown := set(a.names) - set(harness.BENCHMARKS):
        p.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(harness.BENCHMARKS)}"
        )
    if a.list:
        print(*(f"{name:12} {f.title}" for name, f in harness.BENCHMARKS.items()), sep="\n")
        return
    for name in a.names or harness.BENCHMARKS:
        section = harness.measure(name, max(1, a.repeat))
        if a.write:
            harness.write(name, section)


if __name__ == "__main__":
    sys.exit(main())
