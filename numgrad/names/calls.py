"""Calls of other libraries' functions, and code of numgrad for the same number.

They are the functions whose counterpart takes other arguments, or takes them in another order.
"""

_MISSING = "  # for ng.nansum, ng.nanmean and the like, as numgrad has no masks"

CALLS: dict[str, str] = {
    # Conversions
    "builtins.float(x)": "x  # which computes as a number does",
    "numpy.float64(x)": "x  # which computes as a number does",
    "numpy.float32(x)": "x.astype('float32')",
    "builtins.complex(x)": "x.astype(complex)",
    "builtins.complex(re, im)": "re + 1j * im",
    "numpy.complex128(x)": "x.astype(complex)",
    # math, cmath, statistics and scipy.stats
    "math.log(x)": "ng.log(x)",
    "math.log(x, base)": "ng.log(x) / ng.log(base)",
    "math.hypot(x, y)": "ng.hypot(x, y)",
    "math.hypot(*coordinates)": "ng.linalg.norm(ng.asarray([*coordinates]))",
    "math.dist(p, q)": "ng.linalg.norm(ng.asarray(p) - ng.asarray(q))",
    "math.remainder(x, y)": "x - y * ng.rint(x / y)",
    "math.sumprod(p, q)": "ng.sum(ng.asarray(p) * ng.asarray(q))",
    "math.fsum(seq)": "ng.sum(ng.asarray([*seq]))",
    "math.fma(x, y, z)": "x * y + z",
    "math.isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)": (
        "abs(a - b) <= ng.maximum(rel_tol * ng.maximum(abs(a), abs(b)), abs_tol)"
    ),
    "cmath.isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)": (
        "abs(a - b) <= ng.maximum(rel_tol * ng.maximum(abs(a), abs(b)), abs_tol)"
    ),
    "cmath.log(z, base)": (
        "ng.log(ng.asarray(z).astype(complex)) / ng.log(ng.asarray(base).astype(complex))"
    ),
    "cmath.sqrt(z)": "ng.sqrt(ng.asarray(z).astype(complex))",
    "cmath.log(z)": "ng.log(ng.asarray(z).astype(complex))",
    "cmath.log10(z)": "ng.log10(ng.asarray(z).astype(complex))",
    "cmath.acos(z)": "ng.acos(ng.asarray(z).astype(complex))",
    "cmath.asin(z)": "ng.asin(ng.asarray(z).astype(complex))",
    "cmath.acosh(z)": "ng.acosh(ng.asarray(z).astype(complex))",
    "cmath.atanh(z)": "ng.atanh(ng.asarray(z).astype(complex))",
    "cmath.polar(z)": "(abs(z), ng.angle(z))",
    "cmath.rect(r, phi)": "r * ng.exp(1j * phi)",
    "statistics.mean(data)": "ng.mean(data)",
    "statistics.fmean(data)": "ng.mean(data)",
    "statistics.fmean(data, weights)": "ng.average(ng.asarray(data), weights=ng.asarray(weights))",
    "statistics.geometric_mean(data)": "ng.exp(ng.mean(ng.log(data)))",
    "statistics.harmonic_mean(data)": "1.0 / ng.mean(1.0 / ng.asarray(data))",
    "statistics.harmonic_mean(data, weights)": (
        "1.0 / ng.average(1.0 / ng.asarray(data), weights=ng.asarray(weights))"
    ),
    "statistics.stdev(data)": "ng.std(data, ddof=1)",
    "statistics.stdev(data, xbar)": (
        "ng.sqrt(ng.sum((ng.asarray(data) - xbar) ** 2) / (len(data) - 1))"
    ),
    "statistics.pstdev(data)": "ng.std(data)",
    "statistics.pstdev(data, mu)": "ng.sqrt(ng.mean((ng.asarray(data) - mu) ** 2))",
    "statistics.variance(data)": "ng.var(data, ddof=1)",
    "statistics.variance(data, xbar)": "ng.sum((ng.asarray(data) - xbar) ** 2) / (len(data) - 1)",
    "statistics.pvariance(data)": "ng.var(data)",
    "statistics.pvariance(data, mu)": "ng.mean((ng.asarray(data) - mu) ** 2)",
    "statistics.covariance(x, y)": "ng.cov(x, y)[0, 1]",
    "statistics.correlation(x, y)": "ng.corrcoef(x, y)[0, 1]",
    "statistics.linear_regression(x, y)": "ng.polyfit(x, y, 1)",
    "scipy.stats.linregress(x, y)": "ng.polyfit(x, y, 1)  # slope and intercept",
    # Objects of NumPy that hold or walk along arrays
    "numpy.matrix(data)": "ng.atleast_2d(data)  # and @ for * of matrices",
    "numpy.nditer(op)": "ng.ravel(op)",
    # Masked arrays. What is masked is NaN, which is no number by mistake.
    "numpy.ma.masked_where(condition, a, copy=True)": f"ng.where(condition, ng.nan, a){_MISSING}",
    "numpy.ma.array(data)": "ng.asarray(data)",
    "numpy.ma.array(data, *, mask)": f"ng.where(mask, ng.nan, data){_MISSING}",
    "numpy.ma.array(data, dtype, copy, mask)": f"ng.where(mask, ng.nan, data){_MISSING}",
    "numpy.ma.MaskedArray(data)": "ng.asarray(data)",
    "numpy.ma.MaskedArray(data, mask)": f"ng.where(mask, ng.nan, data){_MISSING}",
    "numpy.ma.asarray(a)": "ng.asarray(a)",
    "numpy.ma.masked_invalid(a, copy=True)": f"ng.where(ng.isfinite(a), a, ng.nan){_MISSING}",
    "numpy.ma.masked_equal(x, value, copy=True)": f"ng.where(x == value, ng.nan, x){_MISSING}",
    "numpy.ma.masked_not_equal(x, value, copy=True)": f"ng.where(x != value, ng.nan, x){_MISSING}",
    "numpy.ma.masked_greater(x, value, copy=True)": f"ng.where(x > value, ng.nan, x){_MISSING}",
    "numpy.ma.masked_greater_equal(x, value, copy=True)": (
        f"ng.where(x >= value, ng.nan, x){_MISSING}"
    ),
    "numpy.ma.masked_less(x, value, copy=True)": f"ng.where(x < value, ng.nan, x){_MISSING}",
    "numpy.ma.masked_less_equal(x, value, copy=True)": f"ng.where(x <= value, ng.nan, x){_MISSING}",
    "numpy.ma.masked_inside(x, v1, v2, copy=True)": (
        f"ng.where((ng.minimum(v1, v2) <= x) & (x <= ng.maximum(v1, v2)), ng.nan, x){_MISSING}"
    ),
    "numpy.ma.masked_outside(x, v1, v2, copy=True)": (
        f"ng.where((ng.minimum(v1, v2) <= x) & (x <= ng.maximum(v1, v2)), x, ng.nan){_MISSING}"
    ),
    # Draws: methods of generators, which are ``self``
    "numpy.random.Generator.permutation(x, axis: 0 = 0)": "x[self.permutation(len(x))]",
    "numpy.random.Generator.choice(a, size=None, replace=True)": (
        "a[self.choice(len(a), size=size, replace=replace)]"
    ),
    "numpy.random.Generator.choice(a, size=None, replace=True, p=None)": (
        "self.choice(a, size=size, replace=replace, p=ng.asarray(p).detach().numpy())"
        "  # as a choice has no derivative; elements of a tensor t are t[indices]"
    ),
}
"""Calls with the names of the arguments, and the code. The first call that an expression matches
counts. An annotation says which of some constants, or of which type, the source of an argument is;
a default is what an argument is that is not given. What follows ``#`` is said after the code."""
