"""Starts a program, waits for its end, and measures what the kernel knows about it."""
import os
import signal
import subprocess
import tempfile
import threading
import time

from job import Unable

LIMIT_S = 110  # a launch that takes longer is given up


def busy_seconds() -> float:
    """CPU time that the whole machine has spent since it was started, stolen time included; 0 where unknown."""
    try:
        with open("/proc/stat") as stat:
            user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    except OSError:
        return 0
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def launch(command, *, env=None, limit_s=LIMIT_S) -> tuple[str, dict]:
    """Standard output; wall_ms, peak_rss_bytes and others_cpus of the process. Raises Unable when it fails or is late."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin, busy = time.monotonic(), busy_seconds()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                 env=os.environ | (env or {}), start_new_session=True)
        late = threading.Timer(limit_s, lambda: os.killpg(child.pid, signal.SIGKILL))
        late.start()
        _, status, usage = os.wait4(child.pid, 0)
        late.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        wall, busy = time.monotonic() - begin, busy_seconds() - busy
        if child.returncode == -signal.SIGKILL and wall >= limit_s:
            raise Unable(f"took more than {limit_s} s")
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise Unable(last_line(err.read()) or f"ended with {child.returncode}")
        others = max(0.0, busy - usage.ru_utime - usage.ru_stime) / wall
        return out.read(), {"wall_ms": wall * 1e3, "peak_rss_bytes": usage.ru_maxrss * 1024, "others_cpus": others}


def wait_for_quiet(most_cpus: float, limit_s: float = 15):
    """Returns once the machine is idle but for `most_cpus`, or after `limit_s`: a launch then tells what it met."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        busy = busy_seconds()
        time.sleep(0.25)
        if (busy_seconds() - busy) / 0.25 <= most_cpus:
            return


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def forget_file_pages(paths):
    """Drops clean pages of these files from the page cache, as far as the kernel agrees: a cold start without root."""
    for path in paths:
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
