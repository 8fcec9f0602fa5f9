"""The way through a graph: what a target's compiled code compares to recognise a graph."""

from typing import Any, NamedTuple


class Types(NamedTuple):
    """The types of the objects that make up a graph; ``storages`` are three."""

    node: type
    accumulator: type
    call: type
    value: type
    storages: tuple[type, ...]
    leaf_state: type
    kind: type
    slot: type
    stand_in: type


class Way(NamedTuple):
    """What a follower has to find in a graph.

    Attributes
    ----------
    kinds : list
        The kind of each node, or of its stand-in.
    are_leaves : list of bool
        For each node whether it is an accumulator.
    marked, hooked : list of int
        The nodes that have `Extras`, and the leaves that have hooks. No others have any.
    indexed : list of int
        The nodes whose stand-ins take the index as data; see `engine.replay.dynamic_index`.
    writer : object
        The operator that writes a part of an array in place: what such a node has written is read
        by no stand-in.
    roots : list of int
        The nodes where the pass starts.
    parents : list of list of int
        The parents of each node, -1 for None.
    slots : list of tuple of int, optional
        The slots of each node; None if all are 0 for certain.
    targets : list of int
        The nodes of the targets.
    reads : list of (int, int)
        For each saved value its node, and the position there; in the order of the nodes.
    keepers : list of int
        The nodes of which the pass takes all that they have saved.
    numbers : list of int
        For each saved value and each seed the number of its array, in order of first appearance.
    layouts : list
        The layout of each of these arrays: True for C order, else the strides.
    """

    kinds: list[Any]
    are_leaves: list[bool]
    marked: list[int]
    hooked: list[int]
    indexed: list[int]
    writer: Any
    roots: list[int]
    parents: list[list[int]]
    slots: list[tuple[int, ...]] | None
    targets: list[int]
    reads: list[tuple[int, int]]
    keepers: list[int]
    numbers: list[int]
    layouts: list[Any]
