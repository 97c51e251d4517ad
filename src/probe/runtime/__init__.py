"""torchvet's probe: the contracts of the rule pages, checked while a program runs.

`start` is called before the program begins. It reads the task that torchvet wrote.
The probe begins to check calls when the program imports PyTorch, so it imports no library that
the program does not import.
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
