"What all tests share. They need the package installed, and the tree around this folder."

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
settings.load_profile("same every time")
