#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Size against decode speed, as SVG: plot.py OUT.svg BENCH.json...

Takes what `sluice bench --json` wrote. A point is a decoder on one input: of its rows those with the most output count,
and of these the fastest, however many tiles were in flight. Sizes are of the tiles and the filters' descriptions."""
import json
import math
import os
import sys
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 920, 520, 70, 50, 300, 60
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"]


def decoder_of(row):
    """Returns the name of the decoder of a row, or None if the row does not measure a whole decode."""
    if row["kernel"] == "gdeflate":
        return row["who"] if row["peer"] else "GDeflate"
    return {"gstd": "Gstd", "gstd filters": "Gstd, filters"}.get(row["kernel"])


def points_of(path):
    """Returns the device of a file, and its points: (decoder, input, size, GB/s)."""
    with open(path, encoding="utf-8") as file:
        bench = json.load(file)
    rows = [row for row in bench["rows"] if row["present"] and "size_ratio" in row and decoder_of(row)]
    filtered = {row["input"] for row in rows if row["kernel"] == "gstd filters"}
    best = {}
    for row in rows:
        if row["kernel"] == "gstd" and row["input"] in filtered:
            continue  # this row leaves filters applied; the row "gstd filters" undoes them
        key = (f"{decoder_of(row)}, {bench['backend']}", os.path.basename(row["input"]))
        if key not in best or (row["bytes"], row["gb_per_s"]) > (best[key]["bytes"], best[key]["gb_per_s"]):
            best[key] = row
    return bench["device"], [(*key, row["size_ratio"], row["gb_per_s"]) for key, row in best.items()]


def steps(low, high):
    """Returns at least about five round numbers from low to high, for the marks of an axis."""
    unit = 10.0 ** math.floor(math.log10(high - low))
    size = next(unit / part for part in (1, 2, 5, 10) if (high - low) / (unit / part) >= 5)
    return [k * size for k in range(math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9) + 1)]


def text(x, y, content, anchor="start", colour="#222", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {extra}>{escape(content)}</text>'


def draw(title, points):
    margin = max(0.01, 0.1 * (max(p[2] for p in points) - min(p[2] for p in points)))
    x0, x1 = min(p[2] for p in points) - margin, max(p[2] for p in points) + margin
    y1 = 1.1 * max(p[3] for p in points)

    def px(value):
        return LEFT + (value - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)

    def py(value):
        return HEIGHT - BOTTOM - value / y1 * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           f'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(LEFT, 24, title, extra='font-size="15"')]
    for value in steps(x0, x1):
        out += [f'<path d="M{px(value):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>',
                text(px(value), HEIGHT - BOTTOM + 18, f"{value:.4g}", "middle")]
    for value in steps(0, y1):
        out += [f'<path d="M{LEFT} {py(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>',
                text(LEFT - 8, py(value) + 4, f"{value:.4g}", "end")]
    out += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "compressed bytes / bytes", "middle"),
            text(18, (TOP + HEIGHT - BOTTOM) / 2, "GB/s of output", "middle",
                 extra=f'transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2})"')]
    decoders = sorted({p[0] for p in points})
    for i, decoder in enumerate(decoders):
        colour = COLOURS[i % len(COLOURS)]
        mine = sorted((p for p in points if p[0] == decoder), key=lambda p: p[2])
        line = "L".join(f"{px(p[2]):.1f} {py(p[3]):.1f}" for p in mine)
        out += [f'<path d="M{line}" fill="none" stroke="{colour}" stroke-opacity="0.4"/>']
        for _, name, size, speed in mine:
            out += [f'<circle cx="{px(size):.1f}" cy="{py(speed):.1f}" r="4" fill="{colour}"/>',
                    text(px(size) + 6, py(speed) - 6, os.path.splitext(name)[0], colour=colour, extra='font-size="9"')]
        out += [f'<circle cx="{WIDTH - RIGHT + 16}" cy="{TOP + 18 * i}" r="4" fill="{colour}"/>',
                text(WIDTH - RIGHT + 26, TOP + 4 + 18 * i, decoder)]
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    points, devices = [], []
    for path in sys.argv[2:]:
        device, found = points_of(path)
        points += found
        if device not in devices:
            devices.append(device)
    if not points:
        sys.exit("no rows of decoders in these files")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw("Size against decode speed: " + ", ".join(devices), points))


if __name__ == "__main__":
    main()
