"""``python -m replearn`` is the command ``replearn``."""

import signal
import sys


def command() -> int:
    """Run the command line of this process; Ctrl-C never shows a traceback.

    Until the command can handle it, Ctrl-C ends the process as it ends any other. A request to end
    (SIGTERM) ends the command as Ctrl-C does, worker processes included.
    """
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ends_by_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if handles_interrupts:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from replearn.cli import INTERRUPTED, main

    try:
        if handles_interrupts:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if ends_by_default:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(command())
