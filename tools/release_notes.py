"""Print what the changelog says about the version in settings.ini: the notes of its release.

python tools/release_notes.py           the newest version
python tools/release_notes.py v0.1.0    fail unless this tag names that version
"""

import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(version, changelog):
    """The section of the changelog about a version, without its heading; None if there is none."""
    heading = rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)"
    section = re.search(heading, changelog, re.M | re.S)
    return section[1].strip() if section else None


def main():
    ini = ConfigParser()
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    version = ini["DEFAULT"]["version"]
    tag = "".join(sys.argv[1:2])
    if tag and tag != f"v{version}":
        return f"The tag {tag} is not v{version}, the version of settings.ini."
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    if not cited or cited[1].strip("\"'") != version:
        return f"CITATION.cff does not name version {version}."
    text = notes(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if text is None:
        return f"CHANGELOG.md has no section about {version}."
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
