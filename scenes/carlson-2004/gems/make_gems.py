#!/usr/bin/env python3
"""Writes the two gems of gems.toml: a table, a girdle and a point, each side of another length."""
import math


def gem(name, table, girdle, heights, point):
    """`table` and `girdle`: radii of the corners; heights of table and girdle; the point below [m]."""
    n = len(girdle)
    ring = lambda radii, y, turn: [
        (r * math.cos(2 * math.pi * (i + turn) / n), y, r * math.sin(2 * math.pi * (i + turn) / n)) for i, r in enumerate(radii)
    ]
    corners = ring(table, heights[0], 0.5) + ring(girdle, heights[1], 0) + [point]
    faces = [tuple(range(n, 0, -1))]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i + 1, n + j + 1, n + i + 1), (i + 1, j + 1, n + j + 1), (n + i + 1, n + j + 1, 2 * n + 1)]
    with open(name, "w") as file:
        file.write("# by make_gems.py\n")
        for x, y, z in corners:
            file.write(f"v {x:.5f} {y:.5f} {z:.5f}\n")
        for face in faces:
            file.write("f " + " ".join(map(str, face)) + "\n")


gem("ruby.obj", [0.055, 0.05, 0.06, 0.05, 0.055, 0.05], [0.105, 0.085, 0.10, 0.09, 0.11, 0.08], (0.05, 0.015), (0.015, -0.095, -0.01))
gem("emerald.obj", [0.04, 0.06, 0.045, 0.05, 0.06], [0.08, 0.115, 0.09, 0.085, 0.11], (0.075, 0.01), (-0.02, -0.075, 0.01))
