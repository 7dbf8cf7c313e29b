"""The log: private, bounded, without secrets; and the end of a run that an error of ours ends."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from tests.program import Program
from tests.wire.replies import answer, status, text, tool_use
from tests.wire.server import WireServer
from todo_agent import log as logs
from todo_agent.agent.events import Warned
from todo_agent.errors import ConfigError
from todo_agent.log import NAME, Crash, Log
from todo_agent.masking import MASK
from todo_agent.trail import Trail

KEY = "sk-ant-TESTSECRET"
LOGGER = logging.getLogger(f"{NAME}.test")


def test_only_what_went_wrong_is_logged_and_with_debug_everything(tmp_path: Path):
    for debug in (False, True):
        file = tmp_path / str(debug) / "a.log"
        with Log(file, debug=debug):
            LOGGER.debug("done")
            LOGGER.warning("wrong\x1b[2J\n2026 forged")
        lines = file.read_text().splitlines()
        assert [line.partition("] ")[2] for line in lines if "WARNING" in line] == ["wrong"]
        assert lines[-1] == "    2026 forged"
        assert any("DEBUG" in line for line in lines) is debug


def test_nothing_is_logged_outside_and_nothing_gets_on_the_screen(tmp_path: Path, capfd):
    with Log(tmp_path / "a.log", debug=True):
        pass
    Trail("thread").note(Warned("lost"))
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "a.log").exists()


def test_it_is_private_and_bounded_whatever_the_umask(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(logs, "MAX_BYTES", 2000)
    file = tmp_path / "state" / "a.log"
    before = os.umask(0)
    try:
        with Log(file, debug=False):
            for number in range(200):
                LOGGER.warning("line %d", number)
    finally:
        os.umask(before)
    kept = sorted(path.name for path in file.parent.iterdir())
    assert kept == ["a.log", "a.log.1", "a.log.2"]
    assert "line 199" in file.read_text()
    for path in file.parent.iterdir():
        assert path.stat().st_size <= 2000
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_secrets_are_masked_in_lines_tracebacks_and_the_last_word(tmp_path: Path):
    file = tmp_path / "a.log"

    def broken() -> None:
        with Log(file, debug=False) as log:
            log.hide(["my-own-token"])
            LOGGER.warning("with %s", "my-own-token")
            raise RuntimeError(f"bad key {KEY}, my-own-token")

    with pytest.raises(Crash) as caught:
        broken()
    assert str(caught.value) == (
        f"Stopped because of an error of its own: RuntimeError: bad key {MASK}, {MASK} "
        f"(details: {file})"
    )
    logged = file.read_text()
    assert "Traceback" in logged
    assert f"RuntimeError: bad key {MASK}, {MASK}" in logged
    assert KEY not in logged
    assert "my-own-token" not in logged


def test_an_error_for_a_person_is_no_crash(tmp_path: Path):
    with pytest.raises(ConfigError), Log(tmp_path / "a.log", debug=True):
        raise ConfigError("wrong")
    assert not (tmp_path / "a.log").exists()


def test_where_no_log_can_be_the_program_runs_and_a_crash_says_so(tmp_path: Path):
    (tmp_path / "state").write_text("a file")
    with Log(tmp_path / "state" / "a.log", debug=True):
        LOGGER.warning("nowhere to go")
    told = pytest.raises(Crash, match=r"the log cannot be written: .*state: ")
    with told, Log(tmp_path / "state" / "a.log", debug=True):
        raise RuntimeError("it broke")


def test_a_disk_that_takes_nothing_disturbs_nobody(capfd):
    with Log(Path("/dev/full"), debug=False):
        LOGGER.warning("lost")
    assert capfd.readouterr() == ("", "")


def test_debug_tells_what_was_done_without_contents_and_without_the_key(
    program: Program, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    call = tool_use("t1", "shell", {"command": "echo private-words"})
    replies = [status(529), answer(call), answer(text("private answer"))]
    with WireServer(replies) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        outcome = program("-p", "private prompt", "--debug", "--permission-mode", "auto")
    assert outcome.code == 0
    logged = (data_dir / "state" / "todo-agent.log").read_text()
    for words in ("run started", "attempt 1 failed", "call t1 shell: ok", "run ended: answered"):
        assert words in logged
    assert "private" not in logged
    written = [path.read_bytes() for path in data_dir.rglob("*") if path.is_file()]
    assert KEY.encode() not in b"".join(written)
