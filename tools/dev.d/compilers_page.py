#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""compilers_page.py RESULTS FIGURES PAGE

Writes docs/compilers.md from what `sluice devices --pipelines --json` printed for each target (RESULTS/TARGET.json,
TARGET.seconds, TARGET.code). Compares the figures with the older ones in the file FIGURES, and replaces them there.
Fails if a pipeline could not be made, or if a shader takes scratch memory on one of AMD's GPUs.
"""
import datetime
import json
import pathlib
import re
import sys

# What RADV, ANV, Turnip and NVK call each figure. If a driver reports several of these names, they
# are added up.
FIGURES = {
    "lanes": ["subgroupSize"],
    "registers": ["VGPRs", "Max live registers", "Registers used", "Number of GPRs"],
    "waves": ["Subgroups per SIMD", "Max Waves Per Core", "Max warps/SM"],
    "spills": ["Spilled VGPRs", "Spill Count", "STP Count", "Number of spills to memory"],
    "scratch": ["Scratch size", "Scratch Memory Size", "SLM size", "SLM Size"],
    "shared": ["LDS size", "Workgroup Memory Size"],
    "code": ["Code size", "Code Size", "Instruction Count", "Instruction count"],
    "scalars": ["Spilled SGPRs"],
}
NAMES = list(FIGURES)

VENDORS = {
    "amd": ("AMD", "RADV of Mesa, told of a GPU that is not there (RADV_FORCE_FAMILY). Registers are VGPRs of an "
                   "invocation, waves are of a SIMD; `S` are scalar registers that went to vector registers. Code in bytes."),
    "intel": ("Intel", "ANV of Mesa on its stand-in for the kernel driver. Registers are those that live at the same time; "
                       "what is spilled are instructions that store to scratch memory. Code in instructions."),
    "qualcomm": ("Qualcomm", "Turnip of Mesa on its stand-in. What is spilled are instructions that store to private memory "
                             "(STP). Code in bytes."),
    "nvidia": ("NVIDIA by NVK", "NVK of Mesa on its stand-in; NVIDIA's own driver is measured on GPUs "
                                "([performance.md](performance.md)). Scratch is local memory. Code in bytes."),
}


def figures_of(pipeline):
    """Returns a number for each of NAMES; None where the driver does not say."""
    known = dict(pipeline["statistics"], subgroupSize=pipeline["subgroupSize"])
    result = []
    for name in NAMES:
        found = [known[key] for key in FIGURES[name] if key in known]
        result.append(found[0] if found else None)
    return result


def read_results(folder):
    targets = {}
    for code in sorted(folder.glob("*.code")):
        target = code.stem
        try:
            printed = json.loads(code.with_suffix(".json").read_text())
        except ValueError:
            printed = {"driver": "", "tier": "", "pipelines": []}
        refused = [one["name"] for one in printed["pipelines"] if one["refused"]]
        targets[target] = {
            "driver": printed["driver"],
            "tier": printed["tier"],
            "seconds": float(code.with_suffix(".seconds").read_text()),
            "failed": refused if refused or code.read_text().strip() == "0" else ["the context"],
            "pipelines": {one["name"]: figures_of(one) for one in printed["pipelines"] if not one["refused"]},
        }
    return targets


def column(target, name):
    at = NAMES.index(name)
    return [one[at] for one in target["pipelines"].values() if one[at] is not None]


def total(target, name, how=sum):
    values = column(target, name)
    return how(values) if values else None


def shown(value):
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def changes(target, before):
    """Returns a text: what has changed in a target as a whole since the older figures `before`."""
    if before is None:
        return "new"
    said = []
    if column(target, "lanes") and set(column(target, "lanes")) != set(column(before, "lanes")):
        said.append(f"lanes were {', '.join(map(str, sorted(set(column(before, 'lanes')))))}")
    for name in ("spills", "scratch", "code"):
        now, then = total(target, name), total(before, name)
        if now is not None and then is not None and now != then:
            said.append(f"{'spilled' if name == 'spills' else name} {shown(then)} to {shown(now)}")
    if before["driver"] != target["driver"]:
        said.append(f"was {before['driver']}")
    return "; ".join(said) or "none"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def is_chosen(name):
    """Returns whether a context would choose this target's tier and subgroup size by itself. For AMD's GPUs both subgroup
    sizes count as chosen."""
    return not re.search(r"^intel-.*-\d+$|-base$|-emu\d+$", name)


def summary(targets, before):
    rows = []
    for name, target in targets.items():
        lanes = sorted(set(column(target, "lanes")))
        rows.append([
            name, target["tier"], ", ".join(map(str, lanes)), str(len(target["pipelines"])),
            ", ".join(target["failed"]) or "none",
            shown(total(target, "registers", max)), shown(total(target, "waves", min)), shown(total(target, "spills")),
            shown(sum(1 for one in column(target, "spills") if one != 0) if column(target, "spills") else None),
            shown(total(target, "scratch", max)), shown(total(target, "code")), shown(target["seconds"]),
            changes(target, before.get(name)),
        ])
    return table(["target", "tier", "lanes", "pipelines", "failed", "most registers", "fewest waves", "spilled", "in pipelines",
                  "most scratch, bytes", "code", "seconds", "changes"], rows)


def cell(figures):
    if figures is None:
        return "–"
    one = dict(zip(NAMES, figures))
    text = shown(one["registers"])
    if one["waves"] is not None:
        text += f" · {one['waves']}"
    if one["spills"]:
        text += f" · **{one['spills']:,} spilled**"
    if one["scalars"]:
        text += f" · {one['scalars']} S"
    if one["scratch"]:
        text += f" · {one['scratch']:,} scratch"
    return text + f" · {shown(one['code'])}"


def details(targets, vendor):
    chosen = {name: target for name, target in targets.items() if name.startswith(vendor + "-") and is_chosen(name)}
    if not chosen:
        return []
    title, words = VENDORS[vendor]
    cells = "registers · waves · spilled · scratch · code" if any(column(t, "waves") for t in chosen.values()) \
        else "registers · spilled · scratch · code"
    lines = [f"## {title}", "", words, "", f"A cell is {cells}; what is 0 is left out. Compiled by "
             + ", ".join(sorted({t["driver"] for t in chosen.values() if t["driver"]})) + ".", ""]
    names = list(dict.fromkeys(name for target in chosen.values() for name in target["pipelines"]))
    shared = NAMES.index("shared")
    rows = []
    for name in names:
        made = [target["pipelines"].get(name) for target in chosen.values()]
        sizes = [one[shared] for one in made if one is not None and one[shared] is not None]
        span = "–" if not sizes else shown(min(sizes)) if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        rows.append([f"`{name}`", span] + [cell(one) for one in made])
    head = ["pipeline", "shared, bytes"] + [name[len(vendor) + 1:] for name in chosen]
    return lines + table(head, rows)


def by_width(targets):
    """Returns a table of what Intel's compiler spills at each subgroup size that a program can ask for."""
    asked = {name: target for name, target in targets.items() if name.startswith("intel-") and not is_chosen(name)}
    if not asked:
        return []
    spills = NAMES.index("spills")
    names = list(dict.fromkeys(name for target in asked.values() for name in target["pipelines"]))
    rows = [[f"`{name}`"] + [shown(target["pipelines"][name][spills]) if name in target["pipelines"] else "–"
                             for target in asked.values()] for name in names]
    return ["### Spilled at 8, 16 and 32 lanes", ""] + table(["pipeline"] + [name[6:] for name in asked], rows)


