"""`Function`: operations defined by Python functions of tensors."""

import gc
import re
import weakref

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import (
    ArgTypeError,
    CustomGradError,
    FreedGraphError,
    InplaceError,
    NotDifferentiableError,
)

from ..device import share_memory
from ..user_functions import Cube, Multiply, function, leaf, same

pytestmark = pytest.mark.device_sample

# Values and the node -----------------------------------------------------------------------------


def test_gradient_of_each_argument():
    a, b = leaf(1, 2), leaf(3, 4)
    y = Multiply.apply(a, b, 10.0)
    same(y, [30.0, 80.0])
    ga, gb = ng.grad(y, [a, b])
    same(ga, [30.0, 40.0])
    same(gb, [10.0, 20.0])


def test_node_bears_the_name_and_the_edges_of_its_tensors():
    a, b = leaf(1), leaf(2)
    node = Multiply.apply(a, b, 2.0).grad_fn
    assert node.name() == "Multiply"
    assert [(n.name(), slot) for n, slot in node.next_functions] == [("accumulate_grad", 0)] * 2


def test_gradients_are_off_inside_forward_and_on_again_after():
    seen = []
    x = leaf(1)
    function(lambda ctx, x: (seen.append(ng.is_grad_enabled()), x * 2.0)[1]).apply(x)
    assert seen == [False]
    assert ng.is_grad_enabled()


def test_forward_may_read_the_array_of_an_argument():
    x = leaf(1, 2)
    y = function(lambda ctx, x: ng.tensor(np.exp(x.numpy()))).apply(x)
    same(y, np.exp([1.0, 2.0]))
    assert y.requires_grad


def test_nothing_is_recorded_under_no_grad_or_without_a_tensor_that_requires_grad():
    with ng.no_grad():
        assert function().apply(leaf(1)).grad_fn is None
    assert not function().apply(ng.tensor([1.0])).requires_grad


def test_what_is_no_tensor_passes_through():
    def forward(ctx, x, text, nothing):
        return x * 2.0, text, nothing

    seen = []
    made = function(forward, lambda ctx, *gs: (seen.append(gs), (gs[0] * 2.0, None, None))[1])
    x = leaf(1)
    y, text, nothing = made.apply(x, "text", None)
    assert (text, nothing) == ("text", None)
    ng.grad(y, x)
    assert len(seen[0]) == 3
    assert seen[0][1:] == (None, None)


