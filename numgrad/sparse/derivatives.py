"""Sparse Jacobians and Hessians of functions of arrays."""

from collections.abc import Callable
from functools import partial
from typing import Any

from .prepared import Prepared, PreparedHessian, compute
from .problem import Problem


def jacobian(
    f: Callable[..., Any],
    x: Any = None,
    *args: Any,
    argnum: int = 0,
    pattern: Any = None,
    coloring: str = "auto",
    order: str = "auto",
) -> Any:
    """Return the Jacobian of a function as a sparse matrix.

    Parameters
    ----------
    f : callable
        Maps a real array of any shape, and further arguments, to a real array or scalar.
    x : array or tensor of float, optional
        Where to differentiate. Without ``x`` a function is returned, as by `numgrad.func.jacobian`.
    *args
        Further arguments of ``f``, which are not differentiated.
    argnum : int
        The number of the argument to differentiate by, of ``(x, *args)``.
    pattern : sparse matrix or array_like of bool, optional
        Where the Jacobian may have entries that are not 0. A given pattern is checked with two
        random vectors. By default the pattern is found.
    coloring : {"auto", "column", "row", "bidirectional"}
        Which products are computed: with groups of columns (forward mode), of rows (reverse mode),
        or of both; ``auto`` takes what needs the fewest products.
    order : str
        The order in which groups are formed: ``natural``, ``largest_first``, ``smallest_last``,
        ``incidence_degree`` or ``saturation``; ``auto`` takes the best of two.

    Returns
    -------
    csr_array, shape (y.size, x.size)
        Rows stand for the elements of the output, columns for those of the argument, in C order.
        Entries that happen to be 0 are stored. Without ``x`` the result is a function of
        ``(x, *args)`` that returns the matrix.

    Raises
    ------
    SparsityError
        If `pattern` lacks an entry that is not 0, or has another shape; if the function is not
        sparse by far.
    DtypeError
        For complex or integer arguments or outputs.
    ArgTypeError
        For containers of arrays.

    See Also
    --------
    prepare : The same for more than one point.

    Notes
    -----
    The pattern is read from the recorded graph. For functions that sort, compare or index by values
    of ``x`` the pattern is right at this ``x`` only; for others it is the same at each ``x``. An
    entry that is infinite or NaN is returned as it is. Other entries of its row or column, which
    share its pass, may become NaN, but no other wrong value.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> J = ng.sparse.jacobian(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0, 4.0]))
    >>> J.toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> jacobian = ng.sparse.jacobian(lambda x: x[1:] * x[:-1])
    >>> jacobian(np.array([2.0, 3.0])).toarray()
    array([[3., 2.]])
    """
    problem = Problem(f, argnum, False, coloring, order, "sparse.jacobian")
    if x is None:
        options: Any = {"argnum": argnum, "pattern": pattern, "coloring": coloring, "order": order}
        return partial(jacobian, f, **options)
    return compute(problem, (x, *args), pattern)


