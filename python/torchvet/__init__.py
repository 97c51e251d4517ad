"""torchvet in a program or a test suite: checks every call for which a rule has a contract.

    with torchvet.guard():
        train()

    model = torchvet.guard(model)  # checks every call of the model

A call that certainly fails or is certainly wrong raises `ContractViolation` at the line of the call,
before it reaches a kernel; a call that is very likely wrong causes a `ContractWarning`. The settings
of the project determine the enabled rules, as for `torchvet check`.

The contracts, and the Python code that checks them, come from the `torchvet` binary in this package.
"""

from ._guard import ContractViolation, ContractWarning, guard

__all__ = ["ContractViolation", "ContractWarning", "guard"]
