// Lets a ClaimJudge watch a run of the driver.
#pragma once

#include "scene/claims.h"
#include "sim/driver.h"

namespace flotsam {

class ClaimObserver final : public Observer {
  public:
    ClaimObserver(ClaimJudge& judge, const Scenario& scenario) : judge_(judge), scenario_(scenario) {}
    void on_start(const World& world, int /*frame*/) override {
        judge_.sample(world.time, world, scenario_, StepReport{});
    }
    void on_step(const World& world, const StepReport& report, double /*dt*/) override {
        judge_.sample(world.time, world, scenario_, report);
    }

  private:
    ClaimJudge& judge_;
    const Scenario& scenario_;
};

}  // namespace flotsam
