"""A certified nonlinear regression: Misra1a of NIST's Statistical Reference Datasets.

Monomolecular adsorption, ``y = b1 (1 - exp(-b2 x))``. NIST certifies the parameters, their standard
errors and the residual standard deviation to eleven digits. The standard errors come from the exact
Jacobian at the solution: the square roots of the diagonal of ``s^2 (J^T J)^-1``.
"""

import numpy as np

import numgrad as ng

X = np.array([77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1,
              689.1, 760.0])  # fmt: skip
Y = np.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40,
              75.47, 81.78])  # fmt: skip
STARTS = np.array([500.0, 0.0001]), np.array([250.0, 0.0005])
CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])
CERTIFIED_ERRORS = np.array([2.7070075241e00, 7.2668688436e-06])
CERTIFIED_DEVIATION = 1.0187876330e-01


def residuals(b):
    return b[0] * (1.0 - np.exp(-b[1] * X)) - Y


def main():
    for start in STARTS:
        fit = ng.interop.scipy.least_squares(
            residuals, start, method="lm", x_scale=start, xtol=1e-14, ftol=1e-14, gtol=1e-14
        )
        variance = (fit.fun**2).sum() / (X.size - fit.x.size)
        errors = np.sqrt(np.diag(variance * np.linalg.inv(fit.jac.T @ fit.jac)))
        print(f"from {start}: {fit.nfev} evaluations")
        for name, value, error in zip(("b1", "b2"), fit.x, errors, strict=True):
            print(f"  {name} = {value:.10e} +- {error:.10e}")
        np.testing.assert_allclose(fit.x, CERTIFIED, rtol=1e-9)
        np.testing.assert_allclose(errors, CERTIFIED_ERRORS, rtol=1e-8)
        np.testing.assert_allclose(np.sqrt(variance), CERTIFIED_DEVIATION, rtol=1e-9)


if __name__ == "__main__":
    main()
