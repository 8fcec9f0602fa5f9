"""Ends a process in which a test never returns to the interpreter, with the stacks of all threads.

The option ``faulthandler_timeout`` of pytest starts a thread for each test and waits for its end:
milliseconds for each of 25 000 tests, where there are fewer cores than processes at work. Here one
is started for all the tests of a minute.
"""

import faulthandler
import time

from _pytest.faulthandler import fault_handler_stderr_fd_key

LIMIT, MINUTE = 1200, 60


class Watch:
    """A plugin of pytest."""

    def __init__(self, config):
        self.config, self.began = config, -MINUTE

    def pytest_runtest_logstart(self):
        now = time.monotonic()
        if now - self.began >= MINUTE:
            self.began = now
            stderr = self.config.stash[fault_handler_stderr_fd_key]
            faulthandler.dump_traceback_later(LIMIT, file=stderr, exit=True)

    def pytest_unconfigure(self):
        faulthandler.cancel_dump_traceback_later()
