#include "render/png.h"

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "core/check.h"

namespace flotsam {

namespace {

constexpr char note_key[] = "Flotsam";  // of a text chunk
constexpr int most_pixels = 32768;      // along a side; a damaged header must not allocate all memory

// libpng reports errors by a function that must not return.
void remember(png_structp png, png_const_charp message) {
    *static_cast<std::string*>(png_get_error_ptr(png)) = message;
    png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}

// Whether `calls` reached its end. An error in it jumps back to here past all destructors: it may call
// libpng and must own nothing.
template <class Calls>
bool attempt(png_structp png, const Calls& calls) {
    if (setjmp(png_jmpbuf(png))) return false;
    calls();
    return true;
}

struct Reader {
    std::string error;
    std::string_view left;  // bytes that are not read yet
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error, remember, ignore);
    png_infop info = png_create_info_struct(png);

    explicit Reader(std::string_view bytes) : left(bytes) {
        FLOTSAM_CHECK(info != nullptr);
        png_set_read_fn(png, this, [](png_structp from, png_bytep to, std::size_t count) {
            std::string_view& rest = static_cast<Reader*>(png_get_io_ptr(from))->left;
            if (count > rest.size()) png_error(from, "cut off");
            std::memcpy(to, rest.data(), count);
            rest.remove_prefix(count);
        });
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

    // The whole file, as red, green and blue of 8 bits; false when it is damaged.
    bool read() {
        return attempt(png, [this] {
            png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);  // in notes, too
            png_set_user_limits(png, most_pixels, most_pixels);
            png_read_png(png, info,
                         PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_SCALE_16 | PNG_TRANSFORM_GRAY_TO_RGB |
                             PNG_TRANSFORM_STRIP_ALPHA,
                         nullptr);
        });
    }
};

struct Writer {
    std::string error;
    std::string file;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, remember, ignore);
    png_infop info = png_create_info_struct(png);

    Writer() {
        FLOTSAM_CHECK(info != nullptr);
        png_set_write_fn(
            png, this,
            [](png_structp to, png_bytep bytes, std::size_t count) {
                static_cast<Writer*>(png_get_io_ptr(to))
                    ->file.append(reinterpret_cast<const char*>(bytes), count);
            },
            nullptr);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { png_destroy_write_struct(&png, &info); }
};

}  // namespace

std::string encode_png(const Picture& picture, std::string_view note) {
    const std::size_t row_size = std::size_t(picture.width) * 3;
    FLOTSAM_CHECK(picture.bytes.size() == row_size * picture.height);
    std::vector<std::uint8_t> pixels = picture.bytes;  // libpng wants to be able to write to its rows
    std::vector<png_bytep> rows(picture.height);
    for (int y = 0; y < picture.height; ++y) rows[y] = pixels.data() + y * row_size;
    std::string key = note_key, text(note);
    png_text chunk{};
    chunk.compression = PNG_TEXT_COMPRESSION_NONE;
    chunk.key = key.data();
    chunk.text = text.data();
    chunk.text_length = text.size();

    Writer writer;
    const bool written = attempt(writer.png, [&] {
        png_set_IHDR(writer.png, writer.info, png_uint_32(picture.width), png_uint_32(picture.height), 8,
                     PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
        png_set_compression_level(writer.png, 9);
        png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);  // good for rendered pictures
        if (!text.empty()) png_set_text(writer.png, writer.info, &chunk, 1);
        png_set_rows(writer.png, writer.info, rows.data());
        png_write_png(writer.png, writer.info, PNG_TRANSFORM_IDENTITY, nullptr);
    });
    if (!written) throw IoError("a picture could not be packed as PNG: " + writer.error);
    return std::move(writer.file);
}

Picture decode_png(std::string_view bytes, std::string_view name) {
    const auto* begin = reinterpret_cast<png_const_bytep>(bytes.data());
    if (bytes.size() < 8 || png_sig_cmp(begin, 0, 8) != 0)
        throw IoError(fmt::format("{}: not a PNG file", name));
    Reader reader(bytes);
    if (!reader.read()) throw IoError(fmt::format("{}: a damaged PNG file: {}", name, reader.error));
    Picture picture;
    picture.width = int(png_get_image_width(reader.png, reader.info));
    picture.height = int(png_get_image_height(reader.png, reader.info));
    png_bytepp rows = png_get_rows(reader.png, reader.info);
    for (int y = 0; y < picture.height; ++y)
        picture.bytes.insert(picture.bytes.end(), rows[y], rows[y] + std::size_t(picture.width) * 3);
    return picture;
}

std::string note_in_png(std::string_view bytes) {
    Reader reader(bytes);
    if (!reader.read()) return {};
    png_textp texts = nullptr;
    const int count = png_get_text(reader.png, reader.info, &texts, nullptr);
    for (int n = 0; n < count; ++n)
        if (std::strcmp(texts[n].key, note_key) == 0) return {texts[n].text, texts[n].text_length};
    return {};
}

}  // namespace flotsam
