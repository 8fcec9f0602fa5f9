"""Names of other libraries for functions that have another name in numgrad, for errors."""

from collections.abc import Callable
from sys import modules
from typing import Any

from .counterparts import counterpart

NAMES: dict[str, tuple[str, ...]] = {
    "vmap": ("ng.func.vmap(f)(x)",),
    "jacobian": ("ng.func.jacobian(f)(x)",),
    "jacrev": ("ng.func.jacrev(f)(x)",),
    "jacfwd": ("ng.func.jacfwd(f)(x)",),
    "hessian": ("ng.func.hessian(f)(x)",),
    "value_and_grad": ("ng.func.value_and_grad(f)(x)",),
    "grad_and_value": ("ng.func.grad_and_value(f)(x)",),
    "value_and_jacobian": ("ng.func.value_and_jacobian(f)(x)",),
    "elementwise_grad": ("ng.func.grad(lambda x: f(x).sum())(x)",),
    "vjp": ("ng.func.vjp(f, x)",),
    "jvp": ("ng.func.jvp(f, (x,), (t,))",),
    "linearize": ("ng.func.linearize(f, x)",),
    "hvp": ("ng.func.hvp(f, (x,), (t,))",),
    "hessian_vector_product": ("ng.func.hvp(f, (x,), (t,))",),
    "vhp": ("ng.func.vhp(f, (x,), (t,))",),
    "gradcheck": ("ng.testing.gradcheck(f, y)",),
    "gradgradcheck": ("ng.testing.gradgradcheck(f, y)",),
    "check_grad": ("ng.testing.gradcheck(f, y)",),
    "check_grads": ("ng.testing.gradcheck(f, y)",),
    "viz": ("ng.display.dot(f(y))",),
    "make_dot": ("ng.display.dot(f(y))",),
    "detach": ("ng.stop_gradient(y)", "y.detach() for a tensor y"),
    "to_tensor": ("ng.tensor(x)",),
    "make_vjp": ("ng.func.vjp(f, x)",),
    "make_jvp": ("ng.func.linearize(f, x)",),
    "lax": (
        "ng.scan, ng.fori_loop, ng.while_loop, ng.cond, ng.stop_gradient for its functions of "
        "these names",
    ),
    "tree": ("optree.tree_map(f, x) for a container x",),
    "tree_map": ("optree.tree_map(f, x) for a container x",),
    "tree_util": ("optree.tree_map(f, x) for a container x",),
    "functional_call": ("f(x) for a model f, which is a function of its parameters x",),
    "integrate": ("ng.interop.scipy.solve_ivp, ng.interop.scipy.quad for integrals",),
    "interpolate": ("ng.interop.scipy.CubicSpline for splines", "ng.interp for straight lines"),
    "ndimage": ("ng.interop.scipy.ndimage for its filters",),
    "spatial": ("ng.interop.scipy.Rotation, ng.interop.scipy.cdist for rotations and distances",),
    "optimize": (
        "ng.interop.scipy.minimize, ng.interop.scipy.root for solutions that are differentiated",
    ),
    "custom_vjp": ("ng.Function for Python code", "ng.operator for a kernel under @njit"),
    "custom_jvp": ("ng.elementwise for a scalar function", "ng.operator for a kernel under @njit"),
    "custom_gradient": ("ng.Function for Python code", "ng.operator for a kernel under @njit"),
    "primitive": ("ng.Function for Python code", "ng.operator for a kernel under @njit"),
    "autograd": ("ng.grad(f(y), y) for tensors", "ng.func.grad(f)(x) for functions"),
    "GradientTape": ("ng.grad(f(y), y) for what is computed of a tensor",),
    "Variable": ("ng.tensor(x, requires_grad=True)",),
    "Parameter": ("ng.tensor(x, requires_grad=True)",),
    "inference_mode": ("ng.no_grad()",),
    "from_numpy": ("ng.asarray(x)",),
    "as_tensor": ("ng.asarray(x)",),
    "cat": ("ng.concatenate([x, x])",),
    "clamp": ("ng.clip(x, 0.0, 1.0)",),
    "unsqueeze": ("ng.expand_dims(x, -1)",),
    "mm": ("ng.matmul(x, x)",),
    "bmm": ("ng.matmul(x, x)",),
    "relu": ("ng.maximum(x, 0.0)",),
    "sigmoid": ("ng.special.expit(x)",),
}
"""Code to write for a name of torch, JAX, autograd, paddle or TensorFlow; ``f`` is a function,
``x`` an array and ``y`` a tensor that requires grad."""

