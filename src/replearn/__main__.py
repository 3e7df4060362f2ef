"""``python -m replearn`` is the command ``replearn``."""

import sys

from replearn.cli import main

if __name__ == "__main__":
    sys.exit(main())
