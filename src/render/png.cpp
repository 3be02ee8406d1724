#include "render/png.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/check.h"

namespace flotsam {

namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view note_key("Flotsam\0", 8);  // a text chunk: key, zero, text

void append_number(std::string& to, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to += char(value >> shift & 0xff);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (int n = 0; n < 4; ++n) value = value << 8 | std::uint8_t(bytes[at + n]);
    return value;
}

std::uint32_t checksum(std::string_view bytes) {
    return std::uint32_t(::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), uInt(bytes.size())));
}

void append_chunk(std::string& to, std::string_view kind, std::string_view body) {
    append_number(to, std::uint32_t(body.size()));
    const std::size_t begin = to.size();
    to += kind;
    to += body;
    append_number(to, checksum(std::string_view(to).substr(begin)));
}

// The value that the filter of a PNG row predicts from the pixels to the left, above and above left.
int paeth(int left, int above, int corner) {
    const int guess = left + above - corner;
    const int to_left = std::abs(guess - left), to_above = std::abs(guess - above),
              to_corner = std::abs(guess - corner);
    if (to_left <= to_above && to_left <= to_corner) return left;
    return to_above <= to_corner ? above : corner;
}

struct Chunk {
    std::string_view kind, body;
};
// The chunk at `at`, which moves to the next one; nothing when it is cut off or damaged.
std::optional<Chunk> next_chunk(std::string_view bytes, std::size_t& at) {
    if (at + 12 > bytes.size()) return {};
    const std::size_t size = number_at(bytes, at);
    if (size > bytes.size() || at + 12 + size > bytes.size()) return {};
    if (checksum(bytes.substr(at + 4, 4 + size)) != number_at(bytes, at + 8 + size)) return {};
    const Chunk chunk{bytes.substr(at + 4, 4), bytes.substr(at + 8, size)};
    at += 12 + size;
    return chunk;
}

// Undoes the filters of the rows in place: each begins with the number of its filter.
bool unfilter(std::string& rows, int height, std::size_t row_size, int pixel_size) {
    std::string above(row_size, '\0');
    for (int y = 0; y < height; ++y) {
        char* row = &rows[std::size_t(y) * (row_size + 1)];
        const int filter = std::uint8_t(*row++);
        if (filter > 4) return false;
        for (std::size_t n = 0; n < row_size; ++n) {
            const bool first = n < std::size_t(pixel_size);
            const int left = first ? 0 : std::uint8_t(row[n - pixel_size]), up = std::uint8_t(above[n]);
            const int corner = first ? 0 : std::uint8_t(above[n - pixel_size]);
            const int predicted[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
            row[n] = char(std::uint8_t(row[n]) + predicted[filter]);
        }
        std::memcpy(above.data(), row, row_size);
    }
    return true;
}

}  // namespace

std::string encode_png(const Picture& picture, std::string_view note) {
    FLOTSAM_CHECK(picture.bytes.size() == std::size_t(picture.width) * picture.height * 3);
    const std::size_t row_size = std::size_t(picture.width) * 3;
    std::string rows;
    rows.reserve((row_size + 1) * picture.height);
    for (int y = 0; y < picture.height; ++y) {
        rows += char(4);  // Paeth: as good as any choice for rendered pictures
        const std::uint8_t* row = picture.bytes.data() + std::size_t(y) * row_size;
        for (std::size_t n = 0; n < row_size; ++n) {
            const int left = n < 3 ? 0 : row[n - 3], above = y > 0 ? row[n - row_size] : 0;
            const int corner = n < 3 || y == 0 ? 0 : row[n - row_size - 3];
            rows += char(row[n] - paeth(left, above, corner));
        }
    }
    uLongf size = ::compressBound(uLong(rows.size()));
    std::string packed(size, '\0');
    const int status = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                   reinterpret_cast<const Bytef*>(rows.data()), uLong(rows.size()), 9);
    FLOTSAM_CHECK(status == Z_OK, status);
    packed.resize(size);

    std::string header;
    append_number(header, std::uint32_t(picture.width));
    append_number(header, std::uint32_t(picture.height));
    header += std::string("\x08\x02\0\0\0", 5);  // 8 bits, RGB, deflate, adaptive filters, not interlaced
    std::string file(signature);
    append_chunk(file, "IHDR", header);
    if (!note.empty()) append_chunk(file, "tEXt", std::string(note_key) + std::string(note));
    append_chunk(file, "IDAT", packed);
    append_chunk(file, "IEND", {});
    return file;
}

Picture decode_png(std::string_view bytes, std::string_view name) {
    const auto bad = [&](const char* why) { return IoError(fmt::format("{}: {}", name, why)); };
    if (!bytes.starts_with(signature)) throw bad("not a PNG file");
    std::size_t at = signature.size();
    Picture picture;
    std::string packed;
    int channels = 0;
    for (;;) {
        const std::optional<Chunk> chunk = next_chunk(bytes, at);
        if (!chunk) throw bad("damaged or cut off");
        if (chunk->kind == "IEND") break;
        if (chunk->kind == "IDAT") packed += chunk->body;
        if (chunk->kind != "IHDR") continue;
        if (chunk->body.size() != 13) throw bad("damaged header");
        const std::uint32_t width = number_at(chunk->body, 0), height = number_at(chunk->body, 4);
        const int type = std::uint8_t(chunk->body[9]);
        channels = type == 2 ? 3 : type == 6 ? 4 : 0;
        if (chunk->body[8] != 8 || channels == 0 || chunk->body[12] != 0)
            throw bad("a kind of PNG that Flotsam does not read: save it as RGB, 8 bits, not interlaced");
        if (width == 0 || height == 0 || width > 32768 || height > 32768) throw bad("damaged header");
        picture.width = int(width);
        picture.height = int(height);
    }
    if (channels == 0) throw bad("no header");
    const std::size_t row_size = std::size_t(picture.width) * channels;
    std::string rows((row_size + 1) * picture.height, '\0');
    uLongf size = uLong(rows.size());
    const int status = ::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                                    reinterpret_cast<const Bytef*>(packed.data()), uLong(packed.size()));
    if (status != Z_OK || size != rows.size()) throw bad("its pixels are damaged");
    if (!unfilter(rows, picture.height, row_size, channels)) throw bad("its pixels are damaged");
    picture.bytes.reserve(std::size_t(picture.width) * picture.height * 3);
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x)
            for (int c = 0; c < 3; ++c)
                picture.bytes.push_back(
                    std::uint8_t(rows[std::size_t(y) * (row_size + 1) + 1 + std::size_t(x) * channels + c]));
    return picture;
}

std::string note_in_png(std::string_view bytes) {
    if (!bytes.starts_with(signature)) return {};
    std::string note;
    std::size_t at = signature.size();
    while (const std::optional<Chunk> chunk = next_chunk(bytes, at)) {
        if (chunk->kind == "tEXt" && chunk->body.starts_with(note_key))
            note = chunk->body.substr(note_key.size());
        if (chunk->kind == "IEND") return note;  // whole
    }
    return {};
}

}  // namespace flotsam
