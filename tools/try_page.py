"""Run the cells of a page that was downloaded, as its reader does: in an empty folder, with the
package and its extras and nothing else.

    python tools/try_page.py PAGE
"""

import json
import linecache
import sys
from pathlib import Path
from types import ModuleType


def run(page):
    """Run the code cells of a notebook one after the other, in a `__main__` of their own."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    for i, cell in enumerate(json.loads(Path(page).read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            source, name = "".join(cell["source"]), f"cell {i}"
            linecache.cache[name] = len(source), None, source.splitlines(True), name
            exec(compile(source, name, "exec"), main.__dict__)


if __name__ == "__main__":
    run(sys.argv[1])
