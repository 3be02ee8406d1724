// PNG files: 8 bits per channel, red, green and blue. Only zlib is needed.
#pragma once

#include <string>
#include <string_view>

#include "render/image.h"

namespace flotsam {

// The bytes of a PNG file. `note` is kept in the file as text.
std::string encode_png(const Picture& picture, std::string_view note = {});

// Reads what encode_png writes, and any other PNG of 8 bits per channel without palette or interlacing;
// transparency is dropped. Throws IoError that says what is wrong; `name` is what the message calls the file.
Picture decode_png(std::string_view bytes, std::string_view name);

// The note in a PNG file; empty when there is none, or when the file is damaged or cut off.
std::string note_in_png(std::string_view bytes);

}  // namespace flotsam
