"""Functions of `heapq` and methods of lists, as the loops that stand for them in kernels."""

import numpy as np


def insert(items, place, item):
    """Write an item before the place of another one."""
    count = len(items)
    at = min(place if place >= 0 else max(place + count, 0), count)
    items.append(item)
    for i in range(count, at, -1):
        items[i] = items[i - 1]
    items[at] = item


def pop(items, place):
    """Remove the item at a place, and return it."""
    count = len(items)
    at = place if place >= 0 else place + count
    item = items[at]
    for i in range(at, count - 1):
        items[i] = items[i + 1]
    items.pop()
    return item


def remove(items, item):
    """Remove the first item that is equal to another one."""
    at = 0
    while items[at] != item:
        at += 1
    pop(items, at)


def reverse(items):
    """Turn the order of the items around."""
    last = len(items) - 1
    for i in range((last + 1) // 2):
        item = items[i]
        items[i] = items[last - i]
        items[last - i] = item


def sort(items, key=None, reverse=False):
    """Put numbers into ascending order, or into descending order."""
    for place, item in enumerate(in_order(items, key, reverse)):
        items[place] = item


def in_order(iterable, key=None, reverse=False):
    """Return the numbers of a list or an array in ascending order, or in descending order, in a
    list."""
    if key is not None:
        raise NotImplementedError("sorted is understood without a key")
    ordered = np.sort(np.array(iterable))
    last = ordered.size - 1
    return [ordered[last - i if reverse else i] for i in range(ordered.size)]


def nsmallest(n, iterable):
    """Return the smallest numbers of a list, in a list."""
    ordered = np.sort(np.array(iterable))
    return [ordered[i] for i in range(max(min(n, ordered.size), 0))]


def nlargest(n, iterable):
    """Return the largest numbers of a list, in a list."""
    ordered = np.sort(np.array(iterable))
    return [ordered[ordered.size - 1 - i] for i in range(max(min(n, ordered.size), 0))]


def heappush(heap, item):
    """Append an item to a heap, and move the item up to its place."""
    heap.append(item)
    raised(heap, 0, len(heap) - 1)


def heappop(heap):
    """Remove the smallest item of a heap, and return it."""
    last = heap.pop()
    if len(heap) == 0:
        return last
    return heapreplace(heap, last)


def heapreplace(heap, item):
    """Put an item in the place of the smallest one, which is returned."""
    smallest = heap[0]
    heap[0] = item
    lowered(heap, 0)
    return smallest


def heappushpop(heap, item):
    """Return the smallest of an item and those of a heap, in which the others remain."""
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap):
    """Make a heap of a list."""
    for place in range(len(heap) // 2 - 1, -1, -1):
        lowered(heap, place)


def raised(heap, top, place):
    """Move an item towards the top of a heap, past those that are greater."""
    item = heap[place]
    while place > top:
        parent = (place - 1) // 2
        above = heap[parent]
        if not item < above:
            break
        heap[place] = above
        place = parent
    heap[place] = item


def lowered(heap, top):
    """Move an item down to its place: the smaller children rise, and then the item does."""
    count = len(heap)
    place = top
    item = heap[top]
    child = 2 * top + 1
    while child < count:
        if child + 1 < count and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    raised(heap, top, place)
