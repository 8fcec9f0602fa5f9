"""Front-ends with the exact signatures, defaults, return types and strictness of the five gradient
APIs.

Each module bears the name of its origin: ``numgrad.compat.torch.grad`` stands for
``torch.autograd.grad``, and so on.
All of them call one engine; ``numgrad.grad`` has every option of all of them.
"""

from . import chainer as chainer
from . import fluid as fluid
from . import paddle as paddle
from . import torch as torch

__all__ = ["chainer", "fluid", "paddle", "torch"]


def __dir__() -> list[str]:
    return __all__
