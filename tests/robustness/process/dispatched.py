"""Functions of scikit-learn and SciPy that take any array of the Array API: run as a program, it
prints what their gradients are and what finite differences give.

SciPy looks once, when it is imported, whether it may take such arrays.
"""

import json
import os
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import sklearn
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

import numgrad as ng

X = np.random.default_rng(0).standard_normal((12, 3)) + 1
WEIGHTS = np.random.default_rng(1).standard_normal(400)


def there_and_back(x):
    scaler = StandardScaler().fit(x)
    return scaler.inverse_transform(scaler.transform(x) * x)


def mixture(covariance, method):
    def function(x):
        model = GaussianMixture(
            2, covariance_type=covariance, max_iter=5, init_params="random", random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x)
        return getattr(model, method)(x)

    return function


CASES = {
    "StandardScaler": lambda x: StandardScaler().fit_transform(x),
    "StandardScaler there and back": there_and_back,
    "Normalizer": lambda x: Normalizer().fit_transform(x),
    "Normalizer l1": lambda x: Normalizer(norm="l1").fit_transform(x),
    "Normalizer max": lambda x: Normalizer(norm="max").fit_transform(x),
    "MinMaxScaler": lambda x: MinMaxScaler().fit_transform(x),
    "MaxAbsScaler": lambda x: MaxAbsScaler().fit_transform(x),
    "PolynomialFeatures": lambda x: PolynomialFeatures(3).fit_transform(x),
    "PolynomialFeatures of interactions": lambda x: PolynomialFeatures(
        2, interaction_only=True, include_bias=False
    ).fit_transform(x),
    "cosine_similarity": cosine_similarity,
    "cosine_similarity of two": lambda x: cosine_similarity(x[:5], x[5:]),
    "GaussianMixture": mixture("full", "score_samples"),
    "GaussianMixture tied": mixture("tied", "score_samples"),
    "GaussianMixture diag": mixture("diag", "score_samples"),
    "GaussianMixture spherical": mixture("spherical", "score_samples"),
    "GaussianMixture probabilities": mixture("full", "predict_proba"),
    "zscore": stats.zscore,
    "zscore of rows": lambda x: stats.zscore(x, axis=1, ddof=1),
}


def total(y):
    y = y.reshape(-1)
    return (y * WEIGHTS[: y.shape[0]]).sum()


def differences(function, h=1e-5):
    """Return central differences of a function along each element of ``X``."""
    steps = h * np.eye(X.size).reshape(-1, *X.shape)
    return [(total(function(X + e)) - total(function(X - e))) / (2 * h) for e in steps]


def answers(function):
    """Return the gradient and finite differences, and the greatest difference of values."""
    t = ng.tensor(X, requires_grad=True)
    y = function(t)
    (g,) = ng.grad(total(y), t)
    error = np.abs(y.detach().numpy() - function(X)).max()
    return {
        "gradient": g.numpy().ravel().tolist(),
        "differences": [float(d) for d in differences(function)],
        "error": float(error),
    }


def main():
    warnings.simplefilter("error")
    sklearn.set_config(array_api_dispatch=True)
    found = {}
    for name, function in CASES.items():
        try:
            found[name] = answers(function)
        except Exception as error:
            found[name] = {"raised": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
