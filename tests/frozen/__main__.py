"""Writes down the public names and the command line as they are now."""

from pathlib import Path

from . import command_line, names

FOLDER = Path(__file__).parent
FILES = {"command_line.txt": command_line.described, "names.txt": names.described}

if __name__ == "__main__":
    for name, described in FILES.items():
        (FOLDER / name).write_text("\n".join(described()) + "\n")
