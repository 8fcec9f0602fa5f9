"""What torch calls the functions of the scenarios; names that agree are not listed."""

import functools

import numpy as np
import torch

from numgrad.testing.scenarios import shape as shapes


def on_axis(name, axis):
    return lambda x: getattr(torch, name)(x, dim=axis)


def product(x, axes):
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis)
    return x


def written(x, v):
    y = x.clone()
    y[1:, ::2] = v
    return y


def written_at(x, v):
    y = x.clone()
    y[torch.tensor([2, 0])] = v
    return y


def definite(a):
    return a @ a.mH + 2 * torch.eye(a.shape[-1], dtype=a.dtype)


def indices(array):
    return torch.from_numpy(np.asarray(array))


FUNCTIONS = {
    "copy": torch.clone,
    "cube": lambda x: x**3,
    "cbrt": lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),
    "floor_divide": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "atan2": torch.atan2,
    "clip": lambda x, low, high: torch.clamp(x, low, high),
    "erf": torch.special.erf,
    "erfc": torch.special.erfc,
    "expit": torch.special.expit,
    "gammaln": torch.special.gammaln,
    "digamma": torch.special.digamma,
    "xlogy": torch.special.xlogy,
    "polygamma": functools.partial(torch.special.polygamma, 2),
    "ndtr": torch.special.ndtr,
    "logit": torch.special.logit,
    "log_expit": torch.nn.functional.logsigmoid,
    "conj": lambda x: torch.conj(x).resolve_conj(),
    "imag": lambda x: x.imag if x.is_complex() else x * 0,
    "sum-all": torch.sum,
    "sum-last": on_axis("sum", -1),
    "sum-first": on_axis("sum", 0),
    "sum-two": on_axis("sum", (0, 2)),
    "prod-all": torch.prod,
    "prod-first": on_axis("prod", 0),
    "prod-two": lambda x: product(x, (0, 2)),
    "max-all": torch.amax,
    "max-first": on_axis("amax", 0),
    "min-all": torch.amin,
    "min-middle": on_axis("amin", (-2,)),
    "mean-first": on_axis("mean", 0),
    "var-all": lambda x: torch.var(x, correction=0),
    "std-last": lambda x: torch.std(x, dim=-1, correction=0),
    "logsumexp-last": on_axis("logsumexp", -1),
    "cumulative_sum": on_axis("cumsum", -1),
    "cumulative_prod": on_axis("cumprod", -1),
    "diff": on_axis("diff", -1),
    "trapezoid": torch.trapezoid,
    "sort": lambda x: torch.sort(x, dim=-1, stable=True).values,
    "expand_dims": lambda x: x[None, ..., None],
    "squeeze": lambda x: torch.squeeze(x, 1),
    "permute_dims": lambda x: torch.permute(x, (2, 0, 1)),
    "reshape": lambda x: torch.reshape(x, (-1, 2)),
    "reshape-transposed": lambda x: torch.reshape(x.T, (6, 2)),
    "broadcast": lambda x: torch.broadcast_to(x, (2, 3, 4)),
    "flip": lambda x: torch.flip(x, (0,)),
    "roll": lambda x: torch.roll(x, (2, -1), (0, 1)),
    "concat": lambda x, y: torch.cat([x, y], 1),
    "stack": lambda x, y: torch.stack([x, y], 1),
    "split": lambda x: tuple(torch.tensor_split(x, [1, 3], 1)),
    "tile": lambda x: torch.tile(x, (2, 3)),
    "repeat": lambda x: torch.repeat_interleave(x, 3, 1),
    "pad": lambda x: torch.nn.functional.pad(x, (0, 2, 1, 0)),
    "rot90": torch.rot90,
    "tril": lambda x: torch.tril(x, 1),
    "triu": lambda x: torch.triu(x, 1),
    "index": lambda x: x[1:, None, 2],
    "index-step": lambda x: torch.flip(x, (-1,))[..., ::2],
    "diagonal": lambda x: torch.diagonal(x, 1),
    "put_view": written,
    "gather": lambda x: x[indices(shapes.ROWS), indices(shapes.COLUMNS)],
    "mask": lambda x: x[indices(shapes.MASK)],
    "take": lambda x: torch.index_select(x, 0, indices(shapes.ROWS)),
    "take_along_axis": lambda x: torch.take_along_dim(x, indices(shapes.ROWS)[:, None], -1),
    "put_at": written_at,
    "astype": lambda x: x.double() * x.double(),
    "matmul-vector": torch.matmul,
    "matmul-outer": torch.matmul,
    "vecdot": lambda x, y: torch.linalg.vecdot(x, y),
    "tensordot": lambda a, b: torch.tensordot(a, b, 1),
    "einsum": lambda a, b: torch.einsum("bij,jk->ibk", a, b),
    "solve": torch.linalg.solve,
    "inv": torch.linalg.inv,
    "solve_triangular": lambda a, b: torch.linalg.solve_triangular(torch.tril(a), b, upper=False),
    "cholesky": lambda a: torch.linalg.cholesky(definite(a)),
    "det": torch.linalg.det,
    "slogdet": lambda a: tuple(torch.linalg.slogdet(a)),
    "norm": torch.linalg.norm,
    "norm-1": lambda x: torch.linalg.vector_norm(x, 1),
    "norm-3": lambda x: torch.linalg.vector_norm(x, 3),
}


def function_of(name):
    """Return torch's function for a scenario."""
    return FUNCTIONS[name] if name in FUNCTIONS else getattr(torch, name)
