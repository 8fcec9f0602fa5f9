"""The printed report of the fit."""

from collections.abc import Iterator

from numgrad.data import Pelts

from .check import JacobianCheck
from .fit import Fit
from .population import PARAMETERS, STEPS_PER_YEAR


def report(pelts: Pelts, fit: Fit, check: JacobianCheck, kernels: str) -> str:
    """The whole report as text."""
    first, last = pelts.years[0], pelts.years[-1]
    lines = [
        f"Lotka-Volterra equations fitted to hare and lynx pelts, {first}-{last}",
        "(Hudson's Bay Company records; least squares on the logarithms)",
        "",
        *_parameter_lines(fit),
        "",
        *_fit_lines(fit, check),
        "",
        *_jacobian_lines(check, int(last - first) * STEPS_PER_YEAR),
        "",
        f"kernels  {kernels}",
    ]
    return "\n".join(lines)


def _parameter_lines(fit: Fit) -> Iterator[str]:
    yield f"{'parameter':<10}{'value':>10}{'std. error':>12}"
    rows = zip(PARAMETERS.items(), fit.parameters, fit.standard_errors, strict=True)
    for (name, meaning), value, error in rows:
        yield f"{name:<10}{value:>#10.4g}{error:>#12.2g}   {meaning}"


def _fit_lines(fit: Fit, check: JacobianCheck) -> Iterator[str]:
    outcome = "converged" if fit.converged else "NOT CONVERGED"
    yield (
        f"fit      {outcome} after {fit.simulations} simulations"
        f" and {fit.jacobians} Jacobians in {fit.seconds:.2f} s"
    )
    observations, parameters = check.shape
    yield (
        f"         scatter {fit.scatter:.3f} around {observations} observations"
        f" with {parameters} parameters"
    )


def _jacobian_lines(check: JacobianCheck, steps: int) -> Iterator[str]:
    rows, columns = check.shape
    verdict = "agrees" if check.passed else "DISAGREES"
    gain = check.by_rows_seconds / check.batched_seconds
    yield f"Jacobian {rows} x {columns}, exact, through {steps} Runge-Kutta steps"
    yield f"         {verdict} with central differences: largest difference {check.difference:.1e}"
    yield (
        f"         one batched VJP {1e3 * check.batched_seconds:.1f} ms, one VJP per row"
        f" {1e3 * check.by_rows_seconds:.1f} ms, both warm: {gain:.2g} times as fast"
    )
