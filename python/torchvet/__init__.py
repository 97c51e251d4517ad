"""torchvet in a program or a test suite: the contracts of its rules, checked at every call.

    with torchvet.guard():
        train()

    model = torchvet.guard(model)  # whenever it is called

A call that certainly fails or is certainly wrong raises `ContractViolation` before it reaches a
kernel, at the line of the call; one that is very likely wrong warns with `ContractWarning`. Which
rules are on is read from the settings of the project, as `torchvet check` reads them.

The contracts, and the Python that checks them, are those of the `torchvet` binary, which comes
with this package.
"""

from ._guard import ContractViolation, ContractWarning, guard

__all__ = ["ContractViolation", "ContractWarning", "guard"]