def hessian(
    f: Callable[..., Any],
    x: Any = None,
    *args: Any,
    argnum: int = 0,
    pattern: Any = None,
    coloring: str = "star",
    order: str = "auto",
) -> Any:
    """Return the Hessian of a scalar function as a sparse matrix.

    Parameters
    ----------
    f : callable
        Maps a real array, and further arguments, to a real scalar.
    x, *args, argnum, pattern, order
        As in `jacobian`; `pattern` is made symmetric.
    coloring : {"star", "acyclic"}
        With ``star`` each entry is read directly from a product. With ``acyclic`` entries are
        computed from products and other entries, which needs fewer products and adds rounding
        errors.

    Returns
    -------
    csr_array, shape (x.size, x.size)
        Without ``x`` the result is a function of ``(x, *args)`` that returns the matrix.

    Raises
    ------
    ImplicitGradError
        If the output is not a real scalar.
    SparsityError, DtypeError, ArgTypeError
        As `jacobian`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> H = ng.sparse.hessian(lambda x: (x[1:] * x[:-1] ** 2).sum(), np.array([1.0, 2.0, 3.0]))
    >>> H.toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    problem = Problem(f, argnum, True, coloring, order, "sparse.hessian")
    if x is None:
        options: Any = {"argnum": argnum, "pattern": pattern, "coloring": coloring, "order": order}
        return partial(hessian, f, **options)
    return compute(problem, (x, *args), pattern)


def prepare(
    f: Callable[..., Any],
    x: Any,
    *args: Any,
    argnum: int = 0,
    pattern: Any = None,
    coloring: str = "auto",
    order: str = "auto",
) -> Prepared:
    """Return a function that computes the sparse Jacobian at any point of the shape of ``x``.

    Pattern, colours and program are made once, in this call.

    Parameters
    ----------
    f : callable
        As in `jacobian`. The function is captured, as by `numgrad.jit`: choices that depend on
        values are written with ``ng.where`` or ``ng.cond``, and random draws or data from outside
        are arguments.
    x, *args, argnum, pattern, coloring, order
        As in `jacobian`. Further arguments may have other values at each call.

    Returns
    -------
    Prepared
        Called with ``(x, *args)``, the object returns a csr_array. Its method
        ``value_and_jacobian`` returns the value of the function as well, with one evaluation.

    Raises
    ------
    CaptureError
        If the function wants to see a value.
    SparsityError, DtypeError, ArgTypeError
        As `jacobian`. A call of the result raises `SparsityError` for ``x`` of another shape. It
        does so, too, if the function now has entries outside of the pattern, as an array that the
        function closes over has changed its graph.

    Notes
    -----
    The pattern holds for every ``x``. So an element that is sorted, or taken at a position computed
    from ``x``, counts as depending on all elements that it may come from.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> J = ng.sparse.prepare(lambda x: x[1:] * x[:-1], np.zeros(4))
    >>> J
    <Prepared 3 x 4, 6 entries, column, 2 colors>
    >>> value, matrix = J.value_and_jacobian(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> value, matrix.data
    (array([ 2.,  6., 12.]), array([2., 1., 3., 2., 4., 3.]))
    """
    problem = Problem(f, argnum, False, coloring, order, "sparse.prepare")
    return Prepared(problem, (x, *args), pattern)


def prepare_hessian(
    f: Callable[..., Any],
    x: Any,
    *args: Any,
    argnum: int = 0,
    pattern: Any = None,
    coloring: str = "star",
    order: str = "auto",
) -> PreparedHessian:
    """Return a function that computes the sparse Hessian at any point of the shape of ``x``.

    Parameters
    ----------
    f, x, *args, argnum, pattern, coloring, order
        As in `hessian`; the function is captured, as by `prepare`.

    Returns
    -------
    PreparedHessian
        Called with ``(x, *args)``, the object returns a csr_array. Its method
        ``value_gradient_hessian`` returns the value and the gradient as well, with one evaluation.

    Raises
    ------
    CaptureError, ImplicitGradError, SparsityError, DtypeError, ArgTypeError
        As `prepare` and `hessian`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> H = ng.sparse.prepare_hessian(lambda x: (x[1:] * x[:-1]).sum(), np.zeros(4))
    >>> H.n_colors
    3
    >>> value, gradient, matrix = H.value_gradient_hessian(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> value, gradient
    (array(20.), array([2., 4., 6., 3.]))
    """
    problem = Problem(f, argnum, True, coloring, order, "sparse.prepare_hessian")
    return PreparedHessian(problem, (x, *args), pattern)


def jacobian_pattern(f: Callable[..., Any], x: Any, *args: Any, argnum: int = 0) -> Any:
    """Return where the Jacobian of a function may have entries that are not 0.

    Parameters
    ----------
    f, x, *args, argnum
        As in `jacobian`.

    Returns
    -------
    csr_array of bool, shape (y.size, x.size)

    Raises
    ------
    SparsityError, DtypeError, ArgTypeError
        As `jacobian`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.sparse.jacobian_pattern(lambda x: x[1:] * x[:-1], np.zeros(3)).toarray().astype(int)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    problem = Problem(f, argnum, False, "auto", "auto", "sparse.jacobian_pattern")
    return problem.detect(problem.record((x, *args))).as_matrix()


def hessian_pattern(f: Callable[..., Any], x: Any, *args: Any, argnum: int = 0) -> Any:
    """Return where the Hessian of a scalar function may have entries that are not 0.

    Parameters
    ----------
    f, x, *args, argnum
        As in `hessian`.

    Returns
    -------
    csr_array of bool, shape (x.size, x.size)

    Raises
    ------
    ImplicitGradError, SparsityError, DtypeError, ArgTypeError
        As `hessian`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.sparse.hessian_pattern(lambda x: x[0] * x[1] + x[2], np.zeros(3)).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    problem = Problem(f, argnum, True, "star", "auto", "sparse.hessian_pattern")
    return problem.detect(problem.record((x, *args))).as_matrix()
