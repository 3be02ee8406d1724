#!/usr/bin/env python3
# Writes shell.vtk, the tetrahedra of a hollow sphere of radius 1 m with a wall of 0.2 m, and shell.obj, its two surfaces.
# Each face of an icosahedron is divided into 7 x 7 triangles; every triangle and the one below it make a prism of three
# tetrahedra: 984 nodes and 2940 tetrahedra.
#   python3 make_sphere.py
from math import sqrt

parts = 7
inner = 0.8

golden = (1 + sqrt(5)) / 2
corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
corners = [(c[i % 3], c[(i + 1) % 3], c[(i + 2) % 3]) for i in range(3) for c in corners]


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def six_volumes(a, b, c, d):
    return dot(cross(minus(b, a), minus(c, a)), minus(d, a))


def near(i, j):
    return abs(dot(minus(corners[i], corners[j]), minus(corners[i], corners[j])) - 4) < 1e-9


faces = [(i, j, k) for i in range(12) for j in range(i) for k in range(j) if near(i, j) and near(j, k) and near(i, k)]
assert len(faces) == 20

points, numbers = [], {}


def node(face, a, b):
    c = parts - a - b
    p = tuple((a * corners[face[0]][x] + b * corners[face[1]][x] + c * corners[face[2]][x]) / parts for x in range(3))
    p = tuple(x / sqrt(dot(p, p)) for x in p)
    key = tuple(round(x, 9) + 0.0 for x in p)
    if key not in numbers:
        numbers[key] = len(points)
        points.append(p)
    return numbers[key]


triangles = []
for face in faces:
    for a in range(parts):
        for b in range(parts - a):
            triangles.append((node(face, a, b), node(face, a + 1, b), node(face, a, b + 1)))
            if a + b < parts - 1:
                triangles.append((node(face, a + 1, b), node(face, a + 1, b + 1), node(face, a, b + 1)))

count = len(points)
assert count == 10 * parts**2 + 2 and len(triangles) == 20 * parts**2
triangles = [t if dot(cross(minus(points[t[1]], points[t[0]]), minus(points[t[2]], points[t[0]])), points[t[0]]) > 0
             else (t[0], t[2], t[1]) for t in triangles]
points += [tuple(inner * x for x in p) for p in points]

tets = []
for triangle in triangles:
    # Sorted by number, so that two neighbours divide the side they share alike.
    low, middle, high = sorted(triangle)
    for t in ((low, middle, high, high + count), (low, middle, middle + count, high + count),
              (low, low + count, middle + count, high + count)):
        tets.append(t if six_volumes(*(points[n] for n in t)) > 0 else (t[0], t[1], t[3], t[2]))

with open("shell.vtk", "w") as out:
    out.write("# vtk DataFile Version 3.0\nhollow sphere\nASCII\nDATASET UNSTRUCTURED_GRID\n")
    out.write(f"POINTS {len(points)} double\n")
    for p in points:
        out.write("%.6f %.6f %.6f\n" % p)
    out.write(f"CELLS {len(tets)} {5 * len(tets)}\n")
    for t in tets:
        out.write("4 %d %d %d %d\n" % t)
    out.write(f"CELL_TYPES {len(tets)}\n" + "10\n" * len(tets))

with open("shell.obj", "w") as out:
    for p in points:
        out.write("v %.6f %.6f %.6f\n" % p)
    for t in triangles:
        out.write("f %d %d %d\n" % tuple(n + 1 for n in t))
    for t in triangles:
        out.write("f %d %d %d\n" % tuple(t[n] + count + 1 for n in (0, 2, 1)))
print(len(points), "nodes,", len(tets), "tetrahedra")
