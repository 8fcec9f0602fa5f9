"""What number a float becomes that is near to no integer of a dtype: the same one everywhere."""

import math

import numpy as np
import pytest

import numgrad as ng

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SOURCES = ("float16", "float32", "float64", "complex64", "complex128")
ENDS = [s * 2.0**n for n in (7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1)]
NUMBERS = [
    0.0, -0.0, 0.9, -0.9, -1.5, 300.7, 70000.5, 1e10, -1e10, 1e300, -1e300, np.inf, -np.inf, np.nan,
    *ENDS, *(np.nextafter(e, 0) for e in ENDS), *(np.nextafter(e, 2 * e) for e in ENDS),
]  # fmt: skip


def whole(x, dtype):
    """What the documentation says: the low bits of an integer of 32 or 64 bits."""
    bits = 32 if dtype.itemsize < 4 or dtype == np.int32 else 64
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1 + (dtype == np.uint64))
    if math.isfinite(x) and low <= math.trunc(x) < high:
        return math.trunc(x) % 2 ** (8 * dtype.itemsize)
    beyond = 0 if dtype == np.uint64 and x > 0 else low
    return beyond % 2 ** (8 * dtype.itemsize)


def expected_of(x, dtype):
    numbers = [whole(float(v), dtype) for v in x.real]
    return np.array(numbers, np.uint64).astype(dtype)


def all_casts(x):
    return tuple(x.astype(dtype) for dtype in INTEGERS)


def given(source):
    with np.errstate(over="ignore"):
        return np.array(NUMBERS).astype(source)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source", SOURCES)
def test_casts_have_the_same_bits_in_every_place(source):
    x = given(source)
    expected = [expected_of(x, np.dtype(d)) for d in INTEGERS]
    strided = np.repeat(x, 3)[::3]
    captured = ng.jit(all_casts, fuse="never")
    ways = {
        "eager": all_casts(ng.tensor(x)),
        "strided": all_casts(ng.asarray(strided)),
        "reversed": [r[::-1] for r in all_casts(ng.asarray(x[::-1]))],
        "captured": captured(x),
        "captured, strided": captured(strided),
        "fused": ng.jit(all_casts, fuse="now")(x),
        "members": ng.jit(all_casts, ensemble=True)(np.stack([x[::-1], x])),
    }
    for way, results in ways.items():
        for result, e in zip(results, expected, strict=True):
            found = np.asarray(result)[-1] if way == "members" else np.asarray(result)
            assert found.dtype == e.dtype
            np.testing.assert_array_equal(found, e, err_msg=f"{way} {e.dtype}")


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_of_single_and_few_numbers(source):
    x = given(source)
    for dtype in map(np.dtype, INTEGERS):
        e = expected_of(x, dtype)
        alone = [ng.tensor(v).astype(dtype).item() for v in x]
        parts = [ng.tensor(x[n : n + 3]) for n in range(0, len(x), 3)]
        few = np.concatenate([part.astype(dtype).numpy() for part in parts])
        np.testing.assert_array_equal(alone, e)
        np.testing.assert_array_equal(few, e)


def test_casts_that_numpy_defines_are_numpys():
    x = np.array([-1.9, -1.0, 0.5, 127.9, 100.0])
    for dtype in INTEGERS:
        kept = x if dtype[0] == "i" else abs(x)
        np.testing.assert_array_equal(ng.tensor(kept).astype(dtype).numpy(), kept.astype(dtype))


def test_writing_floats_into_integers_casts_them():
    x = given("float64")
    written = ng.tensor(np.zeros(len(x), np.uint32))
    written[...] = x
    np.testing.assert_array_equal(written.numpy(), expected_of(x, np.dtype(np.uint32)))


@pytest.mark.parametrize("dtype", [*INTEGERS, *SOURCES])
def test_of_equal_dtypes_tensors_have_numpys_own(dtype):
    # By its address an entry of a captured function knows it: else every call would take long.
    own = np.dtype(dtype)
    assert ng.tensor([True]).astype(own.newbyteorder("=")).dtype is own
    swapped = np.ones(2, own.newbyteorder("S"))
    assert own.itemsize == 1 or ng.asarray(swapped).dtype is own


@pytest.mark.parametrize("dtype", [*INTEGERS, *SOURCES])
def test_metadata_of_an_arrays_dtype_stay_its_own(dtype):
    with_unit = np.dtype(dtype, metadata={"unit": "m"})
    found = ng.asarray(np.ones((2, 1, 3, 1), with_unit))  # a shape of this test alone
    assert found.dtype is ng.ones((2, 1, 3, 1), dtype=dtype).dtype is np.dtype(dtype)


POWERS = {
    "arrays": lambda x: x ** ng.asarray(np.array([2, -1, 3])),
    "number": lambda x: x**-1,
    "base": lambda x: 2 ** (x - 2),
}


@pytest.mark.parametrize("power", POWERS.values(), ids=POWERS)
@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_negative_powers_of_integers_are_refused(power, dtype):
    x = np.array([1, 2, 3], dtype)
    words = "Integers to negative integer powers are not allowed"
    for function in (power, ng.jit(power, fuse="never"), ng.jit(power, fuse="now")):
        with pytest.raises(ValueError, match=words):
            function(ng.tensor(x))


def test_a_refused_power_is_named_with_its_row():
    power = ng.jit(lambda x, y: x**y, ensemble=True, fuse="never")
    with pytest.raises(ValueError, match=r"pow: .*astype\(float\).* at row 2"):
        power(np.full((4, 3), 2), np.array([[1, 2, 3], [4, 5, 6], [7, -8, 9], [1, 1, 1]]))


@pytest.mark.parametrize("dtype", [str, object, "M8[s]", "S3"])
def test_what_is_no_number_is_refused(dtype):
    x = ng.tensor([1.5, 2.0], requires_grad=True)
    for function in (lambda t: t.astype(dtype), lambda t: ng.sum(t, dtype=dtype)):
        for call in (function, ng.jit(function)):
            with pytest.raises(ng.errors.DtypeError, match="tensors hold booleans"):
                call(x)
