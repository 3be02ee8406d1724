// One function per command of the program. main.cpp alone knows the command-line library; each command gets
// its options as plain data and returns the exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace flotsam {

// Which scene, and how it is changed on the command line. Shared by run and check.
struct SceneOptions {
    std::filesystem::path scene;
    std::vector<std::string> set;  // "domain.resolution=50"
    double scale = 1;              // multiplies the resolution
    std::string method;            // instead of the scene's
    int threads = 0;               // 0: all cores
};

struct RunOptions {
    SceneOptions scene;
    std::filesystem::path out;  // run folder; default runs/<scene name>
    bool resume = false;        // go on from the newest good checkpoint
    bool overwrite = false;     // replace an existing run folder
    bool quiet = false;
    bool render = false;  // draw each frame as soon as it is there
    int frames = 0;       // end after so many; 0: with the scene
    double until = 0;     // or with the frame at this time [s]; 0: with the scene
    std::string again;    // what to type to go on with it, where that is not `run --resume`
};
int run_command(const RunOptions& options);

struct PictureOptions {
    std::string size = "960x540", quality = "draft";
    bool particles = false;
    std::string slice, plane;  // "speed", "z=0.3"
    double limit = 0;          // of a slice's colours; 0: chosen
    std::string cut;           // "z=0.3"
};
struct RenderOptions {
    std::filesystem::path run;
    PictureOptions picture;
    std::int64_t frame = -1;       // -1: all
    std::vector<std::string> set;  // "view.light=[1,1,1]"
    bool quiet = false;
    int threads = 0;
};
int render_command(const RenderOptions& options);

struct CompareOptions {
    SceneOptions scene;
    std::string methods;        // "a,b"; all that admit the scene when empty
    std::filesystem::path out;  // default runs/<scene name>_compare
    std::string size = "640x540";
    bool resume = false, overwrite = false, quiet = false, no_movie = false;
};
int compare_command(const CompareOptions& options);

struct CheckOptions {
    RunOptions run;
    bool dry = false;     // validate and estimate only
    bool coarse = false;  // at the scale that the scene's [check] states
    bool record = false;  // append the verdicts to results/checks.csv
    std::filesystem::path results = "results";
};
int check_command(const CheckOptions& options);

int demo_command(const RunOptions& options);

struct NewOptions {
    std::filesystem::path file;
    std::string kind = "dam-break";
};
int new_command(const NewOptions& options);

int list_command(
    const std::string& what);  // "", methods, scenes, benches, cases, keys, quantities, checks, failures

struct PlotOptions {
    std::filesystem::path run;  // folder of the run
    std::filesystem::path out;  // folder of the charts; default: plots/ in the run's
};
int plot_command(const PlotOptions& options);

struct TableOptions {
    std::vector<std::string> names;  // empty: all
    std::filesystem::path csv;
    std::filesystem::path plot;  // folder of the charts
    bool quick = false;
    bool record = false;  // append the rows to results/validation.csv or bench.csv
    std::filesystem::path results = "results";
    int threads = 0;
};
int validate_command(const TableOptions& options);
int bench_command(const TableOptions& options);

int docs_command(const std::filesystem::path& file);  // writes the scene reference; "-" for standard output

struct ScoreboardOptions {
    std::filesystem::path results = "results", docs = "docs";
};
int scoreboard_command(const ScoreboardOptions& options);

int completion_command(const std::string& shell);

std::string version_text();   // "flotsam 0.1.0 (d8f0fa0)"
std::string revision_text();  // "d8f0fa0", with "-dirty" when something was not committed

// What the user types to call the program: "flotsam", or the path of the script that started it.
std::string program_name();

}  // namespace flotsam