def changed_pipelines(targets, before):
    rows = []
    for name, target in targets.items():
        for pipeline, now in target["pipelines"].items():
            then = before.get(name, {}).get("pipelines", {}).get(pipeline)
            if then is None or then == now or then[0] != now[0]:
                continue  # the number of lanes has changed, so the figures cannot be compared
            said = [f"{what} {shown(a)} to {shown(b)}" for what, a, b in zip(NAMES, then, now) if a != b and what != "code"]
            if said:
                rows.append([name, f"`{pipeline}`", "; ".join(said)])
    return rows


def failures(targets):
    said = [f"{name}: could not be made: {', '.join(target['failed'])}" for name, target in targets.items() if target["failed"]]
    scratch = NAMES.index("scratch")
    for name, target in targets.items():
        if name.startswith("amd-"):
            said += [f"{name}: {pipeline} takes {one[scratch]} bytes of scratch memory"
                     for pipeline, one in target["pipelines"].items() if one[scratch]]
    return said


def main():
    folder, kept, page = map(pathlib.Path, sys.argv[1:4])
    targets = read_results(folder)
    if not targets:
        sys.exit(f"{folder}: no results")
    before = json.loads(kept.read_text()) if kept.exists() else {}
    lines = [
        "# What other vendors' compilers make of the kernels", "",
        "`./tools/dev compilers` makes this page ([portability.md](portability.md#compilers-of-other-vendors) says how); edit "
        f"nothing here. As of {datetime.date.today().isoformat()}. No GPU of these has run anything: compilers alone are "
        "judged.", "",
        "## Targets", "",
        "All pipelines of a context, one thread, without any cache. Registers, waves and scratch memory are the worst "
        "pipeline's, what is spilled and code are summed up (in units of the vendor's, below), seconds are of a processor. "
        "Changes are those since the page was made before.", "",
    ] + summary({name: target for name, target in targets.items() if is_chosen(name)}, before)
    lines += ["Other tiers and widths, asked for:", ""] + summary(
        {name: target for name, target in targets.items() if not is_chosen(name)}, before)
    rows = changed_pipelines(targets, before)
    if rows:
        lines += ["## What has changed in pipelines", ""] + table(["target", "pipeline", "change"], rows)
    for vendor in VENDORS:
        lines += details(targets, vendor)
        if vendor == "intel":
            lines += by_width(targets)
    page.write_text("\n".join(lines).rstrip() + "\n")
    said = failures(targets)
    if not said:
        kept.write_text("{\n" + ",\n".join(
            json.dumps(name) + ": {" + ", ".join(f"{json.dumps(key)}: {json.dumps(target[key])}" for key in ("driver", "tier", "seconds"))
            + ',\n"pipelines": {' + ",\n".join(f"{json.dumps(one)}: {json.dumps(figures, separators=(',', ':'))}"
                                              for one, figures in target["pipelines"].items()) + "}}"
            for name, target in targets.items()) + "\n}\n")
    print("\n".join(said))
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
