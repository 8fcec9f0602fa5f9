"""The picture of a sparse matrix and of its colours."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng
from numgrad.errors import ArgTypeError

pytest.importorskip("matplotlib")

BANDS = np.array([[3.0, 1.0, 0.0, 0.0], [0.0, 5.0, 1.0, 0.0], [0.0, 0.0, 2.0, 1.0]])
BLUE, ORANGE, GREEN = (np.array(c) / 255 for c in ([31, 119, 180], [255, 127, 14], [44, 160, 44]))


def picture(axes):
    (image,) = axes.images
    return np.asarray(image.get_array())


def texts(axes):
    legend = axes.get_legend()
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


SPARSE = [sparse.csr_array(BANDS), sparse.csc_matrix(BANDS)]


@pytest.mark.parametrize("matrix", [BANDS, BANDS != 0, ng.tensor(BANDS), *SPARSE])
def test_cells_are_opaque_where_there_are_entries(matrix):
    axes = ng.display.spy(matrix)
    np.testing.assert_array_equal(picture(axes)[..., 3], BANDS != 0)
    assert axes.get_title() == "6 entries"
    assert axes.get_legend() is None
    assert axes.get_xlim() == (-0.5, 3.5)
    assert axes.get_ylim() == (2.5, -0.5)


def test_stored_zeros_are_entries():
    matrix = sparse.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(picture(ng.display.spy(matrix))[..., 3], [[0, 1], [1, 0]])


def test_colors_of_columns():
    axes = ng.display.spy(BANDS, colors=[0, 1, 0, 1])
    shown = picture(axes)[..., :3]
    np.testing.assert_allclose(shown[0, 0], BLUE)
    np.testing.assert_allclose(shown[[0, 1], [1, 1]], [ORANGE, ORANGE])
    assert texts(axes) == ("colors: 2 of columns", ["0: 2 columns", "1: 2 columns"])


@pytest.mark.parametrize("mode", [None, "row"])
def test_colors_of_rows(mode):
    axes = ng.display.spy(BANDS, colors=np.array([1, 0, 1]), mode=mode)
    np.testing.assert_allclose(picture(axes)[1, 1, :3], BLUE)
    np.testing.assert_allclose(picture(axes)[[0, 2], [1, 3], :3], [ORANGE, ORANGE])
    assert texts(axes) == ("colors: 2 of rows", ["0: 1 rows", "1: 2 rows"])


def test_an_arrow_in_colors_of_both():
    arrow = np.eye(5)
    arrow[0] = arrow[:, 0] = 1.0
    prepared = SimpleNamespace(
        pattern=sparse.csr_array(arrow != 0), mode="bidirectional",
        colors=(np.array([0, -1, -1, -1, -1]), np.array([0, 1, 1, 1, 1])),
    )  # fmt: skip
    axes = ng.display.spy(prepared)
    shown = picture(axes)[..., :3]
    np.testing.assert_allclose(shown[0], [BLUE] * 5)
    np.testing.assert_allclose(shown[1:, 0], [ORANGE] * 4)
    np.testing.assert_allclose(shown[range(1, 5), range(1, 5)], [GREEN] * 4)
    assert texts(axes)[0] == "colors: 1 of rows, 2 of columns"


@pytest.mark.parametrize("coloring", ["column", "row", "bidirectional"])
def test_a_prepared_jacobian_has_its_colors(coloring):
    prepared = ng.sparse.prepare(lambda x: x[1:] * x[:-1], np.zeros(6), coloring=coloring)
    axes = ng.display.spy(prepared)
    np.testing.assert_array_equal(picture(axes)[..., 3], prepared.pattern.toarray())
    assert len(texts(axes)[1]) == prepared.n_colors


def test_a_million_entries_become_cells_with_their_mean_color(tmp_path):
    n = 500_000
    matrix = sparse.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1]).tocsr()
    axes = ng.display.spy(matrix, colors=np.arange(n) % 2)
    shown = picture(axes)
    assert max(shown.shape) < 1000
    places = np.arange(n)
    diagonal = shown[places * shown.shape[0] // n, places * shown.shape[1] // n]
    np.testing.assert_allclose(np.median(diagonal[:, :3], axis=0), (BLUE + ORANGE) / 2, atol=1e-3)
    assert np.median(diagonal[:, 3]) > 0.7
    assert diagonal[:, 3].min() > 0.3  # the fewest entries are seen
    assert shown[0, -1, 3] == 0
    axes.figure.savefig(tmp_path / "bands.png")
    assert (tmp_path / "bands.png").read_bytes().startswith(b"\x89PNG")


def test_many_colors_are_named_in_part():
    title, labels = texts(ng.display.spy(np.eye(30), colors=np.arange(30)))
    assert title == "colors: 30 of columns\nthe first 10:"
    assert len(labels) == 10


def test_axes_of_the_caller_are_used():
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)[1]
    assert ng.display.spy(BANDS, ax=axes) is axes


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 2)])
def test_no_entries(shape, tmp_path):
    axes = ng.display.spy(np.zeros(shape))
    axes.figure.savefig(tmp_path / "empty.png")
    assert not axes.images


@pytest.mark.parametrize(
    ("matrix", "options", "error", "text"),
    [
        (np.zeros(3), {}, ArgTypeError, r"shape \(3,\)"),
        (BANDS, {"colors": [0, 1]}, ValueError, "4 columns"),
        (BANDS, {"colors": [0, 1], "mode": "row"}, ValueError, "3 rows"),
        (BANDS, {"colors": [0.0, 1.0, 2.0, 1.0]}, ValueError, "integer"),
        (BANDS, {"colors": [0] * 4, "mode": "diagonal"}, ArgTypeError, "diagonal"),
        (BANDS, {"colors": [0] * 4, "mode": "bidirectional"}, ArgTypeError, "pair"),
    ],
)
def test_mistakes(matrix, options, error, text):
    with pytest.raises(error, match=text):
        ng.display.spy(matrix, **options)


def test_pyplot_is_left_alone():
    code = (
        "import sys, numgrad as ng; ng.display.spy([[1.0]]);"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"numgrad\[viz\]"):
        ng.display.spy(BANDS)
