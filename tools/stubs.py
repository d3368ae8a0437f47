"""Write the stubs of the package and its chapters, which say where each public name is defined.

Names are loaded when they are first asked for, so that no editor sees them in `__init__.py`.

    python tools/stubs.py            write them; `make export` does
    python tools/stubs.py --check    fail if they are not what they would be
"""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "mcsvm_lit"
HEAD = "# Written by tools/stubs.py, for editors and type checkers.\n"


def stub(module):
    """The text of the stub of a package."""
    offered = {name: getattr(module, name).__module__ for name in module.__all__}
    lines = [
        f"from {home} import {name} as {name}"
        for home, name in sorted((home, name) for name, home in offered.items())
    ]
    names = "".join(f'    "{name}",\n' for name in module.__all__)
    version = ["__version__: str"] if module.__name__ == PACKAGE else []
    return formatted(HEAD + "\n".join([*lines, "", *version, f"__all__ = [\n{names}]", ""]))


def formatted(text):
    """The text as ruff orders its imports and lays it out."""
    for command in (["check", "-q", "--fix", "--select", "I"], ["format", "-q"]):
        command = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "__init__.pyi", "-"]
        text = subprocess.run(
            command, input=text, text=True, check=True, capture_output=True
        ).stdout
    return text


def stubs():
    """The stubs of all packages that offer names, as `{file: text}`."""
    sys.path.insert(0, str(ROOT))
    top = import_module(PACKAGE)
    found = [m.name for m in walk_packages(top.__path__, f"{PACKAGE}.") if m.ispkg]
    packages = [top, *map(import_module, found)]
    return {
        Path(m.__file__).with_suffix(".pyi"): stub(m) for m in packages if hasattr(m, "__all__")
    }


def main():
    if "--check" not in sys.argv:
        for file, text in stubs().items():
            file.write_text(text, encoding="utf-8")
        return 0
    stale = [
        file
        for file, text in stubs().items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    for file in stale:
        print(f"{file.relative_to(ROOT)} is not up to date: run make export")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
