"""The main job from the data to the report."""

from pathlib import Path

from numgrad.data import load_pelts

from ..process.progress import Progress
from .check import check_jacobian
from .fit import fit, starting_point
from .info import kernel_counts
from .jacobian import RecordedResiduals
from .report import report


def run(picture: Path | None) -> int:
    """Fit, check, report; 0 if the fit converged and its Jacobian is right."""
    pelts = load_pelts()
    progress = Progress()
    model = RecordedResiduals(pelts.populations)
    try:
        progress.stage("fitting (a first run compiles its kernels)")
        best = fit(
            model,
            starting_point(pelts),
            lambda count, misfit: progress.update(f"simulation {count}, rms misfit {misfit:.4f}"),
        )
        progress.stage("checking the Jacobian")
        check = check_jacobian(model, best.log_parameters)
        if picture is not None:
            progress.stage("drawing")
            from .plot import draw

            draw(picture, pelts, best)
    finally:
        progress.close()
    print(report(pelts, best, check, kernel_counts()))
    if picture is not None:
        print(f"picture  {picture}")
    return 0 if best.converged and check.passed else 1
