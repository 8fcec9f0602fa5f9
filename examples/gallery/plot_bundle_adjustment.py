"""
Bundle adjustment: cameras and points from what the cameras see
================================================================

Each camera has a rotation, a position and a focal length; each observation says where a camera sees
a point. All of them are found at once, by least squares with a sparse Jacobian: a pair of residuals
depends on one camera and one point, and numgrad finds that out from the indices.
"""

# %%
# Where cameras see points: Rodrigues' rotation, a shift, and a division by the depth.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

cameras, points = 6, 60


def project(camera, point):
    angle = ng.sqrt((camera[:, :3] ** 2).sum(axis=1, keepdims=True) + 1e-30)
    axis = camera[:, :3] / angle
    along = (axis * point).sum(axis=1, keepdims=True)
    turned = ng.cos(angle) * point + ng.sin(angle) * ng.cross(axis, point)
    seen = turned + (1.0 - ng.cos(angle)) * along * axis + camera[:, 3:6]
    return camera[:, 6:7] * seen[:, :2] / seen[:, 2:3]


# %%
# A third of all pairs of a camera and a point were observed.

rng = np.random.default_rng(0)
which_camera, which_point = np.divmod(
    np.flatnonzero(rng.random(cameras * points) < 0.3), points
)


def predicted(x):
    of_cameras, of_points = x[: 7 * cameras].reshape(cameras, 7), x[7 * cameras :].reshape(-1, 3)
    return project(of_cameras[which_camera], of_points[which_point])


shift, focus = np.tile([0.0, 0.0, 6.0], (cameras, 1)), np.full((cameras, 1), 2.0)
turns = rng.normal(0, 0.2, (cameras, 3))
truth = np.concatenate(
    [np.hstack([turns, shift, focus]).ravel(), rng.normal(0, 1.0, points * 3)]
)
observed = predicted(ng.asarray(truth)).numpy()

# %%
# The fit, from a guess that is a little wrong everywhere.

guess = truth + rng.normal(0, 0.02, truth.size)
fit = ng.interop.scipy.least_squares(
    lambda x: predicted(x) - observed, guess, "sparse", x_scale="jac", ftol=1e-10, xtol=1e-10
)
rows, unknowns = fit.jac.shape
print(f"{rows} residuals of {unknowns} unknowns, {fit.jac.nnz} elements in the Jacobian")
print(f"{fit.nfev} evaluations, largest residual {np.abs(fit.fun).max():.1e}")
assert np.abs(fit.fun).max() < 1e-5
assert fit.jac.nnz <= 10 * rows

# %%
# A few products with vectors are enough for the whole Jacobian, as most of it is zero.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(*observed.T, "k.", ms=3, label="observed")
left.plot(*predicted(ng.asarray(guess)).numpy().T, "x", ms=4, label="guess")
left.plot(*predicted(ng.asarray(fit.x)).numpy().T, "o", mfc="none", ms=5, label="fit")
left.set(title="images")
left.legend()
right.spy(fit.jac, markersize=0.5, aspect="auto")
right.set(title="Jacobian")
plt.show()
