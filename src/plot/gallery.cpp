#include "plot/gallery.h"

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "plot/svg.h"

namespace flotsam {

std::string file_name_of(const std::string& text) {
    std::string name;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name += letter || c == '-' ? c : '_';
    }
    return name;
}

void write_gallery(const std::filesystem::path& folder, const std::string& title,
                   const std::vector<std::string>& facts, const std::vector<ChartFile>& pictures) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw disk_error("make the folder", folder, error.value());

    std::string page = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\"/>\n<title>{0}</title>\n<style>\n"
        "body {{ font-family: Helvetica, Arial, sans-serif; color: #222; margin: 2em; }}\n"
        "main {{ display: flex; flex-wrap: wrap; gap: 1em; }}\n"
        "img {{ border: 1px solid #ddd; max-width: 100%; }}\n"
        "</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        xml_text(title));
    for (const std::string& fact : facts) page += fmt::format("<p>{}</p>\n", xml_text(fact));
    page += "<main>\n";
    for (const ChartFile& picture : pictures) {
        write_file(folder / picture.file, picture.svg);
        page += fmt::format("<a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\"/></a>\n", xml_text(picture.file),
                            xml_text(picture.title));
    }
    write_file(folder / "index.html", page + "</main>\n</body>\n</html>\n");
}

}  // namespace flotsam
