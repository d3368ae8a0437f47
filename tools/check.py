"""What `make test` does, in order, one line per stage; the first stage that fails ends it."""
import os, shutil, subprocess, sys, tempfile, time
from filecmp import cmp
from pathlib import Path
from notebooks import ROOT, all_notebooks, run_all
from lint import lint

PACKAGE = ROOT/'mcsvm_lit'

def export_into(folder):
    "Export all notebooks into an empty package below `folder`, away from the tree; returns the package."
    from nbdev.config import get_config
    folder = Path(folder); package = folder/'mcsvm_lit'; package.mkdir()
    shutil.copy(ROOT/'settings.ini', folder); shutil.copytree(ROOT/'nbs', folder/'nbs'); shutil.copy(PACKAGE/'__init__.py', package)
    r = subprocess.run([sys.executable, '-c', 'from nbdev.export import nbdev_export; nbdev_export()'], cwd=folder, capture_output=True, text=True)
    return package, r.stderr if r.returncode else ''

def exported():
    "The package is what the notebooks export: nothing missing, nothing stale, no module without its notebook."
    with tempfile.TemporaryDirectory() as tmp:
        fresh, error = export_into(tmp)
        if error: yield error; return
        new, old = ({f.name for f in p.glob('*.py')} for p in (fresh, PACKAGE))
        yield from (f'mcsvm_lit/{f} has no notebook that exports it: delete it' for f in sorted(old - new))
        yield from (f'mcsvm_lit/{f} is not exported: run nbdev_export' for f in sorted(new - old))
        yield from (f'mcsvm_lit/{f} differs from what its notebook exports: run nbdev_export' for f in sorted(new & old) if not cmp(fresh/f, PACKAGE/f, shallow=False))

def linted():
    "Names that the exported modules use without importing them (their notebooks would not notice)."
    r = subprocess.run([sys.executable, '-m', 'ruff', 'check', '--select', 'F', '--output-format', 'concise', '.'], cwd=ROOT, capture_output=True, text=True)
    if r.returncode: yield r.stdout + r.stderr

def clean():
    "`nbdev_clean` changes nothing: no execution counts, no stray metadata."
    from execnb.nbio import read_nb, nb2str
    from nbdev.clean import clean_nb
    for f in all_notebooks():
        before = f.read_text(encoding='utf-8'); nb = read_nb(f); clean_nb(nb)
        if nb2str(nb) != before: yield f'{f.relative_to(ROOT)} is not clean: run nbdev_clean'

def styled(): yield from lint(all_notebooks())
def front_page():
    r = subprocess.run([sys.executable, ROOT/'tools/readme.py', '--check'], capture_output=True, text=True)
    if r.returncode: yield r.stdout + r.stderr
def compiled():
    from mcsvm_lit.compiled import compile_all
    compile_all(verbose=False); return ()
def notebooks_run(): return [f'--- {nb}\n{out}' for nb, out in run_all(all_notebooks())]

STAGES = [(exported, 'the package is what the notebooks export'), (linted, 'ruff finds no undefined or unused name'), (clean, 'notebooks are clean'),
          (styled, 'notebooks keep the house style'), (front_page, 'README.md is the front page'), (compiled, 'inner loops compile'),
          (notebooks_run, 'every notebook runs and shows what it stores')]

def main():
    os.chdir(ROOT)
    for stage, what in STAGES:
        t = time.time(); bad = list(stage())
        print(f'{"FAILED" if bad else "ok":>6}  {what} ({time.time()-t:.0f} s)', flush=True)
        if bad: print(*bad, sep='\n'); return 1
    print('        pytest over the installed package:', flush=True)
    return subprocess.run([sys.executable, '-m', 'pytest', '-q']).returncode      # 5 when it collects nothing: a failure too

if __name__ == '__main__': sys.exit(main())
