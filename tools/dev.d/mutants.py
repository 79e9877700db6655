#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Puts single faults into shaders and sources, one at a time, and asks which of them CI's tests notice.

There are two stages, so that the second may run on a larger machine. This script is the first. It builds the tests in a
copy of the tree, and makes a folder for each fault. If the fault is in a shader, the folder has the SPIR-V of every
variant that the fault changes; the common test program loads it in place of its own (SLUICE_TEST_SHADERS). If the fault
is in C++, the folder has a test program, as its difference from the common one. The second stage is mutants_judge.py,
which is copied to the same place and needs no compiler. left_out.txt lists the faults that get no folder, because they
do not compile or change no code that software devices run.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SHADERS = re.compile(r"^shaders/([^/]+\.comp|lib/.+\.(glsl|h))$")
SOURCES = re.compile(r"^src/((formats|api|cpu)/.+|stream/transcodes)\.(cpp|h)$")
# A header that more objects than this include gets no faults, since each fault would recompile all
# of them.
MOST_OBJECTS = 16
# The forms of shaders that software devices run, with the flags of cmake/Shaders.cmake and the
# device that runs each.
VARIANTS = {"extNarrow": (["-DSLUICE_EXT", "-DSLUICE_NARROW"], "vulkan/ext"),
            "baseNarrow": (["-DSLUICE_NARROW"], "vulkan/base"),
            "emu": (["-DSLUICE_EMU"], "vulkan/emu32")}
BASELINE = "baseline"

# The faults: name, pattern, replacement.
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

# Which tests concern a file: a word in its path, and doctest's patterns for tests.
CONCERNS = [
    ("gdeflate", "*gdeflate*,*golden*,range*"), ("huffman", "*gdeflate*,*golden*"), ("bit_reader", "*gdeflate*"),
    ("lz_expand", "*gdeflate*,*golden*"), ("gstd", "*gstd*,range*"), ("/rans", "*gstd*"), ("word_stream", "*gstd*"),
    ("filter", "*filter*,range*"), ("fse", "*fse*,range*"), ("slots", "*fse*,range*"), ("float", "*float*,range*"),
    ("df11", "*df11*,range*"), ("tile_stream", "*tile stream*,range*"), ("checksum", "*checksum*,*xxh*"),
    ("uastc", "*uastc*"), ("transcodes", "*uastc*"), ("zstd", "*zstd*"), ("xxh", "*checksum*,*xxh*"), ("compact", "*compact*"), ("scan", "*scan*,*reduce*"), ("reduce", "*reduce*,*scan*"),
    ("lookback", "*scan*,*compact*"), ("ring", "*scan*,*compact*"), ("interval", "*interval*,*bulk*,range*"),
    ("runs", "*interval*,*bulk*,*scan*"), ("archive", "*archive*"), ("dds", "*dds*"), ("ktx2", "*ktx2*,*image*"),
    ("image", "*image*,*ktx2*,*dds*"), ("safetensors", "*safetensors*"), ("status", "*status*,*arguments*"),
    ("tile_lists", "*pitch*,*gdeflate*,*gstd*"), ("commands", "*pipelines*"), ("cpu/context", "*context*,edges*"),
    ("region", "range*,*region*,*arguments*"), ("api/", "*arguments*,*requirements*,edges*"), ("plan_", "edges*"), ("api/tiles", "tiles*"),
]
# The tests for a file whose path has none of these words.
BROAD = "*golden*,range*,*filter*,*scan*,*interval*"
ALL_SECONDS, NEAR_SECONDS = 1500, 600
# All tests on a device are run in this many steps at once. A step that exceeds its time is begun
# again.
PARTS, PART_SECONDS = 6, 900


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


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