def test_setup_context_separates_the_computation_from_what_is_saved():
    class Square(ng.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2.0 * g * x

    x = leaf(3)
    same(ng.grad(Square.apply(x), x)[0], [6.0])


def test_it_is_applied_and_not_instantiated():
    with pytest.raises(TypeError, match="apply"):
        Multiply()


# Outputs -----------------------------------------------------------------------------------------


def test_an_output_that_is_an_argument_becomes_a_new_tensor():
    x = leaf(1, 2)
    y = function(lambda ctx, x: x, lambda ctx, g: g * 5.0).apply(x)
    assert y is not x
    assert x.grad_fn is None
    assert not share_memory(y.array, x.array)
    same(ng.grad(y, x)[0], [5.0, 5.0])


def test_an_output_that_views_an_argument_shares_no_memory_with_it():
    x = leaf(1, 2, 3)
    y = function(lambda ctx, x: x.reshape(3, 1), lambda ctx, g: g.reshape(3) * 7.0).apply(x)
    assert not share_memory(y.array, x.array)
    same(ng.grad(y, x)[0], [7.0] * 3)


def test_an_output_can_be_written_in_place():
    x = leaf(1, 2)
    y = function(lambda ctx, x: x, lambda ctx, g: g * 5.0).apply(x)
    y *= 3.0
    same(y, [3.0, 6.0])
    same(x, [1.0, 2.0])
    same(ng.grad(y, x)[0], [15.0, 15.0])


def test_several_outputs_get_zeros_where_nothing_arrives():
    seen = []

    def backward(ctx, g, h):
        seen.append((g.tolist(), h.tolist()))
        return g * 2.0 + h * 3.0

    x = leaf(1, 2)
    y, z = function(lambda ctx, x: (x * 2.0, x * 3.0), backward).apply(x)
    assert (y.output_nr, z.output_nr) == (0, 1)
    same(ng.grad(z, x)[0], [3.0, 3.0])
    assert seen == [([0.0, 0.0], [1.0, 1.0])]


def test_without_materialized_gradients_it_gets_none():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2.0, x * 3.0

    x = leaf(1)
    y, _ = function(forward, lambda ctx, g, h: (seen.append(h), g * 2.0)[1]).apply(x)
    same(ng.grad(y, x)[0], [2.0])
    assert seen == [None]


def test_outputs_marked_non_differentiable_and_integers_have_no_gradient():
    def forward(ctx, x):
        y, z = x * 2.0, x * 3.0
        ctx.mark_non_differentiable(z)
        return y, z, ng.tensor([1, 2])

    seen = []
    x = leaf(1, 2)
    made = function(forward, lambda ctx, *gs: (seen.extend(g.tolist() for g in gs), gs[0] * 2.0)[1])
    y, z, n = made.apply(x)
    assert y.requires_grad
    assert not z.requires_grad
    assert not n.requires_grad
    same(ng.grad(y, x)[0], [2.0, 2.0])
    assert seen == [[1.0, 1.0], [0.0, 0.0], [0, 0]]


def test_mark_dirty_is_refused():
    with pytest.raises(NotDifferentiableError, match="new tensor"):
        function(lambda ctx, x: (ctx.mark_dirty(x), x)[1]).apply(leaf(1))


# Saved tensors -----------------------------------------------------------------------------------


def test_saved_tensors_are_freed_with_the_graph():
    x = leaf(2)
    y = Cube.apply(x)
    ng.grad(y, x)
    with pytest.raises(FreedGraphError, match=r"Cube recorded at .*test_function.py"):
        ng.grad(y, x)


def test_saved_tensors_are_kept_with_retain_graph():
    x = leaf(2)
    y = Cube.apply(x)
    same(ng.grad(y, x, retain_graph=True)[0], [12.0])
    same(ng.grad(y, x)[0], [12.0])


def test_a_function_that_saves_nothing_can_be_run_again():
    x = leaf(2)
    y = function().apply(x)
    ng.grad(y, x)
    same(ng.grad(y, x)[0], [2.0])


def test_ctx_kept_by_the_user_refuses_after_freeing():
    kept = []
    x = leaf(2)
    made = function(lambda ctx, x: (ctx.save_for_backward(x), kept.append(ctx), x * 2.0)[2])
    y = made.apply(x)
    same(kept[0].saved_tensors[0], [2.0])
    ng.grad(y, x)
    with pytest.raises(FreedGraphError):
        kept[0].saved_tensors  # noqa: B018


def test_a_write_to_a_saved_tensor_does_not_change_what_was_saved():
    x = leaf(2)
    h = x * 1.0
    for _ in range(2):
        y = Cube.apply(h)
        (expected,) = ng.grad(y, x, retain_graph=True)
        h += 1.0
        same(ng.grad(y, x, retain_graph=True)[0], expected.numpy())
    y = Cube.apply(h)
    with ng.no_grad():
        h += 1.0
    with pytest.raises(InplaceError, match="modified by an inplace operation"):
        ng.grad(y, x)


def test_forward_may_not_write_to_an_argument():
    def forward(ctx, x):
        x += 1.0
        return x * 2.0

    with pytest.raises(InplaceError, match="forward wrote"):
        function(forward).apply(leaf(1))


def test_only_tensors_and_none_can_be_saved():
    with pytest.raises(ArgTypeError, match="argument 1 is of type int"):
        function(lambda ctx, x: ctx.save_for_backward(x, 3)).apply(leaf(1))
    made = function(
        lambda ctx, x: (ctx.save_for_backward(None, x), x * 2.0)[1],
        lambda ctx, g: g * ctx.saved_tensors[1] if ctx.saved_tensors[0] is None else None,
    )
    x = leaf(3)
    same(ng.grad(made.apply(x), x)[0], [3.0])


def test_saved_tensors_hooks_see_what_is_saved():
    packed = []
    x = leaf(2)
    with ng.graph.saved_tensors_hooks(
        lambda t: packed.append(t.item()) or len(packed), lambda n: ng.tensor([5.0])
    ):
        y = Multiply.apply(x, ng.tensor([7.0]))
    assert packed[-2:] == [2.0, 7.0]
    same(ng.grad(y, x)[0], [5.0])


def test_the_graph_is_freed_by_reference_counting_alone():
    gc.collect()
    gc.disable()
    try:
        y = Cube.apply(leaf(1))
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


# What backward returns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "count"),
    [(lambda g: (), 0), (lambda g: (g,), 1), (lambda g: g, 1), (lambda g: (g, g, g), 3)],
)
def test_wrong_number_of_gradients(returned, count):
    x = leaf(1)
    y = function(backward=lambda ctx, g: returned(g)).apply(x, x)
    with pytest.raises(CustomGradError, match=rf"incorrect number of gradients.*2, got {count}"):
        ng.grad(y, x)


def test_surplus_nones_are_ignored():
    x = leaf(1)
    same(ng.grad(function(backward=lambda ctx, g: (g, None, None)).apply(x), x)[0], [1.0])


@pytest.mark.parametrize("shape", [(3,), (), (2, 3)])
def test_wrong_shape_of_a_gradient(shape):
    x = leaf(1, 2)
    y = function(backward=lambda ctx, g: ng.tensor(np.ones(shape))).apply(x)
    with pytest.raises(
        CustomGradError, match=re.escape(f"invalid gradient at index 0: got shape {shape}")
    ):
        ng.grad(y, x)


