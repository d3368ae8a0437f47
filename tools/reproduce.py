"""Run the experiments, write figures/, and print ours beside the papers'.

    python tools/reproduce.py           the quick profile: minutes, bundled data only
    python tools/reproduce.py --full    the papers' own sizes, with what MCSVM_LIT_DATA holds; goes on where it was interrupted
"""
import csv, os, sys
from notebooks import ROOT, all_notebooks, run_all

def table(f):
    "A CSV file as aligned text."
    rows = list(csv.reader(f.open(encoding='utf-8'))); widths = [max(map(len, c)) for c in zip(*rows)]
    return '\n'.join('  '.join(v.ljust(w) for v, w in zip(r, widths)).rstrip() for r in rows)

def main(full):
    os.environ['MCSVM_LIT_PROFILE'] = 'full' if full else 'quick'
    nbs = [f for f in all_notebooks() if f.parent.name == 'experiments']
    print(f'Running {len(nbs)} notebook{"s"*(len(nbs) != 1)} of experiments, {os.environ["MCSVM_LIT_PROFILE"]} profile:', flush=True)
    failed = run_all(nbs, store=True)
    for nb, out in failed: print(f'\n--- {nb}\n{out}', file=sys.stderr)
    for f in sorted((ROOT/'figures').glob('*/table_*.csv')): print(f'\n{f.relative_to(ROOT)}\n{table(f)}')
    print(f'\nFigures and tables are in {ROOT/"figures"}')
    return bool(failed)

if __name__ == '__main__': sys.exit(main('--full' in sys.argv))
