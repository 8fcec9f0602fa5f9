"""Calls of every function that gives a tensor of a known shape: a name, the function, and the
shapes of its arguments. Where a name has a suffix, there are several calls."""

import numpy as np

import numgrad as ng

TABLE = (3, 4)

UNARY = """abs acos acosh angle argsort asin asinh atan atanh atleast_1d atleast_2d atleast_3d
bitwise_invert cbrt ceil conj cos cosh degrees diag diagonal diff exp exp2 expm1 fabs flatten flip
fliplr flipud floor imag isfinite isinf isnan log log10 log1p log2 logical_not matrix_transpose
nan_to_num negative ones_like positive radians ravel real reciprocal rint rot90 round sign signbit
sin sinh sort sqrt square tan tanh trace transpose trapezoid tril triu trunc zeros_like"""

REDUCTIONS = """all any argmax argmin count_nonzero cumprod cumsum cumulative_prod cumulative_sum
logsumexp max mean median min prod std sum var"""

BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
copysign divide equal floor_divide fmax fmin fmod greater greater_equal hypot isclose less
less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum multiply
not_equal power remainder subtract"""

OTHERS = {
    "array_split": lambda x: tuple(ng.array_split(x, 2)),
    "astype-bool": lambda x: ng.astype(x, np.dtype(bool)),
    "astype-half": lambda x: ng.astype(x, np.dtype(np.float16)),
    "astype-unsigned": lambda x: ng.astype(x, np.dtype(np.uint16)),
    "broadcast_to": lambda x: ng.broadcast_to(x, (2, 3, 4)),
    "clip": lambda x: ng.clip(x, 0, 1),
    "clip-rows": lambda x: ng.clip(x, x[0], None),
    "cross": lambda x: ng.cross(x[:, :3], x[:, 1:]),
    "cumulative_sum-initial": lambda x: ng.cumulative_sum(x, axis=1, include_initial=True),
    "expand_dims": lambda x: ng.expand_dims(x, axis=1),
    "full_like": lambda x: ng.full_like(x, 1),
    "index": lambda x: x[::-1, np.array([0, 2])],
    "index-computed": lambda x: x[ng.argsort(x[:, 0]), None, 1:],
    "index-position": lambda x: x[ng.argmax(x[:, 0])],
    "meshgrid": lambda x: tuple(ng.meshgrid(x[0], x[1])),
    "moveaxis": lambda x: ng.moveaxis(x, 0, 1),
    "pad": lambda x: ng.pad(x, 1),
    "permute_dims": lambda x: ng.permute_dims(x, (1, 0)),
    "repeat": lambda x: ng.repeat(x, 2, axis=1),
    "reshape": lambda x: ng.reshape(x, (4, 3)),
    "roll": lambda x: ng.roll(x, 1),
    "round-decimals": lambda x: ng.round(x, 1),
    "sort-descending": lambda x: ng.sort(x, descending=True),
    "split": lambda x: tuple(ng.split(x, 2, axis=1)),
    "squeeze": lambda x: ng.squeeze(x[:1], 0),
    "swapaxes": lambda x: ng.swapaxes(x, 0, 1),
    "take": lambda x: ng.take(x, np.array([0, 2, 1]), axis=1),
    "take-computed": lambda x: ng.take(x, ng.argmin(x, axis=1), axis=1),
    "take_along_axis-computed": lambda x: ng.take_along_axis(x, ng.argsort(x, axis=0), axis=0),
    "take_along_axis": lambda x: ng.take_along_axis(x, np.array([[0, 2, 1]]), axis=1),
    "tile": lambda x: ng.tile(x, (2, 1)),
    "unstack": lambda x: tuple(ng.unstack(x)),
    "vector_norm": ng.linalg.vector_norm,
    "where": lambda x: ng.where(x, x, 1),
}

PAIRS = {
    "broadcast_arrays": lambda x, y: tuple(ng.broadcast_arrays(x, y[:1])),
    "column_stack": lambda x, y: ng.column_stack([x, y]),
    "concat": lambda x, y: ng.concat([x, y]),
    "dot": lambda x, y: ng.dot(x, y.T),
    "dstack": lambda x, y: ng.dstack([x, y]),
    "einsum": lambda x, y: ng.einsum("ij,kj->ik", x, y),
    "hstack": lambda x, y: ng.hstack([x, y]),
    "inner": ng.inner,
    "kron": ng.kron,
    "matmul": lambda x, y: ng.matmul(x, y.T),
    "outer": ng.outer,
    "searchsorted": lambda x, y: ng.searchsorted(ng.sort(x[0]), y),
    "searchsorted-right": lambda x, y: ng.searchsorted(ng.sort(x[0]), y, "right"),
    "stack": lambda x, y: ng.stack([x, y]),
    "tensordot": ng.tensordot,
    "vdot": ng.vdot,
    "vecdot": ng.vecdot,
    "vstack": lambda x, y: ng.vstack([x, y]),
    "where-both": lambda x, y: ng.where(x > 0, x, y),
}

SPECIAL = "digamma erf erfc expit gammaln log_expit logit ndtr"

WITHOUT = """allclose arange argwhere array array2string array_equal array_equiv array_repr
array_str asarray backward can_cast choose common_type compress cond copy copyto elementwise
empty empty_like extract eye fill_diagonal finfo fori_loop from_dlpack full get_flags
get_printoptions
grad identity iinfo in1d intersect1d is_grad_enabled iscomplexobj isdtype isfortran isin
isrealobj isscalar issubdtype iterable jit linspace may_share_memory min_scalar_type ndim
nonzero once_differentiable ones operator place printoptions promote_types put put_along_axis
putmask result_type scan set_flags set_printoptions setdiff1d setxor1d shape shares_memory size
stop_gradient
tensor union1d unique unique_all unique_counts unique_inverse unique_values while_loop zeros"""
"""What is not called: its argument is no tensor, or its result depends on values."""


def _calls():
    yield from ((name, getattr(ng, name), (TABLE,)) for name in UNARY.split())
    yield from ((f"special-{n}", getattr(ng.special, n), (TABLE,)) for n in SPECIAL.split())
    for name in REDUCTIONS.split():
        for axis in (0, 1):
            function = getattr(ng, name)
            yield f"{name}-{axis}", lambda x, f=function, a=axis: f(x, axis=a), ((3, 9),)
    for name in BINARY.split():
        function = getattr(ng, name)
        yield name, function, (TABLE, TABLE)
        yield f"{name}-number", lambda x, f=function: f(x, 2), (TABLE,)
    yield from ((name, function, (TABLE,)) for name, function in OTHERS.items())
    yield from ((name, function, (TABLE, TABLE)) for name, function in PAIRS.items())


CALLS = tuple(_calls())
