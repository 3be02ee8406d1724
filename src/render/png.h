// PNG files, by libpng.
#pragma once

#include <string>
#include <string_view>

#include "render/image.h"

namespace flotsam {

// The bytes of a PNG file: 8 bits each of red, green and blue. `note` is kept in the file as text.
std::string encode_png(const Picture& picture, std::string_view note = {});

// Reads any PNG file as 8 bits each of red, green and blue; transparency is dropped. Throws IoError that says
// what is wrong; `name` is the file's name in the message.
Picture decode_png(std::string_view bytes, std::string_view name);

// The note in a PNG file; empty when there is none, or when the file is damaged or cut off.
std::string note_in_png(std::string_view bytes);

}  // namespace flotsam
