"""The functions of optree that numgrad calls. Its C++ gives Python's lock back and asks for it
again, where daemon threads are stopped while the interpreter ends."""

import optree

from ._ending import uncut

PyTreeSpec = optree.PyTreeSpec
broadcast_prefix = uncut(optree.broadcast_prefix)
dict_insertion_ordered = optree.dict_insertion_ordered
tree_flatten = uncut(optree.tree_flatten)
tree_leaves = uncut(optree.tree_leaves)
tree_map = uncut(optree.tree_map)
tree_paths = uncut(optree.tree_paths)
tree_structure = uncut(optree.tree_structure)
tree_unflatten = uncut(optree.tree_unflatten)