class Fault:
    def __init__(self, path, line, kind, begin, end, becomes, text):
        self.path, self.line, self.kind, self.begin, self.end, self.becomes = path, line, kind, begin, end, becomes
        self.before = text.strip()
        self.after = (text[:begin] + becomes + text[end:]).strip()
        # The name depends on the line's own text and not on its number, so that a verdict holds
        # when other lines change.
        self.name = hashlib.sha256(f"{path}|{kind}|{begin}|{text}".encode()).hexdigest()[:12]

    def apply(self, text):
        lines = text.split("\n")
        line = lines[self.line]
        lines[self.line] = line[:self.begin] + self.becomes + line[self.end:]
        return "\n".join(lines)


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


def order(paths, seed):
    """Returns all faults of the files in a random order that depends on the seed alone. The files take turns, and the
    faults of a file alternate between their kinds."""
    draw = random.Random(seed)
    queues = []
    for path in paths:
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
    ordered = []
    while any(queues):
        ordered += [queue.pop(0) for queue in queues if queue]
    return ordered


def run(command, cwd, log):
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.run(command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, check=False).returncode == 0


def near(path):
    cases = {case for word, cases in CONCERNS if word in path for case in cases.split(",")}
    return ",".join(sorted(cases)) or BROAD


def cases_of_tool():
    """Returns the names of tests that run the tool. No fault is put into the tool, so these tests can notice none, and they
    take most of the host's time."""
    names = []
    for path in tracked():
        if re.match(r"^tests/\w+/\w+_test\.cpp$", path):
            whole = re.match(r"^tests/\w+/(tune|documents|devices_page)_", path)
            bodies = re.split(r'^TEST_CASE\("', read(os.path.join(ROOT, path)), flags=re.M)[1:]
            names += [body.split('"')[0] for body in bodies
                      if whole or re.search(r"\bTool\b|\btool\(|\bFolder \w+[;(]|\brunTool\(", body)]
    return ",".join(sorted({re.sub(r"[,\\*]", "?", name) for name in names}))


def step(devices, cases, seconds, without, **environment):
    return {"devices": devices, "cases": cases, "seconds": seconds, "without": without, "environment": environment}


