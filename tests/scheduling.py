"""Who runs which file, where several processes run the tests, and what they say of it.

The scheduler of xdist looks for each test in the list of all tests, and counts after each one all
that were ever given to its process: for 25 000 tests it computed for 20 seconds, on the cores that
the tests need. Six messages for each test took as long.
"""

from xdist.scheduler import LoadFileScheduling


class Numbered(list):
    """A list of different items that knows where each is."""

    def __init__(self, items):
        super().__init__(items)
        self._numbers = {item: n for n, item in enumerate(self)}

    def index(self, item):
        return self._numbers[item]


class FileScheduling(LoadFileScheduling):
    """``--dist=loadfile`` that finds tests by their names and forgets files that are done."""

    def add_node_collection(self, node, collection):
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Numbered(self.registered_collections[node])

    def mark_test_complete(self, node, item_index, duration=0):
        super().mark_test_complete(node, item_index, duration)
        files = self.assigned_work[node]
        name = self._split_scope(self.registered_collections[node][item_index])
        if all(files[name].values()):
            del files[name]


def say_less(config):
    """Let a process send one report of a test that passes, and not that it begins and ends."""
    if config.option.durations or config.option.xmlpath:
        return  # which are made of all reports
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = _unless_known(plugin.sendevent)


def _unless_known(send):
    def sendevent(name, **about):
        if name not in ("logstart", "logfinish") and not _is_idle(about.get("data")):
            send(name, **about)

    return sendevent


def _is_idle(report):
    """Whether it is the report of a passed setup or teardown that has nothing to show."""
    return (
        report is not None
        and report.get("when") in ("setup", "teardown")
        and (report["outcome"], report["sections"]) == ("passed", [])
    )
