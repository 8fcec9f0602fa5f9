"""Complex numbers and arrays: two things, the real and the imaginary part."""

import ast
import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from ..builder.building import Builder
from ..builder.creation import dtype_name
from ..builder.loops import complex_functions as functions
from ..builder.things import Complex, Lazy, Static, Thing, is_array
from ..ssa.ir import Program, Type, Value
from ..ssa.refusal import Refusal

_MAPPED = {
    name: getattr(functions, name)
    for name in (
        "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos",
        "atan", "asinh", "acosh", "atanh",
    )
}  # fmt: skip
_PAIRED: dict[Any, Any] = {}
for _name, _loops in _MAPPED.items():
    _of_numpy = getattr(np, _name.replace("a", "arc", 1) if _name[0] == "a" else _name)
    _PAIRED[_of_numpy] = _PAIRED[getattr(cmath, _name)] = _loops
_LINEAR = {
    np.sum, np.mean, np.cumsum, np.diff, np.roll, np.trace, np.copy, np.ravel, np.reshape, np.diag,
    np.triu, np.tril, np.ascontiguousarray, np.expand_dims, np.transpose, np.flip, np.flipud,
    np.fliplr, np.repeat, sum,
}  # fmt: skip
_JOINING = {np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack}
_ARITHMETIC = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv", np.power: "pow",
}  # fmt: skip
_METHODS = {"sum", "mean", "cumsum", "copy", "reshape", "ravel", "flatten", "transpose"}
_TESTS = {
    cmath.isnan: (np.isnan, "or"), cmath.isinf: (np.isinf, "or"),
    cmath.isfinite: (np.isfinite, "and"), np.isnan: (np.isnan, "or"), np.isinf: (np.isinf, "or"),
    np.isfinite: (np.isfinite, "and"),
}  # fmt: skip
_PRODUCTS = {np.dot, np.matmul}
_BILINEAR = {np.outer, np.kron, np.convolve, np.cross}
COMPLEX_DTYPES = {"complex64": "float32", "complex128": "float64"}


