"""Start. What the program is called decides which command line it has."""

import gc
import os
import sys


def main() -> None:
    """Run the program and end the process with its exit code."""
    # A run that ends by itself leaves no cycles worth looking for, and looking costs a tenth of it. Commands that go on
    # switch it on again.
    gc.disable()
    # Who closes an output (`2>&-`) wants to hear nothing, not to see a program fail.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    # Imported here, so that Ctrl-C during the import itself ends quietly too.
    try:
        from marid.launch.start import leave, run

        leave(run(sys.argv))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
