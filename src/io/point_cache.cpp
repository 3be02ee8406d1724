#include "io/point_cache.h"

#include <cstring>
#include <string>

#include "io/atomic_file.h"
#include "io/frames.h"
#include "io/ply.h"

namespace flotsam {

void PointCache::on_finish(World&, int frame, bool) {
    AtomicFile out(file_);
    std::int32_t points = -1;
    for (int f = 0; f <= frame; ++f) {
        const std::vector<Vec3f> vertices = read_ply(frames_ / solids_file.name(f)).mesh.vertices;
        if (points < 0) {
            // The header: its name, version 1, the numbers of points and frames.
            points = std::int32_t(vertices.size());
            const std::int32_t version = 1, count = frame + 1;
            const float start = 0, step = 1;  // in frames
            out.write("POINTCACHE2", 12);     // with its zero
            out.write(&version, 4);
            out.write(&points, 4);
            out.write(&start, 4);
            out.write(&step, 4);
            out.write(&count, 4);
        }
        FLOTSAM_CHECK(std::int32_t(vertices.size()) == points, vertices.size(), points);
        out.write(vertices.data(), vertices.size() * sizeof(Vec3f));
    }
    out.commit();
}

}  // namespace flotsam
