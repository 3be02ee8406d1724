// The methods, one line each. Adding one costs two files, a line here, a scene and a page of docs.
#include "coupling/cut_cell.h"
#include "coupling/marker_springs.h"
#include "coupling/scheme.h"

namespace flotsam {

namespace {
template <class S>
std::unique_ptr<Scheme> make() {
    return std::make_unique<S>();
}
std::unique_ptr<Scheme> cut_cell(ElasticCoupling coupling) { return std::make_unique<CutCell>(coupling); }
}  // namespace

const std::vector<SchemeEntry>& schemes() {
    static const std::vector<SchemeEntry> entries{
        {"cut-cell", "liquid on a MAC grid, carried by particles, solved at the true surface (Zarifi 2017)",
         make<CutCell>},
        {"cut-cell-weak",
         "as cut-cell, but liquid and elastic solids are solved in turns: for comparison (Zarifi 2017, 6.3)",
         [] { return cut_cell(ElasticCoupling::weak); }},
        {"cut-cell-damping",
         "as cut-cell, but elastic forces act before the pressure: for comparison (Zarifi 2017, 6.3)",
         [] { return cut_cell(ElasticCoupling::damping); }},
        {"marker-springs", "liquid marked by particles, repelled by solids made of springs (Génevaux 2003)",
         make<MarkerSprings>},
    };
    return entries;
}

std::unique_ptr<Scheme> make_scheme(std::string_view name) {
    for (const SchemeEntry& entry : schemes())
        if (entry.name == name) return entry.make();
    throw UserError("unknown method '" + std::string(name) + "': see `flotsam list methods`");
}

}  // namespace flotsam
