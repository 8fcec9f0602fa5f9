"""A call of every function of SciPy that takes arrays of any library, for `scipy_coverage.py`.

A line names functions of a module and the arguments that they are called with, or the whole call,
where ``f`` is the function. The names in it are the arrays below; ``xp`` is the library.
"""

from typing import Any

import numpy as np

_rng = np.random.default_rng(7)
_steps = np.linspace(0.0, 1.0, 12)


def _matrix(*shape: int) -> np.ndarray:
    return _rng.normal(size=shape)


ARRAYS: dict[str, Any] = {
    # numbers between 0 and 1, above 1, of any sign; the last have no two alike
    "p": np.array([0.15, 0.4, 0.65, 0.8]),
    "a": np.array([1.3, 2.1, 0.7, 3.2]),
    "b": np.array([2.4, 1.6, 3.5, 1.1]),
    "x": np.array([0.3, -1.2, 2.5, 0.9]),
    "c": np.array([0.5, 1.5]),
    "one": np.array(0.7),
    "n": np.array([1, 2, 0, 3]),
    "k": np.array([1.3, 2.2, 0.4, 3.1]),
    # samples and signals
    "data": _rng.normal(size=12),
    "more": _rng.normal(size=12) + 0.4,
    "third": 1.5 * _rng.normal(size=12),
    "rows": _rng.normal(size=(3, 12)),
    "positive": _rng.gamma(3.0, size=12) + 0.2,
    "weights": _rng.uniform(0.5, 1.5, 12),
    "whole": np.array([3, 1, 4, 1, 5, 9, 2, 6]),
    "counts": np.array([16.5, 18.3, 16.1, 14.7, 12.2, 12.2]),
    "expected": np.array([15.2, 17.5, 17.1, 14.6, 13.3, 12.3]),
    "pvalues": np.array([0.03, 0.2, 0.11, 0.4]),
    "signal": _rng.normal(size=32),
    "long": _rng.normal(size=64),
    "z": _rng.normal(size=8) + 1j * _rng.normal(size=8),
    "even": _rng.normal(size=8),
    "image": _rng.normal(size=(6, 5)),
    "zimage": _rng.normal(size=(4, 3)) + 1j * _rng.normal(size=(4, 3)),
    "large": _rng.normal(size=(64, 64)),
    "kernel": _rng.normal(size=(3, 3)),
    "taps": np.array([0.5, 0.3, -0.1]),
    "mask": _rng.normal(size=(6, 5)) > -0.3,
    "labels": np.array([[1, 1, 0, 2, 2]] * 3 + [[3, 3, 0, 2, 2]] * 3),
    "bytes": _rng.integers(0, 200, size=(6, 5)).astype(np.uint8),
    "markers": np.array([[1, 0, 0, 0, 0]] + [[0] * 5] * 4 + [[0, 0, 0, 0, 2]], np.int16),
    "places": _rng.uniform(0.5, 3.5, size=(2, 7)),
    "ones": np.ones((3, 3), bool),
    "number": np.array(1.5),
    # functions of time
    "t": _steps**1.2,
    "y": np.sin(4 * _steps) + 0.05 * _rng.normal(size=12),
    "y2": np.cos(3 * _steps),
    "s": np.linspace(0.1, 0.9, 5),
    "knots": np.array([0.0] * 4 + [0.3, 0.6] + [1.0] * 4),
    "y9": _rng.normal(size=9),
    # filters
    "num": np.array([0.2, 0.35, 0.2]),
    "den": np.array([1.0, -0.6, 0.3]),
    "zeros": np.array([-0.5 + 0.4j, -0.5 - 0.4j]),
    "poles": np.array([-0.3 + 0.5j, -0.3 - 0.5j]),
    "sos": np.array([[0.2, 0.35, 0.2, 1.0, -0.6, 0.3], [1.0, 0.4, 0.1, 1.0, 0.2, 0.15]]),
    "w": np.array([0.3, 0.8, 1.7]),
    "edge": np.array(0.3),
    "band": np.array([0.25, 0.6]),
    "outer": np.array([0.15, 0.75]),
    "bands": np.array([0.0, 0.15, 0.25, 0.5]),
    "gains": np.array([1.0, 0.9, 0.1, 0.0]),
    "A": np.array([[0.1, 1.0], [-0.7, -0.9]]),
    "B": np.array([[0.5], [1.2]]),
    "C": np.array([[1.0, 0.3]]),
    "D": np.array([[0.1]]),
    "goals": np.array([-1.1, -2.3]),
    # points and clusters
    "points": _matrix(6, 2),
    "codes": np.array([[0.5, 0.2], [-0.6, -0.4]]),
    "square": _matrix(3, 3),
    "other": _matrix(3, 3),
}

