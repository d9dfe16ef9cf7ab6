"""`python -m tests.faults`; what is here itself could not be found by the processes that it starts."""

import sys

from tests.faults.campaigns import main

if __name__ == "__main__":
    sys.exit(main())
