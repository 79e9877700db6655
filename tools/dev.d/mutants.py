#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Puts single faults into shaders and sources, one at a time, and asks which of them CI's tests notice.

It works in a copy of the tree under build/mutants, which it builds incrementally. Each fault is built, then the tests
that concern its file run, and if they pass, all tests of the host, the CPU and lavapipe's tiers. Verdicts are kept in
build/mutants/results.txt, so that a run goes on where the one before has stopped; build/mutants/report.txt is the table.
"""
import argparse
import collections
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(ROOT, "build", "mutants")
TREE = os.path.join(HOME, "tree")
RESULTS = os.path.join(HOME, "results.txt")
REPORT = os.path.join(HOME, "report.txt")
LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"

SOURCES = re.compile(r"^(shaders/[^/]+\.comp|shaders/lib/.+\.(glsl|h)|src/(formats|api|cpu)/.+\.(cpp|h))$")

# Faults: what they are called, what is sought, what it becomes.
FAULTS = [
    ("< is <=", re.compile(r"(?<![<\-=])<(?![<=])(?= )"), "<="),
    ("<= is <", re.compile(r"<=(?= )"), "<"),
    ("> is >=", re.compile(r"(?<![>\-=])>(?![>=])(?= )"), ">="),
    (">= is >", re.compile(r">=(?= )"), ">"),
    ("== is !=", re.compile(r"==(?= )"), "!="),
    ("!= is ==", re.compile(r"!=(?= )"), "=="),
    ("one more", re.compile(r"\+ 1u?\b(?!\.)"), "+ 2"),
    ("none more", re.compile(r"\+ 1u?\b(?!\.)"), "+ 0"),
    ("one less is none", re.compile(r"- 1u?\b(?!\.)"), "- 0"),
    ("min is max", re.compile(r"\bmin\("), "max("),
    ("max is min", re.compile(r"\bmax\("), "min("),
    ("and is or", re.compile(r"&&"), "||"),
    ("barrier dropped", re.compile(r"^\s*(?:wg|lg)Barrier(?:Shared|All)\([^;]*\);|^\s*memoryBarrier\w*\(\);"), ""),
    ("error dropped", re.compile(r"\bSLUICE_ST_(?!OK\b|PENDING\b)[A-Z_]+\b"), "SLUICE_ST_OK"),
    ("error dropped", re.compile(r"\bSLUICE_ERROR_[A-Z_]+\b"), "SLUICE_OK"),
]

# Which tests concern a file, by words in its path; doctest's own patterns.
CONCERNS = [
    ("gdeflate", "*gdeflate*,*golden*,range*"), ("huffman", "*gdeflate*,*golden*"), ("bit_reader", "*gdeflate*"),
    ("lz_expand", "*gdeflate*,*golden*"), ("gstd", "*gstd*,range*"), ("rans", "*gstd*"), ("word_stream", "*gstd*"),
    ("filter", "*filter*,range*"), ("fse", "*fse*,range*"), ("slots", "*fse*,range*"), ("float", "*float*,range*"),
    ("df11", "*df11*,range*"), ("tile_stream", "*tile stream*,range*"), ("checksum", "*checksum*,*xxh*"),
    ("xxh", "*checksum*,*xxh*"), ("compact", "*compact*"), ("scan", "*scan*,*reduce*"), ("reduce", "*reduce*,*scan*"),
    ("lookback", "*scan*,*compact*"), ("ring", "*scan*,*compact*"), ("interval", "*interval*,*bulk*,range*"),
    ("runs", "*interval*,*bulk*"), ("archive", "*archive*"), ("dds", "*dds*"), ("ktx2", "*ktx2*,*image*"),
    ("image", "*image*,*ktx2*,*dds*"), ("safetensors", "*safetensors*"), ("status", "*status*,*arguments*"),
    ("region", "range*,*region*,*arguments*"), ("api/", "*arguments*,*requirements*"), ("api/tiles", "tiles*"),
]
HOST_ONLY = re.compile(r"^src/(formats|api)/")


def tracked():
    try:
        out = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return [path for path in out.splitlines() if os.path.isfile(os.path.join(ROOT, path))]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [name for name in folders if name not in ("build", ".git")]
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
        return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_tree():
    """Brings the copy up to date; files that did not change keep their times, so that little is built again."""
    for path in tracked():
        source, target = os.path.join(ROOT, path), os.path.join(TREE, path)
        with open(source, "rb") as file:
            content = file.read()
        if os.path.isfile(target):
            with open(target, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


class Fault:
    def __init__(self, path, line, kind, begin, end, becomes, text):
        self.path, self.line, self.kind, self.begin, self.end, self.becomes = path, line, kind, begin, end, becomes
        self.before = text.strip()
        self.after = (text[:begin] + becomes + text[end:]).strip()
        # The line's own text, so that a verdict outlives changes elsewhere in the file.
        self.name = hashlib.sha256(f"{path}|{kind}|{begin}|{text}".encode()).hexdigest()[:12]


def faults_of(path):
    found, comment = [], False
    for number, line in enumerate(read(os.path.join(ROOT, path)).splitlines()):
        code = line
        if comment or code.lstrip().startswith(("//", "#", "/*", "*")):
            comment = (comment or "/*" in code) and "*/" not in code
            continue
        code = re.sub(r"//.*", "", code)
        code = re.sub(r'"[^"]*"', lambda m: " " * len(m.group()), code)
        if "static_assert" in code or "template" in code:
            continue
        for kind, pattern, becomes in FAULTS:
            for match in pattern.finditer(code):
                found.append(Fault(path, number, kind, match.start(), match.end(), becomes, line))
    return found


def choose(count, seed):
    """The same faults for the same seed and files: of each file in turn one of another kind, until there are enough."""
    draw = random.Random(seed)
    queues = []
    for path in sorted(path for path in tracked() if SOURCES.match(path)):
        by_kind = collections.defaultdict(list)
        for fault in faults_of(path):
            by_kind[fault.kind].append(fault)
        kinds = list(by_kind.values())
        for kind in kinds:
            draw.shuffle(kind)
        draw.shuffle(kinds)
        queue = []
        while kinds:
            kinds = [kind for kind in kinds if kind]
            queue += [kind.pop() for kind in kinds]
        queues.append(queue)
    draw.shuffle(queues)
    chosen = []
    while len(chosen) < count and any(queues):
        for queue in queues:
            if queue and len(chosen) < count:
                chosen.append(queue.pop(0))
    return chosen


def run(command, seconds, environment=None, log=None):
    """True, False, or None where it took more processor time, or ten times as long. Other programs do not count."""
    with open(os.path.join(HOME, log or "log.txt"), "w", encoding="utf-8") as out:
        child = subprocess.Popen(command, cwd=TREE, stdout=out, stderr=subprocess.STDOUT,
                                 env={**os.environ, **(environment or {})}, start_new_session=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)))
        try:
            code = child.wait(timeout=10 * seconds)
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return None


def build(jobs, seconds):
    return run(["cmake", "--build", "build/release", "-j", str(jobs), "--target", "sluice_tests"], seconds,
               log="build.txt")


def tests(devices, cases, seconds):
    """Whether the tests pass. Vulkan's devices are lavapipe's at 8 lanes."""
    environment = {"SLUICE_TEST_DEVICES": devices, "VK_DRIVER_FILES": LAVAPIPE, "VK_ICD_FILENAMES": LAVAPIPE,
                   "LP_NATIVE_VECTOR_WIDTH": "256"}
    command = ["build/release/bin/sluice_tests"] + (["-tc=" + cases] if cases else [])
    return run(command, seconds, environment, "tests.txt")


def devices_for(path, whole):
    if HOST_ONLY.match(path) and not whole:
        return "host,cpu"
    return "host,cpu,vulkan/ext,vulkan/base,vulkan/emu32" if whole else "host,cpu,vulkan/ext,vulkan/emu32"


def judge(fault, options):
    target = os.path.join(TREE, fault.path)
    good = read(target)
    lines = good.split("\n")
    line = lines[fault.line]
    lines[fault.line] = line[:fault.begin] + fault.becomes + line[fault.end:]
    write(target, "\n".join(lines))
    try:
        built = build(options.jobs, options.build_seconds)
        if built is None:
            return "not built in time"
        if not built:
            return "does not compile"
        cases = ",".join(sorted({case for word, cases in CONCERNS if word in fault.path for case in cases.split(",")}))
        if cases:
            passed = tests(devices_for(fault.path, False), cases, options.test_seconds)
            if not passed:
                return "noticed" if passed is False else "noticed by time"
            if options.near:
                return "passed the tests near it"
        passed = tests(devices_for(fault.path, True), "", options.all_seconds)
        return "not noticed" if passed else "noticed" if passed is False else "noticed by time"
    finally:
        write(target, good)


def load_results():
    results = {}
    if os.path.isfile(RESULTS):
        for line in read(RESULTS).splitlines():
            fields = line.split("\t")
            if len(fields) == 6:
                results[fields[0]] = fields
    return results


def report(chosen, results):
    noticed, missed, other, open_ = [], [], [], 0
    for fault in chosen:
        fields = results.get(fault.name)
        if fields is None:
            open_ += 1
        elif fields[1].startswith("noticed"):
            noticed.append(fault)
        elif fields[1] in ("not noticed", "passed the tests near it"):
            missed.append((fault, fields[1]))
        else:
            other.append((fault, fields[1]))
    judged = len(noticed) + len(missed)
    text = [f"{len(chosen)} faults: {len(noticed)} noticed of {judged} judged"
            + (f" ({100 * len(noticed) / judged:.0f} %)" if judged else "")
            + f", {len(other)} that do not compile, {open_} not tried yet", ""]
    by_file = collections.Counter(fault.path for fault in noticed + [fault for fault, _ in missed])
    for path in sorted(by_file):
        ours = sum(1 for fault in noticed if fault.path == path)
        text.append(f"{path:44} {ours:3} of {by_file[path]:3}")
    text += ["", "Not noticed:"]
    for fault, verdict in missed:
        text += [f"{fault.path}:{fault.line + 1}: {fault.kind} ({verdict})", f"  - {fault.before}", f"  + {fault.after}"]
    write(REPORT, "\n".join(text) + "\n")
    return text[0]


def main():
    parser = argparse.ArgumentParser(prog="./tools/dev mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=400, help="faults to choose (default 400)")
    parser.add_argument("--seed", type=int, default=1, help="another seed chooses others (default 1)")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; the next run goes on (0: never)")
    parser.add_argument("--only", default="", help="a regular expression that paths must match")
    parser.add_argument("--near", action="store_true",
                        help="run the tests that concern the file alone: a fault that passes may still be noticed")
    parser.add_argument("--list", action="store_true", help="print the faults and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build-seconds", type=int, default=900)
    parser.add_argument("--test-seconds", type=int, default=300)
    parser.add_argument("--all-seconds", type=int, default=1500)
    options = parser.parse_args()

    chosen = [fault for fault in choose(options.count, options.seed) if re.search(options.only, fault.path)]
    if options.list:
        for fault in chosen:
            print(f"{fault.path}:{fault.line + 1}: {fault.kind}: {fault.after}")
        return 0
    os.makedirs(HOME, exist_ok=True)
    copy_tree()
    if not run(["cmake", "--preset", "release", "-DSLUICE_CUDA=OFF"], 600) or \
            not build(options.jobs, 7200):
        print(f"the tree itself does not build: {HOME}/log.txt, build.txt", file=sys.stderr)
        return 1
    results = load_results()
    begin = time.monotonic()
    for fault in chosen:
        if fault.name in results:
            continue
        if options.minutes and time.monotonic() - begin > 60 * options.minutes:
            break
        verdict = judge(fault, options)
        results[fault.name] = [fault.name, verdict, f"{fault.path}:{fault.line + 1}", fault.kind, fault.before,
                               fault.after]
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write("\t".join(field.replace("\t", " ") for field in results[fault.name]) + "\n")
        print(f"{verdict}: {fault.path}:{fault.line + 1}: {fault.kind}: {fault.after}", flush=True)
        report(chosen, results)
    print(report(chosen, results))
    print(f"{REPORT} lists those that were not noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
