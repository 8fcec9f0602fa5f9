import pytest


@pytest.fixture(autouse=True)
def _libraries_as_they_are(scipy_as_it_is, numpy_as_it_is):
    """Errors name counterparts of NumPy's and SciPy's functions where these are left as they
    are."""
