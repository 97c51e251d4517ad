"""torchvet's probe: the contracts of the rule pages, checked while a program runs.

`start` is called before the program begins. It reads the task that torchvet wrote.
The probe waits until the program imports PyTorch, and then begins to check calls. So a program that
does not use PyTorch does not import it.
"""


def start():
    from . import hooks, session

    now = session.Session.of_environment()
    if now is None:
        return

    def with_torch(_):
        from . import begin

        begin.begin(now)

    hooks.after_import("torch", with_torch)
