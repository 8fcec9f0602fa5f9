"""Who runs which file, where several processes run the tests.

The scheduler of xdist looks for each test in the list of all tests, and counts after each one all
that were ever given to its process: for 25 000 tests it computed for 20 seconds, on the cores that
the tests need.
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
