// Movies, made by ffmpeg as a separate process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace flotsam {

struct MovieResult {
    bool made = false;
    std::string problem;  // why not, and what to do about it
};

// Joins PNG files of equal size into an MP4 that every browser plays. The movie appears whole or not at all.
MovieResult make_movie(const std::vector<std::filesystem::path>& pictures, double frames_per_second,
                       const std::filesystem::path& movie);

// Pictures per second in a movie of a scene: the scene's own rate, or slow motion where a screen could not
// show as many.
double movie_rate(double frames_per_second);

}  // namespace flotsam
