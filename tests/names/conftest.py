import pytest


@pytest.fixture(autouse=True)
def _scipy_as_it_is(scipy_as_it_is):
    """Errors name counterparts of SciPy's functions where these are left as they are."""
