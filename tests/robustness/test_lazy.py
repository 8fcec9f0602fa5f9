"""Attributes that are computed when they are first read keep nobody else waiting."""

import threading

from numgrad.process.cached_attribute import lazy


class Slow:
    """Its attribute is there when two objects compute theirs at the same time."""

    both = threading.Barrier(2)

    def __init__(self):
        self.count = 0

    @lazy
    def number(self):
        """What the attribute is."""
        self.both.wait(timeout=30)
        self.count += 1
        return self.count


def test_two_objects_compute_at_the_same_time():
    slow = Slow(), Slow()
    threads = [threading.Thread(target=lambda x=x: x.number) for x in slow]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [x.number for x in slow] == [1, 1]
    assert [x.count for x in slow] == [1, 1]


def test_an_attribute_says_what_it_is():
    assert Slow.number.__doc__ == "What the attribute is."
    assert "number" not in vars(Slow())
