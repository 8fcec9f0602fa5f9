"""Classes of users, registered as containers of arrays."""

from collections.abc import Callable
from typing import Any

from .._errors import ArgTypeError
from ..containers import registered_classes


def register_pytree(
    nodetype: type, flatten: Callable[[Any], tuple[Any, Any]], unflatten: Callable[[Any, Any], Any]
) -> None:
    """Register a class as a container of arrays, so that transformed functions take and return it.

    Dataclasses, classes of attrs, named tuples and what xarray has need no registration.

    Parameters
    ----------
    nodetype : type
        The class itself; a class that inherits from it needs a registration of its own.
    flatten : callable
        Takes an object, returns ``(children, aux)``: the children are arrays, numbers and
        containers of them; ``aux`` is all the rest of the object, and can be hashed and compared.
    unflatten : callable
        Takes ``aux`` and new children, returns an object. The children may be gradients, so
        ``unflatten`` should not check them.

    Raises
    ------
    ArgTypeError
        If `nodetype` is no class, or is registered already.

    See Also
    --------
    jax.tree_util.register_pytree_node : The same for JAX.

    Examples
    --------
    >>> import numgrad as ng
    >>> class Spring:
    ...     def __init__(self, stiffness, name):
    ...         self.stiffness, self.name = stiffness, name
    >>> ng.func.register_pytree(
    ...     Spring,
    ...     lambda spring: ((spring.stiffness,), spring.name),
    ...     lambda name, children: Spring(*children, name),
    ... )
    >>> gradient = ng.func.grad(lambda s: 0.5 * s.stiffness * 2.0**2)(Spring(3.0, "left"))
    >>> float(gradient.stiffness), gradient.name
    (2.0, 'left')
    """
    if not isinstance(nodetype, type):
        raise ArgTypeError(f"register_pytree: expected a class, got {type(nodetype).__name__}")
    for name, function in (("flatten", flatten), ("unflatten", unflatten)):
        if not callable(function):
            kind = type(function).__name__
            raise ArgTypeError(f"register_pytree: {name} must be a function, got {kind}")
    registered_classes.register(nodetype, flatten, unflatten)
