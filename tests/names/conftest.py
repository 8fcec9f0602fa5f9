import pytest

import numgrad as ng


@pytest.fixture(scope="module", autouse=True)
def scipy_as_it_is():
    """Errors name counterparts of SciPy's functions where these are left as they are."""
    ng.set_flags(scipy="never")
    yield
    ng.set_flags(scipy="auto")
