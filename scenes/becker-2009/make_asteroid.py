# Writes asteroid.obj: a ball with lumps, about 1.2 m across.
import math

rings, segments = 24, 36


def radius(x, y, z):
    lumps = 0.12 * math.sin(3 * x + 1) * math.cos(4 * y) + 0.08 * math.sin(7 * z + 2 * x) + 0.05 * math.cos(9 * y - 5 * z)
    return 0.6 * (1 + lumps)


points = [(0.0, 1.0, 0.0)]
for i in range(1, rings):
    for j in range(segments):
        a, b = math.pi * i / rings, 2 * math.pi * j / segments
        points.append((math.sin(a) * math.cos(b), math.cos(a), math.sin(a) * math.sin(b)))
points.append((0.0, -1.0, 0.0))


def at(i, j):
    return 2 + (i - 1) * segments + j % segments


faces = [(1, at(1, j + 1), at(1, j)) for j in range(segments)]
for i in range(1, rings - 1):
    for j in range(segments):
        faces += [(at(i, j), at(i, j + 1), at(i + 1, j)), (at(i, j + 1), at(i + 1, j + 1), at(i + 1, j))]
faces += [(len(points), at(rings - 1, j), at(rings - 1, j + 1)) for j in range(segments)]
with open("asteroid.obj", "w") as out:
    for x, y, z in points:
        r = radius(x, y, z)
        out.write(f"v {r * x:.5f} {r * y:.5f} {r * z:.5f}\n")
    for f in faces:
        out.write("f %d %d %d\n" % f)
