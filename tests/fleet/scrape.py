#!/usr/bin/env python3
"""iotrace's metrics through the real node_exporter and Prometheus.
  scrape.py IOTRACE RECORD DASHBOARD

Renders RECORD (of a watch) with `iotrace report --format openmetrics` again and again with growing counters, has
node_exporter read the file and Prometheus scrape that, on loopback and ports of their own, and asks Prometheus, also whatever
the panels of DASHBOARD ask.
Exit code 77: not installed. Everything started is killed and removed whatever happens.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

LONGEST_S = 35
PORT_ATTEMPTS = 4


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError):
        return None


class Programs:
    """What was started, in groups of their own, so that nothing outlives this script."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, command_at, ready_path):
        """Starts `command_at(port)` on a free port; another one where somebody took it meanwhile."""
        for attempt in range(PORT_ATTEMPTS):
            port = free_port()
            log = self.folder / f"{name}-{attempt}.log"
            process = subprocess.Popen(command_at(port), stdin=subprocess.DEVNULL, stdout=log.open("wb"),
                                       stderr=subprocess.STDOUT, start_new_session=True)
            self.running.append(process)
            while process.poll() is None:
                if get(f"http://127.0.0.1:{port}{ready_path}") is not None:
                    return port
                time.sleep(0.1)
            if "address already in use" not in log.read_text():
                sys.exit(f"{name} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
        sys.exit(f"{name}: no free port in {PORT_ATTEMPTS} attempts")

    def stop(self):
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def grown(value, factor):
    """The record with all counts of its groups times `factor`, as the same watch has them later."""
    if isinstance(value, list):
        return [grown(item, factor) for item in value]
    if isinstance(value, dict) and "bins" in value:
        return value | {"N": value["N"] * factor, "bins": {low: n * factor for low, n in value["bins"].items()}}
    if isinstance(value, dict):
        return {key: grown(item, factor) for key, item in value.items()}
    return value * factor if isinstance(value, int) and not isinstance(value, bool) else value


def later(record, factor):
    record = json.loads(json.dumps(record))
    groups = ("faults", "page_cache", "hints", "block_io", "reads")
    for part in [*record["files"], record["totals"]]:
        for group in groups:
            if part.get(group) is not None:
                part[group] = grown(part[group], factor)
    record["target"]["seconds"] *= factor
    return record


def render(iotrace, record, textfile):
    """As attach does: a text of its own, renamed over the last one."""
    text = subprocess.run([iotrace, "report", "--format", "openmetrics", "-"], input=json.dumps(record), text=True,
                          capture_output=True, check=True).stdout
    beside = textfile.with_name(".new")
    beside.write_text(text)
    beside.rename(textfile)
    return text


def query(port, expression):
    answer = get(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
    if answer is None:  # it takes no such expression, or is not there
        return {}
    result = json.loads(answer).get("data", {}).get("result", [])
    return {tuple(sorted(series["metric"].items())): float(series["value"][1]) for series in result}


def expressions_of(dashboard):
    """What each panel asks, with Grafana's variables as it fills them in: all instances, all targets."""
    panels = json.loads(Path(dashboard).read_text())["panels"]
    asked = [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", [])]
    assert asked, f"{dashboard}: no panel asks anything"
    values = {"$instance": ".*", "$target": ".*", "$__rate_interval": "30s"}
    for variable, value in values.items():
        asked = [(title, expression.replace(variable, value)) for title, expression in asked]
    left = [expression for _, expression in asked if "$" in expression]
    assert not left, f"variables that the dashboard doesn't declare: {left}"
    return asked


def ask_as_dashboard(prometheus, dashboard):
    """The record has a number for each panel, so none may stay empty."""
    asked = expressions_of(dashboard)
    silent = [f"{title}: {expression}" for title, expression in asked if not query(prometheus, expression)]
    assert not silent, "panels without data:\n" + "\n".join(silent)
    print(f"{len(asked)} expressions of the dashboard have data")


def main(iotrace, record_path, dashboard, folder):
    record = json.loads(Path(record_path).read_text())
    textfiles, storage, config = folder / "textfiles", folder / "storage", folder / "prometheus.yml"
    textfiles.mkdir()
    textfile = textfiles / "iotrace-java.prom"
    render(iotrace, record, textfile)
    programs = Programs(folder)
    try:
        exporter = programs.start("node_exporter", lambda port: [
            "prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}", "--collector.disable-defaults",
            "--collector.textfile", f"--collector.textfile.directory={textfiles}"], "/metrics")
        exported = get(f"http://127.0.0.1:{exporter}/metrics") or ""
        assert "node_textfile_scrape_error 0" in exported, "node_exporter refused the textfile:\n" + exported[-2000:]
        config.write_text(json.dumps({  # JSON is YAML
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "node",
                                "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}]}))
        prometheus = programs.start("prometheus", lambda port: [
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={storage}",
            f"--web.listen-address=127.0.0.1:{port}"], "/-/ready")
        ask(prometheus, lambda factor: render(iotrace, later(record, factor), textfile))
        ask_as_dashboard(prometheus, dashboard)
        gone(prometheus, textfile)
    finally:
        programs.stop()


def ask(prometheus, render_later):
    """Grows the counters until Prometheus has seen them grow in every series that must."""
    expected = {
        "rate(iotrace_page_faults_total[30s])": 21 * 3,  # 20 files and other, three kinds
        "iotrace_probe_up{probe=\"faults\"}": 1,
        "histogram_quantile(0.99, sum by (le) (rate(iotrace_page_fault_duration_seconds_bucket[30s])))": 1,
        "sum by (extension) (rate(iotrace_device_read_bytes_total{extension=\".fdt\"}[30s]))": 1,
    }
    end = time.monotonic() + LONGEST_S - 10
    factor, answers = 1, {}
    while time.monotonic() < end:
        factor += 1
        render_later(factor)
        time.sleep(1)
        answers = {expression: query(prometheus, expression) for expression in expected}
        if all(len(answers[expression]) == count and all(value > 0 for value in answers[expression].values())
               for expression, count in expected.items()):
            break
    else:
        sys.exit("Prometheus does not answer as expected:\n" + "\n".join(
            f"{expression}: {len(answer)} series, {list(answer.items())[:3]}"
            for expression, answer in answers.items()))
    down = query(prometheus, "iotrace_probe_up{probe=\"page_cache\"}")
    assert list(down.values()) == [0], f"a probe that is not attached is up: {down}"
    resets = query(prometheus, "resets(iotrace_page_faults_total[1m]) > 0")
    assert not resets, f"counters fell: {resets}"
    for expression, answer in answers.items():
        print(f"{expression}: {len(answer)} series, largest {max(answer.values()):.4g}")


def gone(prometheus, textfile):
    """The end of a watch removes the file: then no series may go on."""
    textfile.unlink()
    end = time.monotonic() + 8
    while query(prometheus, "iotrace_build_info"):
        assert time.monotonic() < end, "series go on after the file is gone"
        time.sleep(0.3)
    print("no series without the file")


def end(number, _):
    raise SystemExit(f"ended by {signal.Signals(number).name}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    for program in ("prometheus", "prometheus-node-exporter"):
        if not shutil.which(program):
            print(f"SKIP: {program} is not installed (apt package of that name)")
            sys.exit(77)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, end)
    signal.alarm(LONGEST_S)
    with tempfile.TemporaryDirectory(prefix="iotrace-fleet-") as made:
        main(os.path.abspath(sys.argv[1]), *sys.argv[2:], Path(made))
