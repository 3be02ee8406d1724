#include "fluid/grid/skin.h"

#include <cmath>

#include "fluid/grid/particles.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

// All lengths in cells of the simulation.
constexpr double uncovered_from = 0.1;  // a particle this far outside may need a surface of its own
constexpr double resting_until = 0.5;   // nearer to deep liquid than this, it is the noise of a calm surface
constexpr double sheet_radius =
    0.34;                            // half a sheet's thickness: thinner ones would have holes at half a cell
constexpr double mean_radius = 1.0;  // over which particles' positions are averaged
constexpr double lonely_radius = 0.8;  // a particle with fewer neighbours than `sociable` in it is spray
constexpr int sociable = 5;

// Fine tiles over every tile of the simulation.
std::shared_ptr<const Tiling> refined_tiling(const Tiling& coarse, Int3 cells, int refinement) {
    std::vector<Int3> tiles;
    for (const Int3 t : coarse.tiles())
        for (int k = 0; k < refinement; ++k)
            for (int j = 0; j < refinement; ++j)
                for (int i = 0; i < refinement; ++i) {
                    const Int3 fine = t * refinement + Int3{i, j, k};
                    const Int3 first = fine * Tiling::side;
                    if (first.x < cells.x && first.y < cells.y && first.z < cells.z) tiles.push_back(fine);
                }
    return std::make_shared<Tiling>(cells, std::move(tiles));
}

// The quadratic B-spline through coarse samples at a point given in cells from the first sample.
double spline(const Field<double>& phi, Int3 last, Vec3 at) {
    std::array<std::array<double, 3>, 3> weight;
    Int3 middle;
    for (int a = 0; a < 3; ++a) {
        middle[a] = int(std::lround(at[a]));
        const double t = at[a] - middle[a];
        weight[a] = {0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)};
    }
    double sum = 0;
    for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) {
                // Walls mirror: the surface meets them as it does in the cells beside them.
                const Int3 c = max(Int3{0, 0, 0}, min(last, middle + Int3{i - 1, j - 1, k - 1}));
                sum += weight[0][i] * weight[1][j] * weight[2][k] * phi(c);
            }
    return sum;
}

// Calls body(j) for the particles of the cells around `c` and of `c` itself.
template <class Body>
void for_each_near(const CellRanges& cells, const Tiling& tiling, const Domain& domain, Int3 c,
                   const Body& body) {
    for (int k = std::max(0, c.z - 1); k <= std::min(domain.cells.z - 1, c.z + 1); ++k)
        for (int j = std::max(0, c.y - 1); j <= std::min(domain.cells.y - 1, c.y + 1); ++j)
            for (int i = std::max(0, c.x - 1); i <= std::min(domain.cells.x - 1, c.x + 1); ++i) {
                const std::int64_t n = tiling.find(i, j, k);
                if (n < 0) continue;
                for (std::int32_t p = cells.begin[n]; p < cells.begin[n + 1]; ++p) body(p);
            }
}

// Does the smooth surface show a particle at x?
bool is_covered(const Skin& skin, const Domain& domain, Vec3 x) {
    const Stencil s = cell_stencil(skin.domain, x);
    const std::array<double, 8> values = s.gather(skin.phi);
    const double distance = s.mix(values);
    if (distance < uncovered_from * domain.h) return true;
    if (distance > resting_until * domain.h) return false;
    // Below a particle that rests on a surface there is deep liquid; below one in a thin sheet there is air.
    const Vec3 slope = s.slope(values);
    if (length(slope) == 0) return false;
    const Vec3 below = x - slope / length(slope) * (distance + 0.5 * domain.h);
    return sample_cells(skin.phi, skin.domain, below) < -0.3 * domain.h;
}

// Whether the smooth surface covers a particle, or what shows it instead.
enum class Fate : char { covered, sheet, spray };