class ComplexNumbers:
    """Reads operations with complex operands."""

    b: Builder
    binary: Callable[..., Thing]
    computed: Callable[[Thing], Thing]
    inlined: Callable[..., Thing]
    element: Callable[..., Thing]
    compared: Callable[..., Thing]
    transposed: Callable[[Value], Value]
    matmul: Callable[..., Thing]
    constants: Callable[..., Value]
    array_of: Callable[..., Value]
    _apply: Callable[..., Thing]
    _method: Callable[..., Thing]
    _call_where: Callable[..., Thing]
    _array_attribute: Callable[..., Thing]
    _write_to: Callable[..., None]
    _call_full: Callable[..., Any]
    current: ast.AST

    def _complex(self, thing: Thing) -> Complex:
        """Return a thing as a complex one."""
        if isinstance(thing, Complex):
            return thing
        return Complex(thing if is_array(thing) else self.b.number(thing), self.b.constant(0.0))

    def _mapped(self, loops: Any, *parts: Thing) -> Complex:
        """Apply a function of parts to numbers, or to the elements of arrays."""
        if not any(is_array(part) for part in parts):
            pair = self.inlined(self.current, loops, [self.b.number(part) for part in parts], {})
            return Complex(*pair)
        lazies = [self.b.lazy(p) if is_array(p) else self.b.number(p) for p in parts]
        shape = self.b.broadcast([part.shape for part in lazies if isinstance(part, Lazy)])
        made = Complex(self.b.alloc("float64", shape), self.b.alloc("float64", shape))

        def each(index: list[Value]) -> None:
            numbers = [self.b.element_of(part, index) for part in lazies]
            re, im = self.inlined(self.current, loops, numbers, {})
            self.b.store(made.re, index, self.b.number(re))
            self.b.store(made.im, index, self.b.number(im))

        self.b.for_each(shape, each)
        return made

    # Operators

    def complex_binary(self, operator: ast.operator, left: Thing, right: Thing) -> Complex:
        """Apply an arithmetic operator."""
        one, other = self._complex(left), self._complex(right)
        if isinstance(operator, (ast.Add, ast.Sub)):
            re = self.binary(operator, one.re, other.re)
            im = self._sum_of_parts(operator, left, right)
            if is_array(re) and not is_array(im):
                im = self.b.elementwise(lambda x, y: y, (re, im))
            return Complex(re, im)
        if isinstance(operator, ast.Mult):
            if not isinstance(left, Complex):
                return Complex(self.binary(operator, left, other.re), self.binary(operator, left, other.im))  # noqa: E501
            if not isinstance(right, Complex):
                return Complex(self.binary(operator, one.re, right), self.binary(operator, one.im, right))  # noqa: E501
            return self._mapped(functions.times, one.re, one.im, other.re, other.im)
        if isinstance(operator, ast.Div) and not isinstance(right, Complex):
            return Complex(self.binary(operator, one.re, right), self.binary(operator, one.im, right))  # noqa: E501
        if isinstance(operator, ast.Div):
            return self._mapped(functions.divided, one.re, one.im, other.re, other.im)
        if isinstance(operator, ast.Pow):
            return self._power(one, right)
        raise Refusal("this operation of complex numbers is not understood")

    def _sum_of_parts(self, operator: ast.operator, left: Thing, right: Thing) -> Thing:
        one, other = self._complex(left), self._complex(right)
        if not isinstance(right, Complex) and not is_array(right):
            return one.im
        return self.binary(operator, one.im, other.im)

    def _power(self, base: Complex, exponent: Thing) -> Complex:
        if isinstance(exponent, Value) and not exponent.type.is_real and not exponent.type.is_array:
            return self._mapped(functions.whole_power, base.re, base.im, exponent)
        other = self._complex(exponent)
        return self._mapped(functions.power, base.re, base.im, other.re, other.im)

    def complex_unary(self, name: str, thing: Complex) -> Complex:
        """Apply a sign."""
        if name not in ("neg", "pos"):
            raise Refusal("complex numbers have signs only")
        sign = lambda x: self.b.elementwise(lambda y: self.b.scalar(name, y), (x,))  # noqa: E731
        return Complex(sign(thing.re), sign(thing.im))

    def complex_compared(self, operator: ast.cmpop, left: Thing, right: Thing) -> Thing:
        """Compare for equality."""
        if not isinstance(operator, (ast.Eq, ast.NotEq)):
            raise Refusal("complex numbers have no order")
        one, other = self._complex(left), self._complex(right)
        name = "and" if isinstance(operator, ast.Eq) else "or"
        pair = self.compared(operator, one.re, other.re), self.compared(operator, one.im, other.im)
        return self.b.elementwise(lambda x, y: self.b.scalar(name, x, y), pair)

    def complex_product(self, one: Thing, other: Thing) -> Complex:
        """Return a product of vectors or matrices."""
        a, c = (t if isinstance(t, Complex) else Complex(t, None) for t in (one, other))

        def sum_of(sign: ast.operator, first: Any, second: Any) -> Thing:
            terms = [self.matmul(x, y) if x is not None and y is not None else None for x, y in (first, second)]  # noqa: E501
            if terms[1] is None:
                return terms[0] if terms[0] is not None else self.b.constant(0.0)
            return self.binary(sign, terms[0], terms[1]) if terms[0] is not None else terms[1]

        re = sum_of(ast.Sub(), (a.re, c.re), (a.im, c.im))
        return Complex(re, sum_of(ast.Add(), (a.re, c.im), (a.im, c.re)))

    # Elements

    def complex_element(self, array: Complex, index: list[Any]) -> Complex:
        """Return an element or a part of an array."""
        return Complex(
            self.element(self.b.array(array.re), index), self.element(self.b.array(array.im), index)
        )

    def complex_write(self, array: Complex, index: list[Any], thing: Thing, sign: str) -> None:
        """Write an element or a part of an array."""
        value = self._complex(thing)
        parts = [self.computed(part) for part in (value.re, value.im)]
        views = isinstance(parts[0], Value) and parts[0].type.is_array
        if views:  # the imaginary part must not see what the real part has written
            parts = [self.b.copy(p) if is_array(p) and p.op.name == "view" else p for p in parts]
        for target, part in zip((array.re, array.im), parts, strict=True):
            self._write_to(target, index, part, sign)

    # Attributes, methods and functions

    def complex_attribute(self, thing: Complex, name: str) -> Thing:
        """Return an attribute."""
        if name in ("real", "imag"):
            return thing.re if name == "real" else thing.im
        if name == "T":
            return Complex(*(self.transposed(self.b.array(part)) for part in (thing.re, thing.im)))
        if name == "dtype":
            return Static(np.dtype(np.complex64 if thing.re.type.dtype == "float32" else np.complex128))  # noqa: E501
        if is_array(thing.re):
            return self._array_attribute(thing.re, name)
        raise Refusal(f"the attribute `{name}` is not understood")

    def complex_method(self, owner: Complex, name: str, args: list[Thing], words: dict) -> Thing:
        """Return the result of a method."""
        if name in ("conj", "conjugate"):
            return Complex(owner.re, self.complex_unary("neg", owner).im)
        if name in _METHODS:
            return Complex(*(self._method(part, name, args, words) for part in (owner.re, owner.im)))  # noqa: E501
        if name == "astype" and (kind := COMPLEX_DTYPES.get(dtype_name(args[0]))):
            return Complex(*(self.b.computed(self.b.lazy(p), kind) for p in (owner.re, owner.im)))
        if name == "fill":
            value = self._complex(args[0])
            self._method(owner.re, name, [value.re], {})
            self._method(owner.im, name, [value.im], {})
            return Static(None)
        if name == "dot":
            return self.complex_product(owner, args[0])
        raise Refusal(f"the method `{name}` of complex numbers is not understood")

    def complex_call(self, node: ast.Call, function: Any, args: list[Thing], words: dict) -> Thing:
        """Return the result of a function of NumPy, math or builtins."""
        one = args[0]
        if function in (complex, np.complex128, np.complex64):
            return self._complex(one) if len(args) == 1 else Complex(*map(self.b.number, args))
        if function in _PAIRED:
            return self._mapped(_PAIRED[function], one.re, one.im)
        if function in (abs, np.abs, np.absolute):
            return self._apply(node, np.hypot, [one.re, one.im], {})
        if function in (np.angle, cmath.phase):
            return self._apply(node, np.arctan2, [one.im, one.re], {})
        if function is cmath.polar:
            pair = self._mapped(functions.polar, one.re, one.im)
            return pair.re, pair.im
        if function in _TESTS:
            parts = [self._apply(node, _TESTS[function][0], [p], {}) for p in (one.re, one.im)]
            return self.b.elementwise(lambda x, y: self.b.scalar(_TESTS[function][1], x, y), parts)
        if function in (np.conj, np.conjugate):
            return self.complex_method(one, "conj", [], {})
        if function in (np.real, np.imag):
            return one.re if function is np.real else one.im
        if function in (np.square,):
            return self._mapped(functions.times, one.re, one.im, one.re, one.im)
        if function in _ARITHMETIC:
            operator = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "pow": ast.Pow}[_ARITHMETIC[function]]  # noqa: E501
            return self.complex_binary(operator(), *args)
        return self._complex_of_arrays(node, function, args, words)

    def _call_rect(self, r: Thing, phi: Thing) -> Complex:
        return self._mapped(functions.rect, r, phi)

    def _complex_of_arrays(
        self, node: ast.Call, function: Any, args: list[Thing], words: dict
    ) -> Thing:
        one = args[0]
        if function is len:
            return self._apply(node, function, [one.re], {})
        if function in _LINEAR and isinstance(one, Complex):
            parts = (self._apply(node, function, [p, *args[1:]], words) for p in (one.re, one.im))
            return Complex(*map(self.computed, parts))
        if function in _PRODUCTS:
            return self.complex_product(*args)
        if function in _BILINEAR:
            return self._bilinear(node, function, *args)
        if function in _JOINING and isinstance(one, tuple):
            return self._joined_parts(node, function, args, words)
        if function is np.append:
            pair = tuple(self._part_arrays(thing) for thing in args[:2])
            parts = (self._apply(node, function, [p[k] for p in pair], words) for k in (0, 1))
            return Complex(*parts)
        if function is np.full:
            return self._call_full(*args, **words)
        if function is np.vdot:
            return self.complex_product(self.complex_method(self._complex(one), "conj", [], {}), args[1])  # noqa: E501
        if function is np.where and len(args) == 3:
            yes, no = self._complex(args[1]), self._complex(args[2])
            return Complex(*(self._apply(node, function, [one, y, n], {}) for y, n in ((yes.re, no.re), (yes.im, no.im))))  # noqa: E501
        if function is np.linalg.norm and len(args) == 1:
            return self._apply(node, function, [self.computed(self._apply(node, np.hypot, [one.re, one.im], {}))], {})  # noqa: E501
        name = getattr(function, "__name__", "")
        if name in ("zeros_like", "empty_like", "ones_like"):
            other = "zeros_like" if name == "ones_like" else name
            pair = self._apply(node, function, [one.re], {}), self._apply(node, getattr(np, other), [one.im], {})  # noqa: E501
            return Complex(*pair)
        if function in (np.array, np.asarray) and isinstance(one, Complex):
            return Complex(*(self.b.copy(self.b.array(part)) for part in (one.re, one.im)))
        raise Refusal(f"the function `{ast.unparse(node.func)}` of complex numbers is not understood")  # noqa: E501

    def _bilinear(self, node: ast.Call, function: Any, one: Thing, other: Thing) -> Complex:
        (a, b), (c, d) = self._part_arrays(one), self._part_arrays(other)
        call = lambda x, y: self.computed(self._apply(node, function, [x, y], {}))  # noqa: E731
        sub = self.binary(ast.Sub(), call(a, c), call(b, d))
        return Complex(sub, self.binary(ast.Add(), call(a, d), call(b, c)))

    def _joined_parts(
        self, node: ast.Call, function: Any, args: list[Thing], words: dict
    ) -> Complex:
        """Join arrays of which some are complex."""
        pairs = [self._part_arrays(thing) for thing in args[0]]
        parts = (tuple(pair[k] for pair in pairs) for k in (0, 1))
        return Complex(*(self._apply(node, function, [part, *args[1:]], words) for part in parts))

    def _part_arrays(self, thing: Thing) -> tuple[Thing, Thing]:
        """Return the parts of an array or a number, as arrays for an array."""
        if not is_array(thing):
            found = self._complex(thing)
            return found.re, found.im
        lazy = self.b.lazy(thing)
        return thing, self.b.alloc(lazy.type.dtype, lazy.shape, "zeros")

    def new_complex(self, fill: str, shape: list[Value], dtype: str) -> Complex:
        """Return a new array of complex numbers."""
        kind, im = COMPLEX_DTYPES[dtype], "zeros" if fill == "ones" else fill
        return Complex(self.b.alloc(kind, shape, fill), self.b.alloc(kind, shape, im))

    def complex_array_of(self, things: tuple, dtype: str = "") -> Complex:
        """Return a new array of the numbers of a tuple, which may be nested."""
        kind = COMPLEX_DTYPES[dtype or "complex128"]
        parts = (self.array_of(self._parts_of(things, part), kind) for part in ("re", "im"))
        return Complex(*parts)

    def _parts_of(self, thing: Thing, part: str) -> Thing:
        """Return the real or the imaginary parts of what is in nested tuples."""
        if isinstance(thing, tuple):
            return tuple(self._parts_of(inner, part) for inner in thing)
        return getattr(self._complex(thing), part)

    def known_complex(self, value: Any, name: str) -> Complex:
        """Return a number or an array that is known when the kernel is compiled."""
        if not isinstance(value, np.ndarray):
            return Complex(self.b.constant(value.real), self.b.constant(value.imag))
        parts = (("real", value.real.copy()), ("imag", value.imag.copy()))
        return Complex(*(self.constants((id(value), p), a, f"{name}_{p}") for p, a in parts))


def parts_of_parameter(b: Builder, program: Program, made: Value) -> Complex:
    """Return the parts of an argument: of a number two numbers, of an array two views."""
    kind = COMPLEX_DTYPES[made.type.dtype]
    if not made.type.is_array:
        return Complex(*(b.scalar(name, made, type=Type(kind)) for name in ("real", "imag")))
    extents = b.shape(made)
    views = (
        b.op("view", [made], Type(kind, made.type.ndim), spec=name, extents=extents)
        for name in ("real", "imag")
    )
    return Complex(*(view.result for view in views))


def joined(b: Builder, thing: Complex) -> Value:
    """Return a complex number or array made of its parts, for the result of a kernel."""
    if not is_array(thing.re):
        parts = b.number(thing.re), b.number(thing.im)
        return b.scalar("complex", *parts, type=Type("complex128"))
    re, im = b.lazy(thing.re), b.lazy(thing.im)
    dtype = "complex64" if re.type.dtype == im.type.dtype == "float32" else "complex128"
    made = b.alloc(dtype, re.shape)
    views = parts_of_parameter(b, b.program, made)
    b.assign(views.re, re)
    b.assign(views.im, im)
    return made
