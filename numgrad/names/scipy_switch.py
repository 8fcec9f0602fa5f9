"""SciPy's functions that differentiate tensors where ``SCIPY_ARRAY_API=1`` is in the environment.

They are the functions with right gradients in ``docs/scipy_coverage.md``, with respect to all or
some of their arguments, and the constructors of rotations.
"""

SWITCHED: dict[str, str] = {
    "scipy.cluster.hierarchy": "dendrogram to_mlab_linkage to_tree",
    "scipy.cluster.vq": "whiten",
    "scipy.constants": "convert_temperature lambda2nu nu2lambda",
    "scipy.differentiate": "derivative hessian jacobian",
    "scipy.fft": """
        fft fft2 fftn fftshift fht hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ifht
        ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn
    """,
    "scipy.integrate": """
        cubature cumulative_simpson cumulative_trapezoid qmc_quad romb tanhsinh
        trapezoid
    """,
    "scipy.linalg": "block_diag fiedler orthogonal_procrustes",
    "scipy.optimize": "rosen rosen_der rosen_hess rosen_hess_prod",
    "scipy.optimize.elementwise": "bracket_minimum bracket_root find_minimum find_root",
    "scipy.signal": """
        abcd_normalize bilinear_zpk bode envelope fftconvolve firwin freqs freqs_zpk
        freqz freqz_sos freqz_zpk gauss_spline group_delay hilbert hilbert2 lfilter_zi
        lfiltic lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk
        minimum_phase normalize oaconvolve resample sos2tf sos2zpk sosfreqz tf2zpk
        vectorstrength
    """,
    "scipy.signal.windows": "general_cosine",
    "scipy.special": """
        bdtr bdtrc bdtri betainc betaincc betaincinv betaln binom boxcox boxcox1p cbrt
        chdtr chdtrc chdtri cosdg cosm1 cotdg digamma ellipk ellipkm1 entr erf erfc
        erfcx erfinv exp1 exp10 exp2 expi expit expn exprel fdtr fdtrc fdtri gamma
        gammainc gammaincc gammainccinv gammaincinv gammaln gdtr gdtrc huber hyp1f1 i0
        i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div log_ndtr
        log_softmax loggamma logit logsumexp lpmv multigammaln nbdtr nbdtrc nbdtri ndtr
        ndtri pdtr pdtrc pdtri poch polygamma pseudo_huber psi radian rel_entr rgamma
        sinc sindg softmax spence stdtr stdtrit tandg xlog1py xlogy y0 y1 yn zeta
    """,
    "scipy.stats": """
        alexandergovern bartlett bootstrap boxcox_llf chisquare circmean circstd circvar
        combine_pvalues describe differential_entropy directional_stats entropy
        epps_singleton_2samp f_oneway false_discovery_control gmean gstd gzscore hmean
        iqr jarque_bera kstat kstatvar kurtosis kurtosistest levene lmoment
        median_abs_deviation moment monte_carlo_test normaltest pearsonr
        permutation_test pmean power_divergence quantile sem sigmaclip skew skewtest
        tmax tmean tmin trim_mean tsem tstd ttest_1samp ttest_ind ttest_ind_from_stats
        ttest_rel tvar variation yeojohnson_llf zmap zscore
    """,
}
"""Names of functions, by modules."""

CLASSES: dict[str, str] = {
    "scipy.interpolate": "RBFInterpolator",
    "scipy.spatial.transform": """
        RigidTransform.from_translation Rotation.align_vectors Rotation.from_euler
        Rotation.from_matrix Rotation.from_mrp Rotation.from_quat Rotation.from_rotvec
    """,
}
"""Names of classes and their constructors, by modules: what is made of tensors has methods for
tensors."""


def is_switched(name: str) -> bool:
    """Return whether a function of SciPy has gradients where the environment asks for it.

    Parameters
    ----------
    name : str
        Its public name, as ``"scipy.signal.freqz"``.
    """
    return any(
        name.removeprefix(f"{home}.") in names.split()
        for table in (SWITCHED, CLASSES)
        for home, names in table.items()
    )
