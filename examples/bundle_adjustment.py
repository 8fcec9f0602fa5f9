"""Bundle adjustment: cameras and points from what the cameras see.

Each camera has a rotation, a position and a focal length; each observation says where a camera sees
a point. `scipy.optimize.least_squares` finds all of them at once, with the sparse Jacobian: a pair
of residuals depends on one camera and one point, and numgrad finds that out from the indices.

``--full`` takes 50 cameras and 3 000 points.
"""

import argparse
import time

import numpy as np

import numgrad as ng


def project(cameras, points):
    """Where cameras see points: Rodrigues' rotation, a shift, and a division by the depth."""
    angle_vector = cameras[:, :3]
    angle = ng.sqrt((angle_vector**2).sum(axis=1, keepdims=True) + 1e-30)
    axis = angle_vector / angle
    along = (axis * points).sum(axis=1, keepdims=True)
    crossed = ng.stack([
        axis[:, 1] * points[:, 2] - axis[:, 2] * points[:, 1],
        axis[:, 2] * points[:, 0] - axis[:, 0] * points[:, 2],
        axis[:, 0] * points[:, 1] - axis[:, 1] * points[:, 0],
    ], axis=1)  # fmt: skip
    turned = ng.cos(angle) * points + ng.sin(angle) * crossed + (1.0 - ng.cos(angle)) * along * axis
    seen = turned + cameras[:, 3:6]
    return cameras[:, 6:7] * seen[:, :2] / seen[:, 2:3]


class Scene:
    """Which camera sees which point, and where."""

    def __init__(self, cameras, points, rng):
        camera, point = np.divmod(np.arange(cameras * points), points)
        kept = rng.random(camera.size) < 0.3
        self.camera, self.point = camera[kept], point[kept]
        self.cameras, self.points = cameras, points
        self.where = np.zeros((self.camera.size, 2))

    def split(self, x):
        cut = 7 * self.cameras
        return x[:cut].reshape(self.cameras, 7), x[cut:].reshape(self.points, 3)

    def residuals(self, x):
        cameras, points = self.split(x)
        return project(cameras[self.camera], points[self.point]) - self.where


def main(full=False):
    rng = np.random.default_rng(0)
    cameras, points = (50, 3000) if full else (6, 60)
    scene = Scene(cameras, points, rng)
    shift = np.tile([0.0, 0.0, 6.0], (cameras, 1))
    truth = np.concatenate([
        np.hstack([rng.normal(0, 0.2, (cameras, 3)), shift, np.full((cameras, 1), 2.0)]).ravel(),
        rng.normal(0, 1.0, points * 3),
    ])  # fmt: skip
    scene.where = scene.residuals(ng.asarray(truth)).numpy()
    began = time.perf_counter()
    fit = ng.interop.scipy.least_squares(
        scene.residuals, truth + rng.normal(0, 0.02, truth.size), "sparse", x_scale="jac",
        ftol=1e-10, xtol=1e-10,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    m, n = fit.jac.shape
    print(f"{m} residuals of {n} unknowns, {fit.jac.nnz} elements in the Jacobian")
    print(f"{fit.nfev} evaluations, {seconds:.2f} s")
    print(f"largest residual {np.abs(fit.fun).max():.1e}")
    assert np.abs(fit.fun).max() < 1e-5
    assert fit.jac.nnz <= 10 * m


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    main(parser.parse_known_args()[0].full)
