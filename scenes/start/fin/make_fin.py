#!/usr/bin/env python3
"""Writes fin_0001.obj ... fin_0008.obj: one beat of a tail fin, for ../swimming_fin.toml.

A tapered body along x, 0.4 m long; a wave runs along it from head to tail and swings it in z. All files have the
same vertices and triangles. Run it in this folder.
"""
import math

FILES, RINGS, SIDES, LENGTH = 8, 12, 10, 0.4


def section(s):
    """Half height and half thickness at the share s of the length."""
    body = math.sin(math.pi * min(s / 0.75, 1.0)) ** 0.6 if s < 0.75 else 0.0
    tail = max(0.0, (s - 0.65) / 0.35)
    return 0.02 + 0.05 * body + 0.06 * tail, 0.02 + 0.025 * body * (1 - 0.5 * s)


def vertices(phase):
    points = []
    for ring in range(RINGS + 1):
        s = ring / RINGS
        height, thickness = section(s)
        swing = 0.07 * s * s * math.sin(2 * math.pi * s - phase)
        for side in range(SIDES):
            angle = 2 * math.pi * side / SIDES
            points.append((LENGTH * (s - 0.5), height * math.cos(angle), swing + thickness * math.sin(angle)))
    for s, ring in ((0, 0), (1, RINGS)):
        swing = sum(p[2] for p in points[ring * SIDES:(ring + 1) * SIDES]) / SIDES
        points.append((LENGTH * (s - 0.5), 0.0, swing))
    return points


def triangles():
    faces = []
    for ring in range(RINGS):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            c, d = a + SIDES, b + SIDES
            faces += [(a, c, b), (b, c, d)]
    head, tail = (RINGS + 1) * SIDES, (RINGS + 1) * SIDES + 1
    for side in range(SIDES):
        a, b = side, (side + 1) % SIDES
        faces += [(head, a, b), (tail, RINGS * SIDES + b, RINGS * SIDES + a)]
    return faces


for number in range(FILES):
    with open(f"fin_{number + 1:04}.obj", "w", encoding="ascii") as file:
        file.write("# made by make_fin.py\n")
        for x, y, z in vertices(2 * math.pi * number / FILES):
            file.write(f"v {x:.5f} {y:.5f} {z:.5f}\n")
        for a, b, c in triangles():
            file.write(f"f {a + 1} {b + 1} {c + 1}\n")
