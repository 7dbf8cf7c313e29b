"""A cage for shell commands: a read-only system, a writable workspace, no network."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from todo_agent.tools.workspace import Workspace

_GUARDED = (".git/hooks", ".git/config", ".todo-agent", ".envrc")
"""In the workspace, and read-only all the same: they decide what is run later."""
_SYMPTOMS = (
    "Read-only file system",
    "Network is unreachable",
    "Could not resolve host",
    "Temporary failure in name resolution",
)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Runs commands under bubblewrap.

    They may read the whole system, and write to the workspace and to a /tmp that is theirs
    alone and lasts as long as one command. Whatever they start ends with them. Where
    `network` is off they have none, nor the sockets of services under /run.
    """

    program: str
    network: bool = False
    hidden: tuple[Path, ...] = ()
    """Directories that are empty inside, such as those that hold keys."""

    def command(self, command: Sequence[str], *, workspace: Workspace) -> Sequence[str]:
        """Return the command line that runs a command in the cage, in the present directory."""
        writable = (workspace.root, *workspace.extra_dirs)
        guarded = [top / name for top in writable for name in _GUARDED]
        arguments = [self.program, "--die-with-parent", "--unshare-pid", "--unshare-ipc"]
        arguments += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
        if not self.network:
            arguments += ["--unshare-net", "--tmpfs", "/run"]
        for path in filter(Path.is_dir, self.hidden):
            arguments += ["--tmpfs", str(path)]
        for path in writable:
            arguments += ["--bind", str(path), str(path)]
        for path in guarded:
            arguments += ["--ro-bind-try", str(path), str(path)]
        return [*arguments, "--chdir", str(workspace.cwd), "--", *command]

    def hint(self, output: str) -> str:
        """Return what to say of a failed command if the cage is likely to blame; else nothing."""
        if not any(symptom in output for symptom in _SYMPTOMS):
            return ""
        return (
            "this ran in a sandbox that cannot write outside the workspace"
            f"{'' if self.network else ' or use the network'}; if it needs to, repeat it with "
            "outside_sandbox, which the person has to allow"
        )


def find_sandbox(
    environ: Mapping[str, str], *, network: bool = False, hidden: Iterable[Path] = ()
) -> Sandbox | str:
    """Return the sandbox of this machine, or why there is none. It starts a process to see."""
    program = shutil.which("bwrap", path=environ.get("PATH"))
    if program is None:
        return "bubblewrap (bwrap) is not installed"
    trial = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    try:
        ended = subprocess.run(
            [*trial, "true"], capture_output=True, timeout=10, check=False, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run here: {error}"
    if ended.returncode != 0:
        said = ended.stderr.decode("utf-8", "replace").strip() or f"exit code {ended.returncode}"
        return f"bubblewrap does not work here: {said}"
    return Sandbox(program, network=network, hidden=tuple(hidden))