@pytest.mark.parametrize("wrong", [3.0, np.array(["a"]), [1.0, 2.0], "text"])
def test_a_gradient_that_is_no_tensor(wrong):
    x = leaf(1, 2)
    y = function(backward=lambda ctx, g: wrong).apply(x)
    with pytest.raises(
        CustomGradError, match=f"invalid gradient at index 0.*{type(wrong).__name__}"
    ):
        ng.grad(y, x)


def test_a_gradient_for_an_argument_that_is_no_tensor():
    x = leaf(1)
    y = function(backward=lambda ctx, g: (g, g)).apply(x, 3)
    with pytest.raises(CustomGradError, match="invalid gradient at index 1"):
        ng.grad(y, x)


def test_a_gradient_is_summed_over_broadcast_axes_and_cast():
    x = ng.tensor([1.0, 2.0], dtype="float32", requires_grad=True)
    y = function(backward=lambda ctx, g: ng.tensor(np.ones((4, 2)))).apply(x)
    (g,) = ng.grad(y, x)
    same(g, [4.0, 4.0])
    assert g.dtype == np.float32


def test_none_leaves_an_argument_unused():
    x = leaf(1)
    y = function(backward=lambda ctx, g: None).apply(x)
    assert ng.grad(y, x, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="index 0"):
        ng.grad(y, x)


@pytest.mark.parametrize("value", [np.ones(1), np.float64(1.0), (np.ones(1), 3)])
def test_results_that_are_arrays_alone_would_cut_the_graph(value):
    made = function(forward=lambda ctx, x: value)
    with pytest.raises(ng.errors.ArgTypeError, match=r"Made.forward .*ng\.tensor\(array\)"):
        made.apply(leaf(1))
    assert made.apply(ng.tensor([1.0])) == value  # no gradient is wanted


def test_an_error_keeps_its_type_names_the_function_and_changes_nothing():
    class CustomError(Exception):
        pass

    fails = [True]

    def backward(ctx, g):
        if fails[0]:
            raise CustomError("from the user")
        return g * 2.0

    x = leaf(3)
    x.grad = ng.tensor([7.0])
    y = function(backward=backward).apply(x * x)
    z = y * y
    with pytest.raises(CustomError, match="from the user") as caught:
        ng.backward(z)
    assert any("Made recorded at" in note for note in caught.value.__notes__)
    same(x.grad, [7.0])
    fails[0] = False
    ng.backward(z)
    same(x.grad, [7.0 + 2 * 18 * 2 * 6])


class InDict(ng.Function):
    @staticmethod
    def forward(ctx, x):
        return {"twice": 2.0 * x, "n": 2}

    @staticmethod
    def backward(ctx, g):
        return 2.0 * g


class InList(InDict):
    @staticmethod
    def forward(ctx, x):
        return [2.0 * x, 3.0 * x]


class OfList(InDict):
    @staticmethod
    def forward(ctx, xs):
        return xs[0] * xs[1]


@pytest.mark.parametrize("around", [lambda f: f, ng.jit])
@pytest.mark.parametrize(("function", "message"), [
    (lambda x: InDict.apply(x)["twice"], "InDict.forward returned tensors in a dict"),
    (lambda x: InList.apply(x)[0], "InList.forward returned tensors in a list"),
    (lambda x: OfList.apply([x, 2.0]), "OfList.apply got a list of tensors that require grad"),
])  # fmt: skip
def test_tensors_in_containers_would_have_no_gradient(function, message, around):
    with pytest.raises(ng.errors.ArgTypeError, match=message):
        around(ng.func.grad(function))(3.0)
    with ng.no_grad():
        assert function(ng.tensor(3.0)).item() == 6.0


def test_a_backward_function_may_return_arrays_where_no_graph_is_made():
    class Cube(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3.0 * x.detach().numpy() ** 2 * g.detach().numpy()

    x = ng.tensor([0.5, 2.0], requires_grad=True)
    assert ng.grad(Cube.apply(x).sum(), x)[0].tolist() == [0.75, 12.0]
    (rows,) = ng.grad(Cube.apply(x), x, np.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[0.75, 0.0], [0.0, 12.0]]
    slope = ng.func.grad(lambda x: Cube.apply(x).sum())(np.array([0.5, 2.0]))
    assert slope.tolist() == [0.75, 12.0]
    scalar = ng.tensor(2.0, requires_grad=True)
    assert ng.grad(Cube.apply(scalar), scalar)[0].item() == 12.0
    for second in (
        lambda: ng.grad(Cube.apply(x).sum(), x, create_graph=True),
        lambda: ng.func.hessian(lambda x: Cube.apply(x).sum())(np.array([0.5, 2.0])),
    ):  # its derivative would be lost
        with pytest.raises(CustomGradError, match="an array where no graph is made"):
            second()
