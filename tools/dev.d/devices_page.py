# SPDX-License-Identifier: MIT OR Apache-2.0
"""devices_page.py FOLDER: prints docs/devices.md, made from all reports in a folder (*.json except schema.json) in the
order of their names. `sluice report` wrote them on machines here and elsewhere."""
import json
import pathlib
import sys


def cell(text):
    """Escapes a text for a cell. Strangers wrote the texts, so none may act as Markdown or HTML."""
    def safe(c):
        if c in "<&":
            return {"<": "&lt;", "&": "&amp;"}[c]
        return " " if ord(c) < 32 else "\\" + c if c in "|\\`*_[]~#!" else c
    return "".join(map(safe, text))


def row(cells):
    return "|" + "".join(f" {one} |" for one in cells) + "\n"


def table(names, rows):
    return row(names) + "|" + "---|" * len(names) + "\n" + "".join(map(row, rows))


def rate(gigabytes):
    return f"{gigabytes:.{0 if gigabytes >= 100 else 1 if gigabytes >= 10 else 2 if gigabytes >= 1 else 3}f}"


def tier_result(device, tier):
    """Returns "passed", "FAILED: scan, gstd", "not run" or, for a tier that the device lacks, "–"."""
    if tier not in device["tiers"]:
        return "–"
    for test in device.get("selftest", []):
        if test["tier"] == tier:
            failed = [cell(kernel) for kernel, passed in test["kernels"].items() if not passed]
            return "passed" if test["passed"] else "**FAILED**" + (": " + ", ".join(failed) if failed else "")
    return "not run"


def tier_results(device, tiers):
    """Returns the results of several tiers: one word if all are the same, otherwise a result for each tier."""
    results = [tier_result(device, tier) for tier in tiers]
    if len(set(results)) == 1:
        return results[0]
    return "; ".join(f"{tier} {result}" for tier, result in zip(tiers, results) if result != "–")


def test_row(device):
    driver = cell(device["driver"])
    return [cell(device["name"]), driver + ", " + cell(device["api"]) if driver else "–",
            *(tier_result(device, tier) for tier in ("ext", "base", "emu32")),
            tier_results(device, ["emu4", "emu8", "emu16", "emu64", "emu128"]), tier_result(device, "native"),
            tier_results(device, ["fast", "ref"])]


def feature_rows(device):
    return [["tier " + cell(one["tier"]), cell(one["why"]) + "; " + cell(one["costs"])] for one in device["missing"]] + [
        [cell(one["feature"]), cell(one["costs"])] for one in device.get("absent", [])]


def pipeline_rows(device):
    if "pipelines" not in device:
        return []
    times = [device["pipelines"].get(which) for which in ("decode", "all")]
    every = times[1]
    known = every or times[0]
    slowest = known["slowest"]
    return [[cell(known["tier"]), f"{known['threads']:d}",
             *(f"{one['milliseconds']:.0f} ms ({one['count']:d})" if one else "not run" for one in times),
             f"{every['sum']:.0f} ms" if every else "–", f"{cell(slowest['name'])}, {slowest['milliseconds']:.0f} ms"]]


def speed(device, kernel):
    """Returns the rate and the size of our row of this kernel with the most bytes. If several have as many bytes, the
    fastest counts."""
    rows = [one for one in device["bench"]["rows"]
            if one["kernel"] == kernel and not one["peer"] and one.get("gb_per_s", 0) > 0]
    if not rows:
        return "not run"
    best = max(rows, key=lambda one: (one["bytes"], one["gb_per_s"]))
    return f"{rate(best['gb_per_s'])} ({cell(best['size'])})"


def speed_rows(device):
    kernels = ("copy", "scan", "gdeflate", "checksum", "gstd filters")
    return [[cell(device["bench"]["tier"]), *(speed(device, kernel) for kernel in kernels)]] if "bench" in device else []


def failure_list(reports):
    lines = [f"- {cell(name)}: {cell(one['command'])}: {what}{cell(one[member])}\n" for name, report in reports
             for kind, what, member in (("failures", "**failed**: ", "error"), ("leftOut", "left out: ", "why"))
             for one in report[kind]]
    return "".join(lines) or "Nothing failed, and nothing was left out.\n"


def read_report(path):
    try:
        report = json.loads(path.read_bytes().decode())
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict) or report.get("schemaVersion") != 1:
        sys.exit(f"{path}: is no report of schemaVersion 1")
    return path.stem, report


def page(reports):
    def per_device(rows_of):
        return [[f"{cell(name)}, {cell(device['device'])}", *cells] for name, report in reports
                for device in report["devices"] for cells in rows_of(device)]

    machines = [[f"[{cell(name)}](reports/{name}.json)",
                 *(cell(one[member]) for member in ("sluice", "os", "processor")), f"{one['cores']:d}", cell(one["cuda"])]
                for name, one in reports]
    return f"""# Devices

What [`sluice report`](tool.md#report) wrote on the devices below. `./tools/dev devices-page docs/reports` makes
this page; edit nothing here. A report of another device is welcome: add it to [reports](reports), and make the
page again. What was tested beyond that is in [portability.md](portability.md#devices).

## Machines

{table(["report", "sluice", "system", "processor", "cores", "CUDA"], machines)}
## Self-tests by tier

A tier that the device lacks has a –; one that no test ran is "not run", never "passed".

{table(["report, device", "name", "driver", "ext", "base", "emu32", "other emulated", "native", "fast, ref"],
       per_device(lambda device: [test_row(device)]))}
## What devices lack

Tiers and features that sluice could use.

{table(["report, device", "lacks", "so"], per_device(feature_rows))}
## Pipelines

How long it took until the device was open with them, as the driver's own cache was, and how many there are.

{table(["report, device", "tier", "threads", "decoding", "all", "sum of all", "slowest"], per_device(pipeline_rows))}
## Speed

GB/s, and of how much: the largest row of a short benchmark, on machines that may have done other things
meanwhile. [performance.md](performance.md) has figures that were taken with care.

{table(["report, device", "tier", "copy", "scan", "GDeflate", "checksums", "Gstd with filters"], per_device(speed_rows))}
## What failed or was left out

{failure_list(reports)}"""


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: devices_page.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    reports = [read_report(path) for path in sorted(folder.glob("*.json")) if path.name != "schema.json"]
    try:
        text = page(reports)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        sys.exit(f"{folder}: a report does not keep to the schema: {error!r}")
    sys.stdout.buffer.write(text.encode())


main()
