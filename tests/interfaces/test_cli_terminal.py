"""What only shows in a real process on a terminal: progress, colours, Ctrl-C, completion."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from l2t import open_store, write_domain
from l2t.domains import digits, mnist

pytestmark = pytest.mark.integration

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d)(?:;\d+)*m")
COLLECT = ("collect", "digits.npz", "mnist.npz", "--per-class", "20", "--algorithms", "gfk,tca")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    write_domain(digits(), "digits.npz")
    write_domain(mnist(), "mnist.npz")


def on_terminal(*arguments, until=None, **variables):
    """Run a command on a pseudo-terminal; press Ctrl-C where `until` is first seen.

    A command that shows progress does not run ahead: it waits where the terminal is full of what nobody read.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "l2t", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | variables,
        start_new_session=True,
        # Who is started in the background passes on that Ctrl-C is ignored; a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
            if until is not None and re.search(until, plain(shown.decode(errors="ignore"))):
                os.killpg(process.pid, signal.SIGINT)
                until = None
    except OSError:  # the other side was closed
        pass
    os.close(ours)
    return process.wait(timeout=300), shown.decode()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_progress_and_colours_on_a_terminal_alone():
    code, shown = on_terminal(*COLLECT, "--pairs", "3")
    assert code == 0
    assert "6/6" in plain(shown)
    assert COLOUR.search(shown)
    code, shown = on_terminal(*COLLECT, "--pairs", "4", NO_COLOR="1")
    assert code == 0
    assert "8/8" in plain(shown)
    assert not COLOUR.search(shown)
    code, shown = on_terminal(*COLLECT, "--pairs", "5", "--quiet")
    assert "/10" not in plain(shown)
    assert shown.startswith("2 runs done, 0 failed, 8 already stored")
    piped = subprocess.run(
        [sys.executable, "-m", "l2t", *COLLECT, "--pairs", "5"], capture_output=True, check=True
    )
    assert b"\x1b" not in piped.stdout + piped.stderr


def test_tables_are_coloured_on_a_terminal_alone():
    assert COLOUR.search(on_terminal("explain")[1])
    assert not COLOUR.search(on_terminal("explain", NO_COLOR="1")[1])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(jobs, l2t):
    arguments = (*COLLECT, "--pairs", "2000", "--jobs", jobs)
    code, shown = on_terminal(*arguments, until=r" [2-9]\d\d*/4000")
    assert code == 130
    result = plain(shown).splitlines()
    expected = "finished runs are kept in experiences.db; resume with: l2t collect --config"
    assert "Traceback" not in shown
    assert result[-1] == f"l2t: interrupted; {expected} experiences.toml"
    assert l2t("store", "check").out == "no damage found\n"
    with open_store("experiences.db") as store:
        kept = store.keys()
    again = l2t("collect", "--config", "experiences.toml", "--pairs", "20", "-q")
    result = re.match(r"(\d+) runs done, 0 failed, (\d+) already stored", again.out)
    done, already_there = int(result[1]), int(result[2])
    assert done + already_there == 40
    # Four pairs at most are under way at a time, so the ten that were first done are among the first 20.
    assert already_there >= 20
    with open_store("experiences.db") as store:
        assert store.keys() >= kept
        assert len(store.keys()) == len(kept) + done


def test_ctrl_c_elsewhere():
    code, shown = on_terminal("demo", "--jobs", "1", until="1/3 collecting")
    assert code == 130
    assert "Traceback" not in shown
    last = plain(shown).splitlines()[-1]
    assert last == "l2t: interrupted; no output file was left incomplete; run the command again"
    assert sorted(path.name for path in Path().iterdir()) == ["digits.npz", "mnist.npz"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_leaves_no_process_behind(number, l2t, proves):
    arguments = (*COLLECT, "--pairs", "2000", "--jobs", "2")
    collecting = subprocess.Popen(
        [sys.executable, "-m", "l2t", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        # Who is started by nohup passes on that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    while not (Path("experiences.db").exists() and l2t("store", "ls").out):
        assert collecting.poll() is None
    collecting.send_signal(number)
    _, message = collecting.communicate(timeout=300)  # every process of it has closed the pipe
    killed = number == signal.SIGKILL
    assert collecting.returncode == (-number if killed else 130)
    assert killed or message.startswith(
        "l2t: interrupted; finished runs are kept in experiences.db"
    )
    assert "Traceback" not in message
    assert l2t("store", "check").out == "no damage found\n"
    proves(f"A signal leaves no process and a sound store: {number.name}", 1, "signals")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_within_exec_leaves_the_exit_code(name):
    Path("stopping.py").write_text(
        "import signal\nfrom l2t.interfaces.cli.commands.app import app, main\n"
        f"app.command('stop')(lambda: exec('signal.raise_signal(signal.{name})'))\nmain()\n"
    )
    command = [sys.executable, "-m", "stopping", "stop"]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        # Who is started by nohup passes on that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    assert result.returncode == 130, result
    assert result.stderr.startswith("l2t: interrupted;")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["l2t", "tra"], {"transfer"}),
        (["l2t", "store", "me"], {"merge"}),
        (["l2t", "transfer", "--norm"], {"--normalize"}),
        (["l2t", "transfer", "--format", ""], {"table", "json", "csv"}),
    ],
)
def test_the_shell_completes(words, offered):
    variables = {
        "_L2T_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    command = Path(sys.executable).with_name("l2t")
    result = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert set(result.stdout.split()) == offered, result
