"""Time the package against its peers, one thread each, in one process.

make bench                              all benchmarks
make bench BENCH="cs_rbf --repeat 5"    some of them
make bench BENCH=--list                 what there is
make bench BENCH=--write                all, and put the tables into benchmarks/README.md
"""

import argparse
import os
import sys
from importlib import import_module

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Each registers its benchmarks when it is imported.
CHAPTERS = "start", "threads", "cs", "ablation", "klr", "tpm", "tkp", "wzl", "probability"
CHAPTERS += "scale", "scale_kernels", "proofs", "cs_path", "losses"


def arguments(parser, known):
    """What the command line asks for; `known` are the names of the benchmarks."""
    parser.add_argument("names", nargs="*", help="benchmarks to run; all when none is named")
    parser.add_argument("--repeat", type=int, default=3, help="medians of so many runs (default 3)")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - set(known))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    return asked


def main():
    for variable in THREADS:
        os.environ[variable] = "1"  # before numpy is imported
    import harness

    for chapter in CHAPTERS:
        import_module(chapter)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked = arguments(parser, harness.BENCHMARKS)
    if asked.list:
        for name, f in harness.BENCHMARKS.items():
            print(f"{name:12} {f.title}")
        return
    for name in asked.names or harness.BENCHMARKS:
        section = harness.measure(name, max(1, asked.repeat))
        if asked.write:
            harness.write(name, section)


if __name__ == "__main__":
    sys.exit(main())