std::vector<Fate> fates_of(const std::vector<Vec3f>& position, const CellRanges& cells, const Tiling& tiling,
                           const Domain& domain, const Skin& skin) {
    std::vector<Fate> fates(position.size(), Fate::covered);
    parallel_for(std::int64_t(position.size()), 1024, [&](std::int64_t i) {
        const Vec3 x(position[i]);
        if (is_covered(skin, domain, x)) return;
        int neighbours = -1;  // the particle itself is counted
        const auto reach = float(mean_radius * domain.h);
        for_each_near(cells, tiling, domain, domain.cell_of(x), [&](std::int32_t p) {
            const Vec3f way = position[p] - position[i];
            neighbours += dot(way, way) < reach * reach;
        });
        fates[i] = neighbours < sociable ? Fate::spray : Fate::sheet;
    });
    return fates;
}

// The distance to a sheet through the particles around x.
double sheet_distance(Vec3 x, const std::vector<Vec3f>& position, const std::vector<Fate>& fates,
                      const CellRanges& cells, const Tiling& tiling, const Domain& domain) {
    const double reach = mean_radius * domain.h;
    Vec3 sum;
    double weight = 0;
    for_each_near(cells, tiling, domain, domain.cell_of(x), [&](std::int32_t p) {
        if (fates[p] == Fate::spray) return;
        const Vec3 way = Vec3(position[p]) - x;
        const double s = 1 - dot(way, way) / (reach * reach);
        if (s <= 0) return;
        sum += way * (s * s * s);
        weight += s * s * s;
    });
    return weight > 0 ? length(sum) / weight - sheet_radius * domain.h : reach;
}

void add_sheets(Skin& skin, const std::vector<Vec3f>& position, const std::vector<Fate>& fates,
                const CellRanges& cells, const Tiling& tiling, const Domain& domain) {
    // Only around particles of sheets: elsewhere the smooth surface is better.
    Field<char> near_sheet(skin.phi.shared_tiling(), 0);
    const double fine = skin.domain.h;
    const int reach = int(std::ceil(2 * sheet_radius * domain.h / fine));
    for (std::size_t i = 0; i < position.size(); ++i) {
        if (fates[i] != Fate::sheet) continue;
        const Int3 c = skin.domain.cell_of(Vec3(position[i]));
        for (int dk = -reach; dk <= reach; ++dk)
            for (int dj = -reach; dj <= reach; ++dj)
                for (int di = -reach; di <= reach; ++di) {
                    const Int3 at = c + Int3{di, dj, dk};
                    if (!skin.domain.has_cell(at)) continue;
                    if (const std::int64_t n = near_sheet.tiling().find(at); n >= 0) near_sheet[n] = 1;
                }
    }
    for_each_cell(skin.phi.tiling(), skin.domain.cells, [&](Int3 c, std::int64_t n) {
        if (!near_sheet[n]) return;
        const Vec3 x = skin.domain.cell_center(c);
        skin.phi[n] = std::min(skin.phi[n], sheet_distance(x, position, fates, cells, tiling, domain));
    });
}

}  // namespace

Skin make_skin(const Particles& particles, const Field<double>& phi, const Domain& domain, int refinement) {
    Skin skin;
    skin.domain = domain;
    skin.domain.cells = domain.cells * refinement;
    skin.domain.h = domain.h / refinement;
    skin.phi = Field<double>(refined_tiling(phi.tiling(), skin.domain.cells, refinement), phi.background());
    const Int3 last = domain.cells - Int3{1, 1, 1};
    for_each_cell(skin.phi.tiling(), skin.domain.cells, [&](Int3 c, std::int64_t n) {
        skin.phi[n] = spline(phi, last, skin.domain.cell_center(c) / domain.h - Vec3{0.5, 0.5, 0.5});
    });

    Particles sorted;
    sorted.position = particles.position;
    sorted.velocity = particles.velocity;
    const CellRanges cells = sort_into_cells(sorted, domain, phi.tiling());
    const std::vector<Fate> fates = fates_of(sorted.position, cells, phi.tiling(), domain, skin);
    add_sheets(skin, sorted.position, fates, cells, phi.tiling(), domain);
    for (std::size_t i = 0; i < fates.size(); ++i) {
        if (fates[i] != Fate::spray) continue;
        skin.spray.position.push_back(sorted.position[i]);
        if (!sorted.velocity.empty()) skin.spray.velocity.push_back(sorted.velocity[i]);
    }
    return skin;
}

}  // namespace flotsam
