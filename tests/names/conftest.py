import pytest

import numgrad as ng


@pytest.fixture(autouse=True, scope="module")
def _libraries_as_they_are():
    """Errors name counterparts of NumPy's and SciPy's functions where these are left as they
    are."""
    ng.set_flags(scipy="never", numpy="never")
    yield
    ng.set_flags(scipy="auto", numpy="auto")
