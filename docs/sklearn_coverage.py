"""The table of scikit-learn on tensors: ``python docs/sklearn_coverage.py`` writes its page.

As `scipy_coverage`, for what scikit-learn says takes arrays of any library.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy_coverage import Call, Numgrad, Torch, outcome
from sklearn import (
    config_context,
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    linear_model,
    metrics,
    mixture,
    naive_bayes,
    preprocessing,
)
from sklearn.metrics import pairwise

PAGE = Path(__file__).with_name("sklearn_coverage.md")
HEAD = """# scikit-learn, estimator by estimator

With `sklearn.config_context(array_api_dispatch=True)`, and `SCIPY_ARRAY_API=1` in the environment,
estimators and metrics of scikit-learn 1.9 take tensors. The words are those of the table of
[SciPy's functions](scipy_coverage.md): gradients with respect to all floating arguments of the
call were compared with differences of NumPy's values. Most metrics return Python floats, so that a
gradient is refused: write `ng.mean((a - b) ** 2)`. The page is written by
`docs/sklearn_coverage.py`.

| name | call | outcome |
|---|---|---|
"""

_rng = np.random.default_rng(11)
X = _rng.normal(size=(20, 4))
LABELS = np.arange(20) % 2
X[:, 0] += 1.5 * LABELS
SAMPLES: dict[str, Any] = {
    "x": X,
    "positive": _rng.gamma(3.0, size=(20, 2)),
    "y": X @ np.array([1.0, -0.5, 0.3, 0.1]) + 0.3 * _rng.normal(size=20),
    "labels": LABELS,
    "other": 1 - LABELS * (np.arange(20) % 3 > 0),
    "gram": X @ X.T,
    "counts": _rng.poisson(3.0, size=20).astype(float),
    "p": _rng.permutation(np.linspace(0.1, 0.9, 20)),
    "a": _rng.gamma(3.0, size=20),
    "b": _rng.gamma(3.0, size=20),
    "means": np.array([[0.1, 0.2, 0.0, 0.3], [1.2, -0.1, 0.4, 0.1]]),
}

ESTIMATORS = {
    preprocessing: """
Binarizer StandardScaler MinMaxScaler MaxAbsScaler Normalizer: f().fit_transform(x)
PolynomialFeatures: f(2).fit_transform(x)
KernelCenterer: f().fit_transform(gram)
LabelEncoder: f().fit_transform(labels)
""",
    decomposition: """
PCA: f(2, svd_solver="full").fit_transform(x)
""",
    discriminant_analysis: """
LinearDiscriminantAnalysis: f(solver="svd").fit(x, labels).decision_function(x)
""",
    kernel_approximation: """
Nystroem: f(n_components=5, random_state=0).fit_transform(x)
""",
    linear_model: """
Ridge: f(solver="svd").fit(x, y).predict(x)
RidgeCV: f(cv=3).fit(x, y).predict(x)
RidgeClassifierCV: f(cv=3).fit(x, labels).decision_function(x)
LogisticRegression: f(solver="lbfgs").fit(x, labels).predict_proba(x)
PoissonRegressor: f(solver="lbfgs").fit(x, counts).predict(x)
""",
    mixture: """
GaussianMixture: f(2, means_init=means, init_params="random", random_state=0).fit(x).means_
""",
    naive_bayes: """
GaussianNB: f().fit(x, labels).predict_joint_log_proba(x)
""",
    metrics: """
accuracy_score balanced_accuracy_score confusion_matrix f1_score hamming_loss: f(labels, other)
jaccard_score precision_score recall_score zero_one_loss: f(labels, other)
brier_score_loss log_loss roc_auc_score roc_curve average_precision_score: f(labels, p)
d2_absolute_error_score d2_pinball_score explained_variance_score max_error r2_score: f(a, b)
mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss: f(a, b)
mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance: f(a, b)
median_absolute_error root_mean_squared_error root_mean_squared_log_error d2_tweedie_score: f(a, b)
""",
    pairwise: """
chi2_kernel additive_chi2_kernel: f(positive)
cosine_distances cosine_similarity euclidean_distances laplacian_kernel linear_kernel: f(x, means)
manhattan_distances pairwise_distances polynomial_kernel rbf_kernel sigmoid_kernel: f(x, means)
paired_cosine_distances paired_euclidean_distances paired_manhattan_distances: f(x, x * x)
""",
}


def rows(library: Any) -> Any:
    """Return name, call, word and reason of each."""
    for module, lines in ESTIMATORS.items():
        for line in lines.strip().splitlines():
            names, text = line.split(": ", 1)
            for name in names.split():
                with config_context(array_api_dispatch=True):
                    call = Call(getattr(module, name), text, SAMPLES)
                    yield f"{module.__name__}.{name}", text, *outcome(library, call)


def page() -> str:
    """Return the text of the page."""
    found = list(rows(Numgrad()))
    return HEAD + "".join(f"| `{name}` | `{text}` | {word} |\n" for name, text, word, _ in found)


if __name__ == "__main__":
    if {"--why", "--torch"} & set(sys.argv):
        for name, _, word, why in rows(Torch() if "--torch" in sys.argv else Numgrad()):
            print(name, "|", word, "|", " ".join(why.split())[:300])
    elif "--print" in sys.argv:
        print(page(), end="")
    else:
        PAGE.write_text(page(), "utf-8")
