// A folder of charts with a page that shows them all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace flotsam {

struct ChartFile {
    std::string file;   // name without folder: "volume.svg"
    std::string title;  // read out where pictures are not seen
    std::string svg;
};

// Letters, digits, - and _ of a text, for a file's name.
std::string file_name_of(const std::string& text);

// Writes each picture and then index.html, every file whole or not at all. Earlier pictures of the same name
// are replaced. `facts` are lines of text above the pictures.
void write_gallery(const std::filesystem::path& folder, const std::string& title,
                   const std::vector<std::string>& facts, const std::vector<ChartFile>& pictures);

}  // namespace flotsam