METHODS: dict[str, str] = {
    "data": "with ng.no_grad(): t -= step, and t.detach() to read",
    "zero_": "with ng.no_grad(): t[...] = 0.0",
    "fill_": "with ng.no_grad(): t[...] = value",
    "copy_": "with ng.no_grad(): t[...] = other",
    "add_": "with ng.no_grad(): t += other",
    "sub_": "with ng.no_grad(): t -= other",
    "mul_": "with ng.no_grad(): t *= other",
    "div_": "with ng.no_grad(): t /= other",
    "detach_": "t = t.detach()",
    "numel": "t.size",
    "dim": "t.ndim",
    "double": "t.astype('float64')",
    "float": "t.astype('float32')",
    "unsqueeze": "ng.expand_dims(t, axis)",
    "expand": "ng.broadcast_to(t, shape)",
    "contiguous": "ng.ascontiguousarray(t)",
    "matmul": "t @ other",
    "mm": "t @ other",
    "pow": "t ** other",
    "norm": "ng.linalg.norm(t)",
    "clamp": "ng.clip(t, 0.0, 1.0)",
    "relu": "ng.maximum(t, 0.0)",
    "sigmoid": "ng.special.expit(t)",
    "exp": "ng.exp(t)",
    "log": "ng.log(t)",
    "sqrt": "ng.sqrt(t)",
    "sin": "ng.sin(t)",
    "cos": "ng.cos(t)",
    "tanh": "ng.tanh(t)",
}
"""Code to write for methods of torch's tensors that a tensor ``t`` does not have."""

SOLVERS: dict[str, str] = {
    "scipy.integrate": "solve_ivp odeint quad",
    "scipy.optimize": "brentq fsolve least_squares minimize newton root",
    "scipy.interpolate": "CubicSpline PchipInterpolator RegularGridInterpolator interp1d",
}
"""Names of SciPy that are looked for in numgrad itself."""

_HOMES = ("linalg", "special", "fft", "signal", "stats", "sparse", "random", "polynomial")


def names_elsewhere(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module of numgrad alone: its error says what to write."""

    def name_of(name: str) -> Any:
        instead = "" if name.startswith("_") else elsewhere(name)
        why = f": {instead}" if instead else ""
        raise AttributeError(f"module {module!r} has no attribute {name!r}{why}", name=name)

    return name_of


def elsewhere(name: str) -> str:
    """Return code to write for a name that numgrad does not have, or an empty text."""
    is_own = callable(vars(modules["numgrad"]).get(name))
    codes = (f"ng.{name}",) if is_own else NAMES.get(name) or _in_namespaces(name)
    if not codes:
        return ""
    first = codes[0].partition("(")[0]
    about = f"{first} {'maps' if name == 'vmap' else 'differentiates'} functions, "
    return f"{about if first.startswith('ng.func.') else ''}write {', or '.join(codes)}"


def _in_namespaces(name: str) -> tuple[str, ...]:
    for library, names in SOLVERS.items():
        found = counterpart(f"{library}.{name}") if name in names.split() else None
        if found is not None:
            return (f"ng.{found}",)
    homes = ((home, modules.get(f"numgrad.{home}")) for home in _HOMES)
    return tuple(f"ng.{home}.{name}" for home, module in homes if _is_own(module, name))[:1]


def _is_own(module: Any, name: str) -> bool:
    """Return whether a loaded module has a function of numgrad by a name."""
    found = vars(module).get(name) if module is not None else None
    return callable(found) and str(getattr(found, "__module__", "")).startswith("numgrad")
