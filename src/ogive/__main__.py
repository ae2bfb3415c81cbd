"""`python -m ogive`: runs the `ogive` command."""

from __future__ import annotations

import sys

from ogive.cli import main

if __name__ == "__main__":
    sys.exit(main())