CALLS: dict[str, str] = {}

CALLS["scipy.cluster.hierarchy"] = """
average complete single weighted centroid median ward linkage: distances
cophenet dendrogram inconsistent is_monotonic is_valid_linkage leaves_list maxdists: tree
num_obs_linkage to_mlab_linkage: tree
dendrogram: tree, no_plot=True
to_tree: f(tree).dist
correspond optimal_leaf_ordering: tree, distances
fcluster: tree, 1.0
fclusterdata: points, 1.0
from_mlab_linkage: mlab
is_isomorphic: clusters, clusters
is_valid_im: depths
leaders: tree, clusters
maxRstat: tree, depths, 0
maxinconsts: tree, depths
"""
CALLS["scipy.cluster.vq"] = """
whiten: points
vq kmeans: points, codes
kmeans2: points, codes, minit="matrix"
"""
CALLS["scipy.constants"] = """
convert_temperature: x, "Celsius", "Kelvin"
lambda2nu nu2lambda: a
"""
CALLS["scipy.differentiate"] = """
derivative jacobian: f(lambda t: t * t * t, a).df
hessian: f(lambda t: (t * t * t).sum(axis=0), a).ddf
"""
CALLS["scipy.fft"] = """
fft ifft hfft: z
rfft ihfft dct idct dst idst fftshift ifftshift: even
irfft: z
fft2 ifft2 fftn ifftn irfft2 irfftn hfft2 hfftn: zimage
rfft2 rfftn ihfft2 ihfftn dctn idctn dstn idstn: image
fftfreq rfftfreq: 6, 0.5, xp=xp
fht ifht: even, 0.1, 0.5
"""
CALLS["scipy.integrate"] = """
cubature: f(lambda v: (v * v).sum(axis=-1), c, c + 1.0).estimate
cumulative_simpson cumulative_trapezoid trapezoid: y, x=t
nsum: f(lambda v, e: 1 / v**e, xp.asarray(1.0), xp.asarray(xp.inf), args=(a + 1.0,)).sum
qmc_quad: f(lambda v: (v * v).sum(axis=0), c, c + 1.0, n_points=64, n_estimates=2, qrng=halton)
romb: y9
tanhsinh: f(lambda v, e: v**e, p, p + 1.0, args=(a,)).integral
"""
CALLS["scipy.interpolate"] = """
generate_knots: list(f(t, y, s=0.2))
make_interp_spline: f(t, y)(s)
make_lsq_spline: f(0.01 + 0.98 * t, y, knots)(s)
make_smoothing_spline: f(t, y, lam=0.1)(s)
make_splprep: f([y, y2], u=t, s=0.1)[0](s)
make_splrep: f(t, y, s=0.1)(s)
"""
CALLS["scipy.linalg"] = """
block_diag orthogonal_procrustes: square, other
fiedler: x
"""
CALLS["scipy.ndimage"] = """
affine_transform: image, kernel[:2, :2]
binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss: mask
binary_opening binary_propagation distance_transform_bf distance_transform_cdt: mask
distance_transform_edt label: mask
black_tophat grey_closing grey_dilation grey_erosion grey_opening morphological_gradient: image, 3
morphological_laplace white_tophat maximum_filter minimum_filter median_filter: image, 3
uniform_filter maximum_filter1d minimum_filter1d uniform_filter1d: image, 3
center_of_mass extrema maximum maximum_position mean median minimum: image, labels, 2
minimum_position standard_deviation sum_labels variance: image, labels, 2
convolve correlate: image, kernel
convolve1d correlate1d: image, taps
find_objects value_indices: labels
fourier_gaussian fourier_shift fourier_uniform: zimage, 1.5
fourier_ellipsoid: zimage, 1.5
gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace: image, 1.0
generic_filter: image, lambda v: v[0] - v[4] * v[8], 3
generic_filter1d: image, lambda line, out: out.__setitem__(slice(None), line[1:-1]), 3
generic_gradient_magnitude: image, ndimage.sobel
generic_laplace: image, lambda v, axis, out, *_, **__: ndimage.sobel(v, axis, out)
geometric_transform: image, lambda at: (at[0] * 0.8, at[1] * 0.9)
histogram: image, -2.0, 2.0, 4
iterate_structure: ones, 2
labeled_comprehension: image, labels, [1, 2, 3], lambda v: v.mean(), float, 0
laplace prewitt sobel spline_filter spline_filter1d: image
map_coordinates: image, places
percentile_filter: image, 30, 3
rank_filter: image, 2, 3
rotate: image, 20.0
shift: image, 0.4
vectorized_filter: image, lambda v, axis: xp.mean(v * v, axis=axis), size=3
watershed_ift: bytes, markers
zoom: image, 1.5
"""
CALLS["scipy.optimize"] = """
rosen rosen_der rosen_hess: x
rosen_hess_prod: x, a
"""
CALLS["scipy.optimize.elementwise"] = """
bracket_root: f(lambda v, e: v * v * v - e, a - 0.5, a + 0.5, args=(b,)).bracket
bracket_minimum: f(lambda v, e: (v - e) ** 2, b + 0.2, args=(b,)).bracket
find_root: f(lambda v, e: v * v * v - e, (a * 0.0, a + 3.0), args=(b,)).x
find_minimum: f(lambda v, e: (v - e) ** 2 * (1 + v * v), (b - 9.0, b * 0.3, b + 9.0), args=(b,)).x
"""
CALLS["scipy.signal"] = """
abcd_normalize: A, B, C, D
bessel butter: 3, band, btype="bandpass"
besselap buttap: 3, xp=xp
bilinear normalize freqs freqz: num, den
lp2lp_zpk lp2hp_zpk lp2bp_zpk lp2bs_zpk: zeros, poles, 1.5
bilinear_zpk: zeros, poles, 1.5, 2.0
bode impulse: (num, den)
buttord: band, outer, 1.0, 20.0
cheb1ord cheb2ord ellipord: band, outer, 1.0, 20.0
cheb1ap: 3, 1.0, xp=xp
cheb2ap: 3, 20.0, xp=xp
ellipap: 3, 1.0, 20.0, xp=xp
cheby1: 3, 1.0, band, btype="bandpass"
cheby2: 3, 20.0, band, btype="bandpass"
ellip: 3, 1.0, 20.0, band, btype="bandpass"
choose_conv_method: signal, taps
convolve correlate fftconvolve oaconvolve: signal, taps
convolve2d correlate2d: image, kernel
cspline1d qspline1d: signal
cspline1d_eval qspline1d_eval: even, a
cspline2d spline_filter: large
deconvolve: signal, num
detrend envelope hilbert wiener: signal
hilbert2: image
filtfilt lfilter: num, den, long
firls: 7, bands, gains, fs=1.0
firwin: 9, band
firwin2: 9, bands * 2, gains
freqs_zpk freqz_zpk: zeros, poles, 1.5
freqz_sos sosfreqz: sos
gammatone: 440.0, "fir", fs=16000.0, xp=xp
gauss_spline: x, 3
get_window: "hann", 9, xp=xp
group_delay: (num, den), w
iircomb iirnotch iirpeak: 0.25, 20.0, xp=xp
iirdesign: band, outer, 1.0, 20.0
iirfilter: 3, band
lfilter_zi: num, den
lfiltic: num, den, p
lp2lp lp2hp lp2bp lp2bs: num, den, 1.5
medfilt: signal, 3
medfilt2d: image, 3
minimum_phase: signal
order_filter: image, ones, 3
place_poles: f(A, B, goals).gain_matrix
remez: 9, bands, c
resample: signal, 20
resample_poly: signal, 3, 2
savgol_coeffs: 5, 2, xp=xp
savgol_filter: signal, 5, 2
sos2tf sos2zpk sosfilt_zi: sos
sosfilt sosfiltfilt: sos, long
tf2sos tf2zpk: num, den
upfirdn: taps, signal, 2, 3
vectorstrength: a, b
zpk2sos zpk2tf: zeros, poles, 1.5
"""
CALLS["scipy.signal.windows"] = """
boxcar triang parzen bohman blackman nuttall blackmanharris flattop bartlett barthann: 8, xp=xp
hamming cosine hann exponential tukey taylor lanczos: 8, xp=xp
kaiser kaiser_bessel_derived: 8, 2.0, xp=xp
gaussian: 8, 1.5, xp=xp
general_gaussian: 8, 1.5, 2.0, xp=xp
general_cosine: 8, c
general_hamming: 8, 0.6, xp=xp
chebwin: 8, 60.0, xp=xp
get_window: "hann", 8, xp=xp
"""
CALLS["scipy.special"] = """
cbrt cosdg cosm1 digamma entr erf erfc erfcx exp1 exp10 exp2 expi expit exprel gamma: a
gammaln gammasgn i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e log_ndtr loggamma ndtr psi rgamma: a
cotdg sindg sinc spence tandg y0 y1: a
zetac: a + 1.0
ellipk ellipkm1 erfinv logit ndtri: p
bdtr bdtrc bdtri: k, n + 4, p
nbdtr nbdtrc nbdtri: n, n + 4, p
pdtr pdtrc: k, a
pdtri: n, p
betainc betaincc betaincinv: a, b, p
betaln beta binom hyp0f1 poch: a, b
boxcox boxcox1p inv_boxcox inv_boxcox1p huber pseudo_huber: p, a
chdtr chdtrc gammainc gammaincc rel_entr kl_div xlogy xlog1py: a, b
chdtri gammaincinv gammainccinv stdtrit: a, p
expn: n, a
fdtr fdtrc: p, b, a
fdtri: a, b, p
gdtr gdtrc: a, b, p
hyp1f1: a, b, x
lpmv: n, n + 1.0, p
polygamma: n, a
stdtr: a, x
yn: n, a
radian: a, b, p
zeta: a + 1.0, b
logsumexp softmax log_softmax: rows, axis=1
multigammaln: a + 2.0, 2
"""
CALLS["scipy.stats"] = """
alexandergovern bartlett f_oneway friedmanchisquare kruskal levene: data, more, third
fligner: data, more, third, center="mean"
ansari brunnermunzel chatterjeexi cramervonmises_2samp epps_singleton_2samp: data, more
mannwhitneyu mood pearsonr spearmanrho ttest_ind ttest_rel wilcoxon: data, more
bootstrap: f((data,), mean, n_resamples=30, rng=generator).bootstrap_distribution
boxcox_llf yeojohnson_llf: one, positive
chisquare: counts, expected, sum_check=False
power_divergence: counts
circmean circstd circvar: rows, axis=1
combine_pvalues: pvalues
cramervonmises ks_1samp: data, special.ndtr
describe differential_entropy gstd gzscore hmean gmean iqr: positive
jarque_bera kstat kstatvar kurtosis kurtosistest lmoment median_abs_deviation: long
normaltest sem sigmaclip skew skewtest tmean tstd tvar tsem variation zscore: long
moment: long, 3
directional_stats: points
entropy: a, b
false_discovery_control: pvalues
mode: whole
monte_carlo_test: f(data, draw, mean, n_resamples=30).statistic
permutation_test: f((data, more), gap, n_resamples=30, rng=generator).null_distribution
pmean: positive, 1.5
power: f(squares, draw, 9, n_resamples=20).power
quantile: data, p
rankdata: data
tmax: data, 0.5
tmin: data, -0.5
trim_mean: data, 0.2
ttest_1samp: data, one
ttest_ind_from_stats: one, p, 9, 2 * one, p + 0.3, 12
zmap: data, more
"""