def parts_of(whole, count):
    """Divides the step `whole`, which runs all `count` tests on a device, into PARTS steps."""
    edges = [count * part // PARTS for part in range(PARTS + 1)]
    return [{**whole, "seconds": PART_SECONDS, "first": begin + 1, "last": end}
            for begin, end in zip(edges, edges[1:]) if end > begin]


def shader_steps(path, variants, without, count):
    """Returns the steps for a fault in a shader: first the tests that concern the file, with every subgroup size that CI
    runs, then all other tests on one or two devices. count: see Workshop.count."""
    cases, devices = near(path), [VARIANTS[variant][1] for variant in variants]
    steps = [step(device, cases, NEAR_SECONDS, without) for device in devices]
    if "emu" in variants:
        steps += [step(f"vulkan/emu{size}", cases, NEAR_SECONDS, without) for size in (128, 64, 4)]
    narrow = [device for device in devices if "emu" not in device]
    for device in narrow[:1]:
        steps += [step(device, cases, NEAR_SECONDS, without, LP_NATIVE_VECTOR_WIDTH=width) for width in ("128", "512")]
    others = f"{without},{cases}"
    for device in narrow[:1] + [one for one in devices if "emu" in one]:
        steps += parts_of(step(device, "", PART_SECONDS, others), count(others))
    return steps


def baseline_steps(without):
    """Returns steps that together run every test that a fault's steps can run."""
    devices = [device for _, device in VARIANTS.values()] + [f"vulkan/emu{size}" for size in (128, 64, 4)]
    steps = [step(device, "", ALL_SECONDS, without) for device in devices]
    steps += [step("vulkan/ext", "", ALL_SECONDS, without, LP_NATIVE_VECTOR_WIDTH=width) for width in ("128", "512")]
    return steps + [step("host,cpu", "", ALL_SECONDS, without)]


def source_steps(path, without):
    return [step("host,cpu", near(path), NEAR_SECONDS, without), step("host,cpu", "", ALL_SECONDS, without),
            step("vulkan/ext", "", ALL_SECONDS, without)]


class Workshop:
    """A copy of the tree, in which everything is built, and the folder with the faults."""

    def __init__(self, home, jobs):
        self.home, self.jobs = home, jobs
        self.tree, self.build = os.path.join(home, "tree"), os.path.join(home, "tree", "build", "release")
        self.left_out_path = os.path.join(home, "left_out.txt")
        self.left_out = {}
        if os.path.isfile(self.left_out_path):
            self.left_out = {line.split("\t")[0]: line for line in read(self.left_out_path).splitlines()}
        self.without = cases_of_tool()
        self.counts = {}

    def make(self):
        """Brings the copy up to date. Files that did not change keep their times, so that little is built again."""
        for path in tracked():
            source, target = os.path.join(ROOT, path), os.path.join(self.tree, path)
            if os.path.isfile(target) and read_bytes(target) == read_bytes(source):
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
        os.makedirs(os.path.join(self.home, "faults"), exist_ok=True)
        os.makedirs(os.path.join(self.home, "base"), exist_ok=True)
        log = os.path.join(self.home, "build.txt")
        # The test program must run on machines without these libraries.
        configure = ["cmake", "--preset", "release", "-DSLUICE_CUDA=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                     "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON",
                     "-DCMAKE_EXE_LINKER_FLAGS=-static-libgcc -static-libstdc++ -s"]
        build = ["cmake", "--build", "build/release", "-j", str(self.jobs), "--target", "sluice_tests"]
        if not run(configure, self.tree, log) or not run(build, self.tree, log):
            sys.exit(f"the tree itself does not build: {log}")
        shutil.copy(os.path.join(ROOT, "tools", "dev.d", "mutants_judge.py"), os.path.join(self.home, "judge.py"))
        self.read_objects()
        self.read_shaders()
        base = os.path.join(self.home, "base", "sluice_tests")
        self.link_tests({}, base + ".new")
        if os.path.isfile(base) and read_bytes(base) != read_bytes(base + ".new"):
            sys.exit(f"what {self.home} holds was made of another tree: remove it")
        os.replace(base + ".new", base)

    def read_objects(self):
        """Finds the compile command of each object that the test program links, and the files that the object includes."""
        listing = subprocess.run(["ninja", "-C", "build/release", "-t", "commands", "bin/sluice_tests"], cwd=self.tree,
                                 check=True, capture_output=True, text=True).stdout.splitlines()
        self.link = [line for line in listing if "-o bin/sluice_tests" in line][-1].replace(" -o ", " -fuse-ld=gold -o ")
        for line in listing:
            # In the link command, replace each archive by the list of its objects, so that
            # link_tests can exchange a single object.
            found = re.search(r"ar qc (libsluice\w*\.a) +(.*?\.o) *&&", line)
            if found:
                self.link = self.link.replace(f" {found.group(1)} ",
                                              f" -Wl,--start-lib {found.group(2)} -Wl,--end-lib ")
        self.commands = {}
        for entry in json.loads(read(os.path.join(self.build, "compile_commands.json"))):
            found = re.search(r" -o (\S+\.o) ", entry["command"])
            if found and re.search(r"/sluice_(tests|(device_|encode_|stream_)?objects)\.dir/", found.group(1)):
                self.commands[found.group(1)] = entry["command"]
        self.objects_of = collections.defaultdict(set)
        current = ""
        for line in subprocess.run(["ninja", "-C", "build/release", "-t", "deps"], cwd=self.tree, check=True,
                                   capture_output=True, text=True).stdout.splitlines():
            if not line.startswith(" "):
                current = line.split(":")[0]
            elif current in self.commands:
                path = os.path.normpath(os.path.join(self.build, line.strip()))
                self.objects_of[os.path.relpath(path, self.tree)].add(current)

    def read_shaders(self):
        """Finds which shaders include each file, and compiles all shaders without faults."""
        self.shaders_of = collections.defaultdict(set)
        self.spirv = {}
        folder = os.path.join(self.home, "faults", BASELINE)
        os.makedirs(folder, exist_ok=True)
        for name in sorted(os.listdir(os.path.join(self.tree, "shaders"))):
            shader, extension = os.path.splitext(name)
            if extension != ".comp":
                continue
            self.visit(f"shaders/{name}", shader)
            self.spirv.update({(shader, variant): None for variant in VARIANTS})
        self.spirv = self.compile_all(self.spirv, folder)
        for (shader, variant), code in self.spirv.items():
            if code is None:
                sys.exit(f"{shader} does not compile as {variant}")

    def visit(self, path, shader):
        if shader in self.shaders_of[path]:
            return
        self.shaders_of[path].add(shader)
        for included in re.findall(r'^#include "([^"]+)"', read(os.path.join(self.tree, path)), re.M):
            for folder in (os.path.dirname(path), "shaders", "shaders/lib"):
                candidate = os.path.normpath(os.path.join(folder, included))
                if os.path.isfile(os.path.join(self.tree, candidate)):
                    self.visit(candidate, shader)
                    break

    def compile_all(self, pairs, folder):
        """Returns the SPIR-V of each (shader, variant), and writes it into the folder."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return dict(pool.map(lambda pair: (pair, self.compile(*pair, os.path.join(folder, "%s.%s.spv" % pair))),
                                 pairs))

    def compile(self, shader, variant, output):
        """Returns the SPIR-V, or None if the shader does not compile. It is not optimised, since drivers optimise it."""
        folder = os.path.join(self.tree, "shaders")
        command = ["glslangValidator", "--quiet", "-V", "-g0", "--target-env", "vulkan1.2", *VARIANTS[variant][0],
                   "-I" + folder, "-o", output, os.path.join(folder, shader + ".comp")]
        done = subprocess.run(command, capture_output=True, check=False)
        return read_bytes(output) if done.returncode == 0 else None

    def count(self, without):
        """Returns how many tests run on a device if those that match `without` are excluded."""
        if without not in self.counts:
            told = subprocess.run([os.path.join(self.home, "base", "sluice_tests"), "--count", "--no-colors",
                                   "-tce=" + without], check=True, capture_output=True, text=True,
                                  env={**os.environ, "SLUICE_TEST_DEVICES": "cpu"}).stdout
            self.counts[without] = int(re.search(r"filters: *(\d+)", told).group(1))
        return self.counts[without]

    def leave_out(self, fault, reason):
        line = "\t".join([fault.name, reason, f"{fault.path}:{fault.line + 1}", fault.kind, fault.before, fault.after])
        self.left_out[fault.name] = line
        with open(self.left_out_path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def prepare(self, fault):
        """Makes the fault's folder. Returns False if the fault is left out."""
        folder = os.path.join(self.home, "faults", fault.name)
        if os.path.isfile(os.path.join(folder, "fault.json")):
            return True
        if fault.name in self.left_out:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        target = os.path.join(self.tree, fault.path)
        good, times = read(target), os.stat(target)
        write(target, fault.apply(good))
        try:
            steps, reason = self.prepare_shaders(fault, folder) if SHADERS.match(fault.path) else ([], "")
            if not reason and self.objects_of[fault.path]:
                more, reason = self.prepare_program(fault, folder)
                steps += more
        finally:
            write(target, good)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        if not reason and not steps:
            reason = "no code that software devices run"
        if reason:
            shutil.rmtree(folder)
            self.leave_out(fault, reason)
            return False
        self.write_fault(folder, {"name": fault.name, "path": fault.path, "line": fault.line + 1, "kind": fault.kind,
                                  "before": fault.before, "after": fault.after, "steps": steps})
        return True

    @staticmethod
    def write_fault(folder, fields):
        names = os.listdir(folder)
        fields["shaders"] = any(name.endswith(".spv") for name in names)
        fields["program"] = "sluice_tests.zst" in names
        write(os.path.join(folder, "fault.json"), json.dumps(fields, indent=1) + "\n")

    def prepare_shaders(self, fault, folder):
        variants = []
        pairs = [(shader, variant) for shader in sorted(self.shaders_of[fault.path]) for variant in VARIANTS]
        compiled = self.compile_all(pairs, folder)
        if None in compiled.values():
            return [], "does not compile"
        for (shader, variant), code in compiled.items():
            if code == self.spirv[shader, variant]:
                os.remove(os.path.join(folder, f"{shader}.{variant}.spv"))
            elif variant not in variants:
                variants.append(variant)
        return shader_steps(fault.path, variants, self.without, self.count), ""

    def prepare_program(self, fault, folder):
        changed = []
        for index, name in enumerate(sorted(self.objects_of[fault.path])):
            output = os.path.join(folder, f"{index}.o")
            command = self.commands[name].replace(f" -o {name} ", f" -o {output} ")
            command = re.sub(r" -MD -MT \S+ -MF \S+| -Werror\b", "", command)
            if not run(shlex.split(command), self.build, os.path.join(self.home, "compile.txt")):
                return [], "does not compile"
            if read_bytes(output) != read_bytes(os.path.join(self.build, name)):
                changed.append((name, output))
        if not changed:
            return [], "" if SHADERS.match(fault.path) else "the compiler makes the same code of it"
        program = os.path.join(folder, "sluice_tests")
        self.link_tests(dict(changed), program)
        subprocess.run(["zstd", "-q", "-f", "-9", "--long=27", "--patch-from=" + os.path.join(self.home, "base",
                        "sluice_tests"), program, "-o", program + ".zst"], check=True)
        for name in os.listdir(folder):
            if name.endswith(".o") or name == "sluice_tests":
                os.remove(os.path.join(folder, name))
        return source_steps(fault.path, self.without), ""

    def link_tests(self, changed, program):
        """Links a test program in which `changed` replaces some objects (key) by others (value)."""
        link = self.link.replace("-o bin/sluice_tests", "-o " + program)
        for name, output in changed.items():
            link = link.replace(f" {name} ", f" {output} ")
        if not run(["sh", "-c", link], self.build, os.path.join(self.home, "link.txt")):
            sys.exit(f"a test program does not link: {self.home}/link.txt")

    def baseline(self):
        """Makes a folder without a fault. Tests that fail there say nothing about faults."""
        folder = os.path.join(self.home, "faults", BASELINE)
        self.write_fault(folder, {"name": BASELINE, "path": BASELINE, "line": 0, "kind": "", "before": "", "after": "",
                                  "steps": baseline_steps(self.without)})


def main():
    parser = argparse.ArgumentParser(prog="./tools/dev mutants", description=__doc__.split("\n")[0],
                                     epilog="What is left on the line after -- goes to mutants_judge.py.")
    parser.add_argument("--count", type=int, default=400,
                        help="faults to make (default 400), half of them in shaders and half in C++")
    parser.add_argument("--seed", type=int, default=1, help="another seed chooses others (default 1)")
    parser.add_argument("--home", default=os.path.join(ROOT, "build", "mutants"),
                        help="the folder (default build/mutants); it is judged at the same path")
    parser.add_argument("--only", default="", help="a regular expression that paths must match")
    parser.add_argument("--list", action="store_true", help="print the faults in their order and stop")
    parser.add_argument("--prepare", action="store_true", help="do not judge them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("judge", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()

    shop = Workshop(options.home, options.jobs)
    orders = []
    for pattern in (SHADERS, SOURCES):
        orders.append(order(sorted(path for path in tracked() if pattern.match(path)), options.seed))
    if options.list:
        for fault in orders[0] + orders[1]:
            print(f"{fault.path}:{fault.line + 1}: {fault.kind}: {fault.after}")
        return 0
    shop.make()
    shop.baseline()
    for faults in orders:
        made = 0
        for fault in faults:
            if made == options.count // 2:
                break
            if not re.search(options.only, fault.path) or len(shop.objects_of[fault.path]) > MOST_OBJECTS:
                continue
            made += shop.prepare(fault)
            print(f"{made}: {fault.path}:{fault.line + 1}: {fault.kind}", flush=True)
    if options.prepare:
        return 0
    return subprocess.run([sys.executable, os.path.join(options.home, "judge.py"), *options.judge],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
