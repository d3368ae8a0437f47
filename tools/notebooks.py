"""Run the notebooks, each in a process of its own, and hold what they show against what they store.

    python tools/notebooks.py                 run all; fail on an error or on an output that has changed
    python tools/notebooks.py --store [NB …]  run, and write the outputs into the notebooks
"""
import argparse, base64, io, os, re, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = 'MCSVM_LIT_FIGURES'      # where `figures.save` writes; a check writes beside the tree, never into it
NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?')

def all_notebooks(): return sorted(f for f in (ROOT/'nbs').rglob('*.ipynb') if '.ipynb_checkpoints' not in f.parts)
def name(f): return Path(f).resolve().relative_to(ROOT/'nbs').as_posix()
def text(s): return s if isinstance(s, str) else ''.join(s)

# -- what counts as the same output ---------------------------------------------------------------
def same_text(a, b, rtol=1e-3, atol=1e-9):
    "Equal word for word, numbers up to the last digits that another processor may round differently."
    if a == b: return True
    if NUMBER.split(a) != NUMBER.split(b): return False
    return all(abs(x-y) <= atol + rtol*max(abs(x), abs(y))
               for x, y in ((float(p), float(q)) for p, q in zip(NUMBER.findall(a), NUMBER.findall(b))))

def same_png(a, b, tol=2.):
    "Pictures of one size whose pixels differ by less than `tol` of 255 on average."
    if a == b: return True
    import numpy as np
    from PIL import Image
    A, B = (np.asarray(Image.open(io.BytesIO(base64.b64decode(x))).convert('RGB'), float) for x in (a, b))
    return A.shape == B.shape and abs(A-B).mean() <= tol

def parts(cell):
    "The outputs of a cell as `[(mime type, text)]`, streams joined."
    out = []
    for o in cell.get('outputs', []):
        if o['output_type'] == 'stream':
            if out and out[-1][0] == o['name']: out[-1] = o['name'], out[-1][1] + text(o['text'])
            else: out.append((o['name'], text(o['text'])))
        else: out += [(k, text(v) if isinstance(v, (str, list)) else repr(v)) for k, v in sorted(o.get('data', {}).items())]
    return out

def changed(old, new):
    "The first thing that differs between the stored and the new outputs of a cell, or None."
    a, b = parts(old), parts(new)
    if [k for k, _ in a] != [k for k, _ in b]: return f'stored {[k for k, _ in a]}, now {[k for k, _ in b]}'
    for (k, x), (_, y) in zip(a, b):
        if not (same_png(x, y) if k == 'image/png' else same_text(x, y)):
            return k if k == 'image/png' else f'{k}: stored {x[:200]!r}, now {y[:200]!r}'

def changed_figures(written):
    "Files below `written` that differ from their namesakes in `figures/`."
    for f in sorted(p for p in Path(written).rglob('*') if p.is_file()):
        old = ROOT/'figures'/f.relative_to(written)
        if not old.exists(): yield f'figures/{f.relative_to(written)} is made by this notebook but not in the tree'
        elif f.suffix == '.png':
            if not same_png(base64.b64encode(f.read_bytes()), base64.b64encode(old.read_bytes())): yield f'figures/{f.relative_to(written)} has changed'
        elif not same_text(old.read_text(), f.read_text(), rtol=5e-3, atol=.02): yield f'figures/{f.relative_to(written)} has changed'

# -- one notebook, in this process ------------------------------------------------------------------
def skipped(cell):
    return cell.cell_type != 'code' or 'nbdev_export(' in cell.source or bool(re.search(r'^\s*#\|\s*eval:\s*false', cell.source, re.M | re.I))

def run_one(fn, store):
    from execnb.nbio import read_nb, write_nb
    from execnb.shell import CaptureShell
    from nbdev.clean import clean_nb
    os.environ['IN_TEST'] = '1'
    fn = Path(fn).resolve(); old, new = read_nb(fn), read_nb(fn)
    for c in new.cells:
        if not skipped(c): c.outputs = []
    os.chdir(fn.parent)
    try: CaptureShell(fn, mpl_format='png').run_all(new, exc_stop=True, preproc=skipped)
    except Exception:
        for i, c in enumerate(new.cells):
            for o in c.get('outputs', []):
                if o['output_type'] == 'error': sys.exit(f'cell {i}:\n{c.source}\n\n' + re.sub(r'\x1b\[[0-9;]*m', '', '\n'.join(o['traceback'])))
        raise
    clean_nb(new)
    if store: write_nb(new, fn); return
    bad = [f'{name(fn)}, cell {i}: {d}' for i, (a, b) in enumerate(zip(old.cells, new.cells)) if (d := changed(a, b))]
    bad += [f'{name(fn)}: {d}' for d in changed_figures(os.environ[FIGURES])]
    if bad: sys.exit('\n'.join(bad))

# -- all of them, both cores busy -------------------------------------------------------------------
def start(fn, store):
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, MPLBACKEND='agg', PYTHONHASHSEED='0', OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
        env[FIGURES] = str(ROOT/'figures' if store else tmp)
        t = time.time()
        r = subprocess.run([sys.executable, __file__, '--one', str(fn)] + ['--store']*store, env=env, capture_output=True, text=True)
        return fn, r.returncode, r.stdout + r.stderr, time.time() - t

def run_all(nbs, store=False, jobs=os.cpu_count()):
    "Run `nbs`; returns the failures as `[(notebook, what it printed)]`."
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        for fn, code, out, secs in pool.map(lambda f: start(f, store), nbs):
            print(f'  {"ok    " if code == 0 else "FAILED"} {name(fn)} ({secs:.0f} s)', flush=True)
            if code: failed.append((name(fn), out))
    return failed

if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--store', action='store_true', help='write the outputs into the notebooks')
    p.add_argument('--one', action='store_true', help=argparse.SUPPRESS)
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('notebooks', nargs='*', type=Path)
    a = p.parse_args()
    if a.one: run_one(a.notebooks[0], a.store)
    else:
        failed = run_all(a.notebooks or all_notebooks(), a.store, a.jobs)
        for nb, out in failed: print(f'\n--- {nb}\n{out}', file=sys.stderr)
        sys.exit(bool(failed))
