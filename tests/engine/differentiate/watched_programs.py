"""Random programs in which hooks and functions of users take part.

A program is drawn from a number. It is run several times with other data; what Python code does in
a run (replaces a gradient, drops it, writes into memory, raises) is drawn anew for each run, so
that plans of earlier passes fit some runs to the end and others only up to a point.
"""

import random

import numpy as np

import numgrad as ng

SHAPES = [(4,), (3, 4), (), (3, 1)]


class Run:
    """One run of a program: its data, and a log of all that Python code of the user has seen."""

    def __init__(self, program, turn):
        self.chance = random.Random(f"{program} {turn}")
        self.data = np.random.default_rng([program, turn])
        self.log = []
        self.tensors = []

    def note(self, label, *tensors):
        self.log.append((label, *[None if t is None else text(t) for t in tensors]))

    def happens(self, share):
        return self.chance.random() < share


def text(tensor):
    array = tensor.detach().numpy()
    return array.dtype.str, array.shape, array.tobytes()


RUN = None  # functions of users and hooks look here


def noted(name, ctx, *grads):
    RUN.note((name, ctx.needs_input_grad), *grads)
    if RUN.happens(0.02):
        raise ArithmeticError(f"in {name}")


class Square(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        noted("square", ctx, g)
        (x,) = ctx.saved_tensors
        return None if RUN.happens(0.1) else g * x * 2.0


class Exp(ng.Function):
    @staticmethod
    def forward(ctx, x):
        y = ng.exp(-x * x)
        ctx.save_for_backward(x, y)
        ctx.factor = 2.0
        return y

    @staticmethod
    def backward(ctx, g):
        noted("exp", ctx, g)
        x, y = ctx.saved_tensors
        return g * y * x * -ctx.factor


class Pair(ng.Function):
    takes_batch = True

    @staticmethod
    def forward(ctx, x, scale, y):
        ctx.save_for_backward(x, y)
        ctx.set_materialize_grads(scale > 1.0)
        return x * y * scale, x - y

    @staticmethod
    def backward(ctx, g, h):
        noted("pair", ctx, g, h)
        x, y = ctx.saved_tensors
        g = ng.zeros_like(h) if g is None else g
        h = ng.zeros_like(g) if h is None else h
        gy = None if RUN.happens(0.15) else g * x - h
        return g * y + h, None, gy


class Through(ng.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1.0

    @staticmethod
    def backward(ctx, g):
        noted("through", ctx, g)
        return g


class Once(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ng.sin(x)

    @staticmethod
    @ng.once_differentiable
    def backward(ctx, g):
        noted("once", ctx, g)
        (x,) = ctx.saved_tensors
        array = np.asarray(g.detach().numpy() * np.cos(x.detach().numpy()), g.dtype)
        return ng.tensor(np.asfortranarray(array) if RUN.happens(0.2) else array)


UNARY = [
    ng.sin, ng.tanh, lambda x: x * 0.5, lambda x: -x, lambda x: x + x, lambda x: x.sum(-1)
    if x.ndim else x, lambda x: x[1:] if x.ndim else x, lambda x: ng.exp(-x * x), lambda x: x * x,
    lambda x: x.T, lambda x: ng.maximum(x, 0.0), lambda x: ng.cumsum(x.reshape(-1)),
    lambda x: x.prod(-1) if x.ndim else x, lambda x: ng.sort(x, -1) if x.ndim else x,
    lambda x: ng.concat([x, x * 2.0]) if x.ndim else x, lambda x: x[..., 0] if x.ndim else x,
    lambda x: ng.logsumexp(x, -1) if x.ndim else x, lambda x: ng.where(x > 0.0, x, ng.abs(x)),
    lambda x: x @ x.T if x.ndim == 2 else x, lambda x: x.mean(), lambda x: x.astype(np.float64),
    lambda x: ng.sqrt(ng.abs(x) + 1.0), lambda x: ng.broadcast_to(x, (2, *x.shape)).sum(0),
]  # fmt: skip
BINARY = [ng.multiply, ng.add, ng.subtract, lambda x, y: x / (y * y + 1.0), ng.maximum]
FUNCTIONS = [Square.apply, Exp.apply, Through.apply, Once.apply]


def draw(program):
    """Return the steps of a program: what is applied to which values, and who watches them."""
    rng = random.Random(program)
    leaves = [(rng.choice(SHAPES), rng.random() < 0.25) for _ in range(rng.randint(1, 3))]
    dtype = rng.choice([np.float64, np.float64, np.float32])
    count, steps = len(leaves), []
    share = rng.choice([0.05, 0.2, 0.7])
    for _ in range(rng.randint(2, 14)):
        what = rng.random()
        args = [rng.randrange(max(0, count - 4), count) for _ in range(2)]
        kind = "unary" if what < 0.35 else "binary" if what < 0.7 else "function"
        kind = "pair" if what > 0.92 else kind
        table = {"unary": UNARY, "binary": BINARY, "function": FUNCTIONS, "pair": [1.0, 2.0]}[kind]
        watchers = [w for w in WATCHERS if rng.random() < share / 3]
        rng.shuffle(watchers)
        steps.append((kind, rng.randrange(len(table)), args, watchers, rng.random()))
        count += 2 if kind == "pair" else 1
    options = {
        "backward": rng.random() < 0.4, "inner": rng.random() < 0.3, "twice": rng.random() < 0.2,
        "create": rng.random() < 0.12, "batched": rng.random() < 0.08,
        "outputs": rng.choice([1, 1, 2]), "duplicate": rng.random() < 0.1,
        "extra": rng.random() < 0.1, "seeded": rng.random() < 0.5,
        "unwritten": rng.random() < 0.7, "calm": rng.random() < 0.5, "multi": rng.random() < 0.1,
    }  # fmt: skip
    return leaves, dtype, steps, options


def look(run, label, tensor):
    tensor.register_hook(lambda g: run.note(label, g))


def scale(run, label, tensor):
    def hook(g):
        run.note(label, g)
        return g * 2.0

    tensor.register_hook(hook)


def strange(run, label, tensor):
    """Return now and then a gradient in another memory order, the same one, or raise."""
    stays = run.calm

    def hook(g):
        run.note(label, g)
        what = run.chance.random()
        if stays or what < 0.5:
            return g
        if what < 0.7:
            return ng.tensor(np.asfortranarray(g.detach().numpy() * 0.5))
        if what < 0.8:
            return ng.tensor(np.repeat(g.detach().numpy()[..., None], 2, -1))[..., 0].detach()
        if what < 0.85:
            raise ArithmeticError(f"hook {label}")
        return None

    tensor.register_hook(hook)


def once(run, label, tensor):
    def hook(g):
        handle.remove()
        run.note(label, g)

    handle = tensor.register_hook(hook)


def writing(run, label, tensor):
    """Write into a value that other nodes may have saved, in some runs."""

    def hook(g):
        run.note(label, g)
        g += 1.0  # the hook's own copy
        if not run.unwritten and run.happens(0.4):
            other = run.tensors[run.chance.randrange(len(run.tensors))]
            with ng.no_grad():
                other += 1.0

    tensor.register_hook(hook)


def nested(run, label, tensor):
    def hook(g):
        with ng.enable_grad():
            x = ng.tensor(g.detach().numpy(), requires_grad=True)
            y = ng.sin(x) * x
            y.register_hook(lambda h: run.note((label, "inner"), h))
            return ng.grad(y, x, g.detach())[0].detach()

    tensor.register_hook(hook)


def registering(run, label, tensor):
    """Register a hook on another tensor while the pass runs."""

    def hook(g):
        other = run.tensors[0]
        if other.requires_grad:
            other.register_hook(lambda h: run.note((label, "late"), h))

    tensor.register_hook(hook)


def before_node(run, label, tensor):
    def hook(grads):
        run.note((label, "pre"), *grads)
        if not run.calm and run.happens(0.1):
            return tuple(None for _ in grads)
        return tuple(None if g is None else g * 0.5 for g in grads) if run.happens(0.3) else None

    if tensor.grad_fn is not None:
        tensor.grad_fn.register_prehook(hook)


def after_node(run, label, tensor):
    def hook(made, given):
        run.note((label, "post", len(made)), *made, *given)
        if not run.calm and run.happens(0.1):
            return tuple(None for _ in made)
        return tuple(None if g is None else g * 3.0 for g in made) if run.happens(0.3) else None

    if tensor.grad_fn is not None:
        tensor.grad_fn.register_hook(hook)


def retained(run, label, tensor):
    tensor.retain_grad()
    run.retained.append((label, tensor))


WATCHERS = [
    look, scale, strange, once, writing, nested, registering, before_node, after_node, retained,
]  # fmt: skip


def run(program, turn):
    """Run a program; return the log of the run."""
    global RUN
    leaves, dtype, steps, options = draw(program)
    RUN = made = Run(program, turn)
    made.retained, made.unwritten, made.calm = [], options["unwritten"], options["calm"]
    tensors = made.tensors
    for n, (shape, has_hook) in enumerate(leaves):
        tensors.append(ng.tensor(made.data.normal(size=shape).astype(dtype), requires_grad=True))
        if has_hook:
            scale(made, ("leaf", n), tensors[-1])
    try:
        for n, step in enumerate(steps):
            _apply(made, n, step)
        _pass(made, options, len(leaves))
    except Exception as error:
        made.log.append((type(error).__name__, str(error), getattr(error, "__notes__", None)))
    for label, tensor in made.retained:
        made.note((label, "grad"), tensor.grad)
    for n in range(len(leaves)):
        made.note(("leaf grad", n), tensors[n].grad)
    return made.log


def _apply(made, n, step):
    kind, which, args, watchers, _ = step
    x, y = (made.tensors[k] for k in args)
    if kind == "unary":
        results = [UNARY[which](x)]
    elif kind == "function":
        results = [FUNCTIONS[which](x)]
    else:
        if x.shape != y.shape and kind == "pair":
            y = x
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            y = x
        results = [BINARY[which](x, y)] if kind == "binary" else Pair.apply(x, 1.0 + which, y)
    for slot, result in enumerate(results):
        if result.requires_grad:
            for watcher in watchers:
                watcher(made, (n, slot, watcher.__name__), result)
        made.tensors.append(result)


def _pass(made, options, count):
    tensors = made.tensors
    outputs = [t for t in tensors[-options["outputs"] :] if t.requires_grad]
    seeds = [made.data.normal(size=t.shape).astype(t.dtype) for t in outputs]
    seeds = [ng.tensor(s) for s in seeds] if options["seeded"] else None
    inputs = [*tensors[:count], *(tensors[count : count + 2] if options["inner"] else ())]
    inputs = [t for t in inputs if t.requires_grad] + (tensors[:1] if options["duplicate"] else [])
    if options["multi"]:
        ng.graph.register_multi_grad_hook(
            inputs, lambda gs: made.note("multi", *gs)
        )
    for turn in range(1 + options["twice"]):
        keep = {"retain_graph": turn < options["twice"]}
        if options["backward"]:
            ng.backward(outputs, seeds, inputs=inputs if options["inner"] else None, **keep)
            continue
        if options["batched"]:
            seeds = [np.stack([np.ones(t.shape, t.dtype)] * 2) for t in outputs]
            keep["is_grads_batched"] = True
        if options["extra"] and not options["batched"]:
            keep["only_inputs"] = False
        if options["create"]:
            keep = {"create_graph": True}
        found = ng.grad(outputs, inputs, seeds, allow_unused=True, **keep)
        made.note("results", *found)
        if options["create"]:
            again = [g for g in found if g is not None and g.requires_grad]
            if again:
                made.note("again", *ng.grad(again, tensors[:count], allow_unused=True))
