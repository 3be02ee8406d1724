#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plot/axis.h"
#include "plot/run_charts.h"

namespace flotsam {

namespace {

constexpr std::string_view milliseconds = "ms.";

// Builds charts over the audit's time; what a table of an older version lacks is left out.
class AuditPlotter {
  public:
    explicit AuditPlotter(const NumberTable& audit) : audit_(audit), time_(*audit.find("time")) {}

    void add_volume() {
        Chart chart = start("Volume of the liquid", "volume", "m^3");
        add(chart, "inside the surface", "liquid.volume");
        add(chart, "of all particles", "liquid.particle_volume");
        if (const std::vector<double>* volume = audit_.find("liquid.volume"); volume && !volume->empty())
            chart.note =
                fmt::format("inside the surface: {} m³ after the first step, {} m³ ({}) after the last",
                            number_text(volume->front()), number_text(volume->back()),
                            change_text(volume->back() / volume->front() - 1));
        finish("volume", chart);

        chart = start("Volume of the spray", "volume", "m^3", Chart::Kind::from_zero);
        chart.note = "particles more than half a cell outside the surface";
        add(chart, "", "liquid.droplet_volume");
        finish("spray", chart);
    }

    void add_momentum() {
        Chart chart = start("Momentum of the liquid", "momentum", "kg m/s");
        for (const char axis : {'x', 'y', 'z'})
            add(chart, std::string(1, axis), fmt::format("liquid.momentum.{}", axis));
        chart.note = "sum over all particles, along each axis";
        finish("momentum", chart);

        chart = start("Momentum that no force explains", "momentum per step", "kg m/s");
        double largest = 0;
        for (const char axis : {'x', 'y', 'z'})
            if (const auto* column =
                    add(chart, std::string(1, axis), fmt::format("liquid.unaccounted.{}", axis)))
                for (const double value : *column)
                    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        chart.note =
            fmt::format("gained per step beside gravity, walls, solids and sources; at most {} kg m/s",
                        number_text(largest));
        finish("unaccounted", chart);
    }

    void add_energy() {
        const auto* kinetic = audit_.find("liquid.kinetic_energy");
        const auto* potential = audit_.find("liquid.potential_energy");
        if (!kinetic || !potential) return;
        Chart chart = start("Energy of the liquid", "energy", "J");
        std::vector<double> total = *kinetic;
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += (*potential)[i];
        chart.curves.push_back(curve("total", total));
        add(chart, "potential", "liquid.potential_energy");
        add(chart, "kinetic", "liquid.kinetic_energy");
        chart.note = "potential energy counts from the height y = 0";
        finish("energy", chart);
    }

    void add_extent() {
        Chart chart = start("How far the liquid reaches", "position", "m", Chart::Kind::from_zero);
        add(chart, "largest x", "liquid.front.x");
        add(chart, "largest y", "liquid.top");
        chart.note = "of any point of its surface, spray aside";
        finish("extent", chart);

        chart = start("Speed of the fastest particle", "speed", "m/s", Chart::Kind::from_zero);
        add(chart, "", "liquid.top_speed");
        chart.note = "time steps follow it";
        finish("speed", chart);
    }

    void add_solver() {
        Chart chart = start("Iterations of the pressure solver", "iterations", "1", Chart::Kind::from_zero);
        if (const auto* iterations = add(chart, "", "solver.iterations"); iterations && !iterations->empty())
            chart.note = fmt::format("mean {}, most {}", number_text(mean(*iterations)),
                                     number_text(*std::max_element(iterations->begin(), iterations->end())));
        finish("iterations", chart);

        chart = start("What the pressure solver leaves", "residual", "1", Chart::Kind::logarithmic);
        chart.note = "of the linear system, relative to its right-hand side";
        add(chart, "", "solver.residual");
        finish("residual", chart);

        chart = start("Divergence left in the liquid", "divergence", "1/s", Chart::Kind::logarithmic);
        chart.note = "the largest of any cell, after the pressure solve";
        add(chart, "", "liquid.divergence");
        finish("divergence", chart);
    }

    void add_times() {
        Chart chart = start("Length of a time step", "time step", "s", Chart::Kind::from_zero);
        add(chart, "", "dt");
        if (!time_.empty()) chart.note = fmt::format("{} steps", time_.size());
        finish("time_step", chart);

        struct Stage {
            std::string name;
            std::vector<double> times;
            double sum;
        };
        std::vector<Stage> stages;
        double whole = 0;
        for (std::size_t n = 0; n < audit_.names.size(); ++n) {
            if (!audit_.names[n].starts_with(milliseconds)) continue;
            const std::vector<double>& times = audit_.columns[n];
            double sum = 0;
            for (const double time : times)
                if (std::isfinite(time)) sum += time;
            whole += sum;
            if (sum > 0) stages.push_back({audit_.names[n].substr(milliseconds.size()), times, sum});
        }
        std::stable_sort(stages.begin(), stages.end(),
                         [](const Stage& a, const Stage& b) { return a.sum > b.sum; });
        // There are as many colours as that; the smallest stages share the last.
        for (; stages.size() > most_curves; stages.pop_back()) {
            Stage& rest = stages[stages.size() - 2];
            rest.name = "the rest";
            rest.sum += stages.back().sum;
            for (std::size_t i = 0; i < rest.times.size(); ++i) rest.times[i] += stages.back().times[i];
        }
        chart = start("Where the time goes", "time per step", "ms", Chart::Kind::stacked);
        for (const Stage& stage : stages)
            chart.curves.push_back(
                curve(fmt::format("{} {:.0f} %", stage.name, 100 * stage.sum / whole), stage.times));
        if (!stages.empty())
            chart.note = fmt::format("mean {} ms per step, {} s in all; the line is the whole step",
                                     number_text(whole / double(time_.size())), number_text(whole / 1000));
        finish("stages", chart);
    }

    std::vector<NamedChart> charts;

  private:
    static Chart start(std::string title, std::string quantity, std::string unit,
                       Chart::Kind kind = Chart::Kind::linear) {
        Chart chart;
        chart.title = std::move(title);
        chart.y_quantity = std::move(quantity);
        chart.y_unit = std::move(unit);
        chart.kind = kind;
        return chart;
    }
    static double mean(const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    }
    Curve curve(std::string name, const std::vector<double>& values) const {
        Curve result{std::move(name), {}};
        for (std::size_t i = 0; i < values.size(); ++i) result.points.push_back({time_[i], values[i]});
        return result;
    }
    const std::vector<double>* add(Chart& chart, std::string name, std::string_view column) const {
        const std::vector<double>* values = audit_.find(column);
        if (values) chart.curves.push_back(curve(std::move(name), *values));
        return values;
    }
    void finish(std::string name, Chart& chart) {
        if (!chart.curves.empty()) charts.push_back({std::move(name), std::move(chart)});
    }

    const NumberTable& audit_;
    const std::vector<double>& time_;
};

}  // namespace

std::vector<NamedChart> audit_charts(const NumberTable& audit) {
    AuditPlotter plotter(audit);
    plotter.add_volume();
    plotter.add_momentum();
    plotter.add_energy();
    plotter.add_extent();
    plotter.add_solver();
    plotter.add_times();
    return std::move(plotter.charts);
}

}  // namespace flotsam
