// A coupling scheme owns its time step: step() reads like its paper, from top to bottom.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/stopwatch.h"
#include "world/world.h"

namespace flotsam {

// What a scheme can simulate; the loader refuses a scene that asks for more.
struct Capabilities {
    bool liquid = false;
    // Of the liquid's velocity; the first is the default.
    std::vector<Carrier> carriers{Carrier::apic, Carrier::flip, Carrier::markers};
    std::vector<Motion> motions{};  // of solids
    std::vector<Motion> wetted{};   // of solids whose wetted area it measures
    bool open_walls = false;
    bool mirrors = false;  // sides of the domain that are planes of symmetry
    bool viscosity = false;
    bool separation = false;         // liquid may separate from solids
    bool faces_by_distance = false;  // cut faces can be found from distances
    bool spheres = false;            // the surface can be a union of spheres around the particles
    bool sources = true;             // emitters and sinks
    bool animated_meshes = true;     // scripted solids whose surface deforms
    bool one_way = false;            // rigid solids that move liquid and do not feel it
    bool compressible = false;       // pressure travels as sound, in steps so short that sound is resolved
    bool strong = false;             // fluid and solids are solved together
    bool comparison = false;         // a weaker variant of another method: not judged by itself
    bool elastic_variant = false;    // the same as another method where there are no elastic solids
};

class Scheme {
  public:
    virtual ~Scheme() = default;
    virtual Capabilities capabilities() const = 0;
    // The largest time step that this scheme trusts for `world` [s].
    virtual double stable_dt(const World& world, const Scenario& scenario) const = 0;
    // Reads state n from `now`, writes state n+1 to `next`; a rejected step leaves `now` untouched.
    virtual StepReport step(const World& now, World& next, const StepContext& ctx) = 0;
    // Fills the parts of a world with bodies (world_at_start) that the scheme keeps: particles, surface.
    virtual void start(World& world, const Scenario& scenario) = 0;
    // State that the scheme itself carries from step to step, beside the World's.
    virtual void visit_state(StateVisitor&) {}
};

// Records the time of each stage in a step's report: called at the end of each.
class StageClock {
  public:
    explicit StageClock(StepReport& report) : report_(report) {}
    void operator()(const char* stage) { report_.stages.push_back({stage, watch_.lap()}); }

  private:
    StepReport& report_;
    Stopwatch watch_;
};

struct SchemeEntry {
    std::string_view name;
    std::string_view summary;  // one line for `flotsam list`
    std::unique_ptr<Scheme> (*make)();
};

const std::vector<SchemeEntry>& schemes();                   // registry.cpp: one line per method
std::unique_ptr<Scheme> make_scheme(std::string_view name);  // throws UserError for an unknown name

}  // namespace flotsam
