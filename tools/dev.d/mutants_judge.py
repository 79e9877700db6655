#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Asks sluice_tests which of the faults that ./tools/dev mutants has prepared it notices.

It needs no compiler, so it may run on another machine. It needs a software Vulkan driver (--driver), the zstd command,
and the folder that it lies in, at the path where the folder was made; of the tree in the folder, tests/data is enough.
Each fault has steps, from the tests that concern its file on one device to all tests on every software device. After a
step that notices the fault, no further step is run. Verdicts are kept in verdicts/, so that a run continues the last
one.
"""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HOME = os.path.dirname(os.path.abspath(__file__))
VERDICTS = os.path.join(HOME, "verdicts")
BASE = os.path.join(HOME, "base", "sluice_tests")
BASELINE = "baseline"
UNUSED = "shader that this device uses"


def load_faults():
    faults = []
    folder = os.path.join(HOME, "faults")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "fault.json")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                faults.append(json.load(file))
    return faults


class Judge:
    """Runs single steps. A verdict is a word such as "passed", and a text that says what was seen."""

    def __init__(self, options):
        self.options, self.end = options, time.monotonic() + options.minutes * 60 if options.minutes else None
        self.lock, self.programs, self.running = threading.Lock(), {}, set()

    def program(self, fault):
        """Returns the path of the test program for a fault: the common one or, for a fault in C++, one with that fault, which
        is unpacked at its first use."""
        if not fault["program"]:
            return BASE
        with self.lock:
            event = self.programs.get(fault["name"])
            own = event is None
            if own:
                event = self.programs[fault["name"]] = threading.Event()
        path = os.path.join(self.options.scratch, fault["name"])
        if own:
            patch = os.path.join(HOME, "faults", fault["name"], "sluice_tests.zst")
            subprocess.run(["zstd", "-q", "-d", "-f", "--long=31", "--patch-from=" + BASE, patch, "-o", path],
                           check=True)
            os.chmod(path, 0o755)
            event.set()
        event.wait()
        return path

    def step(self, fault, step):
        """Runs a step. Returns (verdict, text); the verdict is "passed", "noticed", "noticed by crash", "noticed by time",
        "unused" or "not judged". Returns None if the time of the whole run is up."""
        devices, cases, seconds = step["devices"], step["cases"], step["seconds"]
        environment = {**os.environ, **step.get("environment", {}), "SLUICE_TEST_DEVICES": devices,
                       "SLUICE_TEST_VALIDATION": "0", "VK_DRIVER_FILES": self.options.driver,
                       "VK_ICD_FILENAMES": self.options.driver, "LP_NUM_THREADS": "2"}
        environment.setdefault("LP_NATIVE_VECTOR_WIDTH", "256")
        if fault["shaders"]:
            environment["SLUICE_TEST_SHADERS"] = os.path.join(HOME, "faults", fault["name"])
        command = [self.program(fault), "--abort-after=1", "--no-colors"]
        command += ["-tc=" + cases] if cases else []
        command += ["-tce=" + step["without"]] if step.get("without") else []
        command += [f"--first={step['first']}", f"--last={step['last']}"] if step.get("last") else []
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, cwd=HOME, stdout=out, stderr=subprocess.STDOUT, env=environment,
                                     start_new_session=True, preexec_fn=lambda: limit(seconds))
            code = self.wait(child, 4 * seconds + 60)
            if code is None:
                return None
            out.seek(0)
            text = out.read().decode("utf-8", "replace")
        return self.verdict(fault, devices, code, text)

    def wait(self, child, seconds):
        """Returns the exit code, "time" if the child took too long, or None if the time of the whole run is up."""
        begin = time.monotonic()
        while True:
            try:
                return child.wait(timeout=2)
            except subprocess.TimeoutExpired:
                over = self.end is not None and time.monotonic() > self.end
                if not over and time.monotonic() - begin < seconds:
                    continue
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return None if over else "time"

    def verdict(self, fault, devices, code, text):
        if "SLUICE_TEST_SHADERS: " in text:
            return ("unused", "") if UNUSED in text else ("not judged", text[-400:])
        if fault["shaders"] and devices.count("vulkan") > text.count("pipelines replaced)") and code == 0:
            return "not judged", "no shader was replaced"
        if code == 0:
            ran = sum(int(match) for match in re.findall(r"^pair: .* passed (\d+) failed 0\b", text, re.M))
            return ("passed", str(ran)) if ran else ("not judged", "no test ran")
        if code in ("time", -signal.SIGXCPU, -signal.SIGKILL):
            return "noticed by time", last_case(text)
        if code == 1 and re.search(r"^pair: .* failed [1-9]", text, re.M) and "TEST CASE:" in text:
            return "noticed", last_case(text)
        if code == 1:
            return "not judged", text[-400:]
        return "noticed by crash", f"{code} {text[-200:]}"


def last_case(text):
    """Returns the name of the test that failed or, if none failed, of the last test in the output."""
    cases = re.findall(r"^TEST CASE:\s*(.*)$", text.split("ERROR:")[0], re.M)
    return cases[-1] if cases else ""


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def path_of(fault, index):
    return os.path.join(VERDICTS, f"{fault['name']}.{index}")


def read_verdict(fault, index):
    path = path_of(fault, index)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        return tuple(file.read().split("\n", 1))


def summary(fault):
    """Returns (verdict, step, text) of a fault. The verdict is "open" if no step has noticed the fault yet and a step is
    left to run."""
    used, left = False, None
    for index, step in enumerate(fault["steps"]):
        verdict = read_verdict(fault, index)
        if verdict is None:
            left = left or step
        elif verdict[0] not in ("passed", "unused"):
            return verdict[0], step, verdict[1]
        else:
            used = used or verdict[0] == "passed"
    if left:
        return "open", left, ""
    return "not noticed" if used else "unused", None, ""


def describe(fault):
    return f"{fault['path']}:{fault['line']}: {fault['kind']}"


def report(faults):
    faults = [fault for fault in faults if fault["name"] != BASELINE]
    by_verdict = {}
    for fault in faults:
        verdict, step, text = summary(fault)
        by_verdict.setdefault(verdict, []).append((fault, step, text))
    noticed = sum(len(of) for verdict, of in by_verdict.items() if verdict.startswith("noticed"))
    judged = noticed + len(by_verdict.get("not noticed", []))
    lines = [f"{len(faults)} faults, {judged} judged: {noticed} noticed"
             + (f" ({100 * noticed / judged:.1f} %)" if judged else ""),
             ", ".join(f"{len(of)} {verdict}" for verdict, of in sorted(by_verdict.items())), ""]
    for verdict in ("not noticed", "not judged", "noticed by crash", "noticed by time", "unused", "open"):
        if verdict not in by_verdict:
            continue
        lines.append(verdict + ":")
        for fault, _, text in by_verdict[verdict]:
            lines += [f"{describe(fault)} ({fault['name']})", f"  - {fault['before']}", f"  + {fault['after']}"]
            if text and verdict != "open":
                lines.append("  " + text.replace("\n", "\n  ")[-300:])
        lines.append("")
    with open(os.path.join(HOME, "report.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return "\n".join(lines[:2])


def name_of(step):
    part = f" {step['first']}..{step['last']}" if step.get("last") else ""
    return f"{step['devices']} {step['cases'] or 'all'}{part}"


class Schedule:
    """Hands out steps. A fault with fewer running steps comes first, then one with fewer steps begun. So several steps of
    one fault run at once only if there is nothing else to do. A fault that was noticed gets no further steps, but the
    baseline gets all of its steps."""

    def __init__(self, faults, judge, steps):
        self.faults, self.judge, self.steps = faults, judge, steps
        self.next = {fault["name"]: 0 for fault in faults}
        self.running = {fault["name"]: 0 for fault in faults}
        self.done, self.lock = set(), threading.Lock()

    def take(self):
        """Returns (fault, index of a step), or None if no step is left or time is up."""
        with self.lock:
            if self.judge.end is not None and time.monotonic() > self.judge.end:
                return None
            waiting = [fault for fault in self.faults if fault["name"] not in self.done
                       and self.next[fault["name"]] < min(len(fault["steps"]), self.steps or len(fault["steps"]))]
            if not waiting:
                return None
            fault = min(waiting, key=lambda one: (self.running[one["name"]], self.next[one["name"]]))
            self.next[fault["name"]] += 1
            self.running[fault["name"]] += 1
            return fault, self.next[fault["name"]] - 1

    def one(self, fault, index):
        verdict = read_verdict(fault, index)
        if verdict is None:
            verdict = self.judge.step(fault, fault["steps"][index])
            if verdict is None:
                return
            with open(path_of(fault, index) + ".part", "w", encoding="utf-8") as file:
                file.write("\n".join(verdict))
            os.rename(path_of(fault, index) + ".part", path_of(fault, index))
            print(f"{verdict[0]}: {describe(fault)} [{name_of(fault['steps'][index])}] {verdict[1][-80:]!r}", flush=True)
        if verdict[0] not in ("passed", "unused") and fault["name"] != BASELINE:
            self.done.add(fault["name"])

    def work(self):
        taken = self.take()
        while taken is not None:
            self.one(*taken)
            with self.lock:
                self.running[taken[0]["name"]] -= 1
            taken = self.take()


def run_all(faults, judge, jobs, steps):
    schedule = Schedule(faults, judge, steps)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for worker in [pool.submit(schedule.work) for _ in range(jobs)]:
            worker.result()


def baseline_passes(baseline, judge, jobs):
    run_all([baseline], judge, jobs, 0)
    verdicts = [read_verdict(baseline, index) or ("passed",) for index in range(len(baseline["steps"]))]
    return all(verdict[0] == "passed" for verdict in verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests that run at once (default: one a core)")
    parser.add_argument("--minutes", type=float, default=0, help="stop after this long; the next run goes on (0: never)")
    parser.add_argument("--only", default="", help="a regular expression that PATH:LINE: KIND, or the name, must match")
    parser.add_argument("--steps", type=int, default=0, help="run at most this many steps of each fault (0: all)")
    parser.add_argument("--driver", default="/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", help="its manifest")
    parser.add_argument("--without-baseline", action="store_true",
                        help="leaves the run without a fault out, where it has passed on this machine or another")
    parser.add_argument("--again", action="store_true", help="judge again what was not noticed or not judged")
    parser.add_argument("--report", action="store_true", help="write report.txt and stop")
    options = parser.parse_args()
    os.makedirs(VERDICTS, exist_ok=True)
    faults = load_faults()
    if not options.report:
        chosen = [fault for fault in faults if fault["name"] == BASELINE or
                  re.search(options.only, describe(fault) + " " + fault["name"])]
        if options.again:
            for fault in chosen:
                if not summary(fault)[0].startswith("noticed"):
                    for index in range(len(fault["steps"])):
                        if os.path.isfile(path_of(fault, index)):
                            os.remove(path_of(fault, index))
        options.scratch = tempfile.mkdtemp(prefix="sluice-mutants-")
        judge = Judge(options)
        try:
            baseline = next(fault for fault in chosen if fault["name"] == BASELINE)
            if not options.without_baseline and not baseline_passes(baseline, judge, options.jobs):
                print("the tests fail, or do not run, without a fault", file=sys.stderr)
                return 1
            run_all([fault for fault in chosen if fault["name"] != BASELINE], judge, options.jobs, options.steps)
        finally:
            shutil.rmtree(options.scratch)
    print(report(faults))
    return 0


if __name__ == "__main__":
    sys.exit(main())
