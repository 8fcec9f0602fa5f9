"""The options of ``grad`` and ``backward`` for a pass, and the dialects of the front-ends."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._settings import settings
from . import arguments


@dataclass
class Dialect:
    """How a front-end for another library differs from numgrad, whose behaviour the defaults are.
    """

    scalar_seeds: bool = False  # torch: an implicit seed needs a one-element real output
    skip_outputs: bool = False  # paddle, chainer: outputs without graph are left out
    skip_inputs: bool = False  # paddle, chainer: inputs without graph are unused
    last_seed_wins: bool = False  # chainer: a later duplicate of an output replaces the earlier
    scale_explicit: bool = True  # chainer scales implicit seeds only
    output_in_cut: bool = False  # paddle: an output among no_grad_vars has no effect
    replace_seed: bool = (
        False  # chainer: grad_inputs of an input that is an output replaces the seed
    )
    last_initial_wins: bool = False  # chainer: the last grad_inputs of a duplicate input counts
    retain_outputs: bool = False  # chainer: retain_grad reaches outputs that lie on no path, too
    share_unused: bool = False  # chainer: an unreached input returns the very object in grad_inputs


CORE = Dialect()


@dataclass
class Options:
    """The options of a call of ``grad`` as its caller gave them; `settle` resolves defaults."""

    retain_graph: Any = None
    create_graph: Any = False
    only_inputs: Any = True
    allow_unused: Any = None
    is_grads_batched: Any = False
    materialize_grads: Any = False
    no_grad_vars: Any = None
    grad_inputs: Any = None
    set_grad: Any = False
    retain_grad: Any = False
    loss_scale: Any = None
    enable_double_backprop: Any = None
    backward_strategy: Any = None
    sort_sum_gradient: Any = None
    dump_path: Any = None

    def settle(self) -> None:
        """Resolve defaults and aliases in place; raise where options contradict each other."""
        arguments.reject_mixups(
            retain_graph=self.retain_graph, create_graph=self.create_graph,
            only_inputs=self.only_inputs,
            allow_unused=self.allow_unused, is_grads_batched=self.is_grads_batched,
            materialize_grads=self.materialize_grads,
        )  # fmt: skip
        if self.materialize_grads and self.allow_unused is not None and not self.allow_unused:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, "
                "but got: allow_unused=False."
            )
        if self.allow_unused is None:
            self.allow_unused = bool(self.materialize_grads)
        self._settle_aliases()
        if self.retain_graph is None:
            self.retain_graph = self.create_graph
        if self.is_grads_batched and (self.set_grad or self.retain_grad):
            raise ValueError(
                "set_grad and retain_grad cannot be combined with is_grads_batched=True: the "
                "batched gradients do not "
                "have the shape of the tensors"
            )
        if self.loss_scale is not None and not isinstance(self.loss_scale, (int, float, np.number)):
            raise ArgTypeError(f"loss_scale must be a number, got {type(self.loss_scale).__name__}")

    def _settle_aliases(self) -> None:
        double = self.enable_double_backprop
        if double is not None:
            if self.create_graph and not double:
                raise ValueError(
                    "create_graph=True and enable_double_backprop=False contradict each other"
                )
            self.create_graph = bool(double)
        strategy = self.backward_strategy
        if strategy is not None:
            flag = getattr(strategy, "sort_sum_gradient", None)
            if flag is None:
                raise ArgTypeError(
                    f"backward_strategy must be a BackwardStrategy, got {type(strategy).__name__}"
                )
            if self.sort_sum_gradient is not None and bool(self.sort_sum_gradient) != bool(flag):
                raise ValueError(
                    "sort_sum_gradient and backward_strategy.sort_sum_gradient contradict each "
                    "other"
                )
            self.sort_sum_gradient = bool(flag)
        if self.sort_sum_gradient is None:
            self.sort_sum_gradient = settings.sort_sum_gradient
