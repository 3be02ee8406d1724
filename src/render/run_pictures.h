// Pictures of a run: from the files in a run folder to RUN/pictures/.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/frames.h"
#include "render/movie.h"
#include "render/plane_view.h"
#include "render/quality.h"
#include "render/stage.h"

namespace flotsam {

struct PictureSettings {
    enum class View { liquid, particles, slice };
    View view = View::liquid;
    int width = 960, height = 540;  // pixels
    bool good = false;              // else a draft
    PlaneView plane;                // of a slice
    struct Cut {
        int axis = 2;
        double at = 0;  // [m]
    };
    std::optional<Cut> cut;  // removes everything between this plane and the camera
};

class RunPictures {
  public:
    // `overrides` change keys of the run's scene, such as "view.light=[1,1,1]". Throws UserError when
    // `folder` is not a run, or when it has no files for this view.
    RunPictures(std::filesystem::path folder, const PictureSettings& settings,
                const std::vector<std::string>& overrides = {});

    const Scene& scene() const { return scene_; }
    // Every frame up to the last one that the run has written so far.
    std::vector<int> frames() const;
    std::filesystem::path picture(int frame) const;

    enum class Outcome {
        drawn,
        kept,     // the picture of this frame was there, with the same settings
        stopped,  // before it was finished: nothing was written
    };
    // Throws IoError when the frame is missing or damaged, or the disk is full; other pictures stay.
    Outcome draw(int frame, const std::atomic<bool>& stop) const;

    // Makes the movie of the existing pictures, unless it exists and is as new as they are.
    MovieResult make_movie() const;
    std::filesystem::path movie() const;

  private:
    std::string view_name() const;
    FrameFile source() const;
    Scene scene_at(int frame) const;              // with rigid bodies where they are in a frame
    Vec3 followed(int frame, double time) const;  // displacement of the solid that the camera follows
    Image draw_liquid(int frame, double time, const std::atomic<bool>& stop) const;

    std::filesystem::path folder_;
    PictureSettings settings_;
    Scene scene_;
    std::string look_;  // hash of everything that a picture depends on, except the frame
};

struct DrawnPictures {
    int drawn = 0, kept = 0;
    std::vector<std::string> problems;  // frames that could not be drawn, and why
    bool stopped = false;
};
// Draws the frames that have no picture yet, showing progress; a bad frame is reported and skipped. A full
// disk is an IoError.
DrawnPictures draw_pictures(const RunPictures& pictures, const std::vector<int>& frames, bool quiet,
                            const std::atomic<bool>& stop);

// Draws each frame of a run as soon as it is written, and the movie at the end.
class PictureObserver : public Observer {
  public:
    PictureObserver(std::filesystem::path folder, const PictureSettings& settings)
        : folder_(std::move(folder)), settings_(settings) {}

    void on_start(const World& world, int frame) override;
    void on_frame(World& world, int frame) override;
    void on_finish(World& world, int frame, bool completed) override;

    const MovieResult& movie() const { return movie_; }
    std::filesystem::path movie_file() const {
        return pictures_ ? pictures_->movie() : std::filesystem::path();
    }

  private:
    std::filesystem::path folder_;
    PictureSettings settings_;
    std::optional<RunPictures> pictures_;
    MovieResult movie_;
};

}  // namespace flotsam
