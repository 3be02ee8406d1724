// Benchmarks: how long things take, as ratios against a yardstick measured in the same run. Never asserted in
// tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

struct BenchRow {
    std::string quantity;
    double value;
    std::string unit;
    double reference = 0;  // 0: there is none
    std::string reference_name{};
};

struct Bench {
    std::string_view name, summary;
    void (*run)(bool quick, const std::function<void(const BenchRow&)>& report);
};
const std::vector<Bench>& benches();

void bench_genevaux(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_rigid(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_elastic(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_sph(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_elastic_solve(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_zarifi(bool quick, const std::function<void(const BenchRow&)>& report);
void bench_render(bool quick, const std::function<void(const BenchRow&)>& report);

}  // namespace flotsam
