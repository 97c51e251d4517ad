"""The contracts of torchvet's rules in a test suite.

pytest --torchvet              all tests
def test_step(torch_contracts) one test
"""

import importlib.util

import pytest

from ._guard import guard


def pytest_addoption(parser):
    group = parser.getgroup("torchvet")
    group.addoption(
        "--torchvet", action="store_true", help="check the contracts of PyTorch's functions in every test"
    )


@pytest.fixture
def torch_contracts():
    """While the test runs, a call that certainly violates a contract raises
    `torchvet.ContractViolation`."""
    with guard() as guarding:
        yield guarding


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if item.config.getoption("--torchvet") and importlib.util.find_spec("torch") is not None:
        with guard():
            yield
    else:
        yield
