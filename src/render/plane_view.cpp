#include "render/plane_view.h"

#include <fmt/format.h>

#include <cmath>

#include "core/check.h"
#include "core/parallel.h"
#include "fluid/grid/sample.h"
#include "render/color_map.h"
#include "render/stage.h"
#include "scene/suggest.h"

namespace flotsam {

namespace {

constexpr std::array<std::string_view, 5> field_names{"none", "pressure", "speed", "distance", "vorticity"};

struct FieldLook {
    std::string_view title;
    ColorMap map;
    bool signed_values;
    bool outside_too;  // defined outside the liquid, too
};
FieldLook look_of(SliceField field) {
    switch (field) {
        case SliceField::pressure:
            return {"pressure [Pa]", ColorMap::rising, false, false};
        case SliceField::speed:
            return {"speed [m/s]", ColorMap::rising, false, false};
        case SliceField::distance:
            return {"distance to the surface [m]", ColorMap::diverging, true, true};
        case SliceField::vorticity:
            return {"vorticity across the plane [1/s]", ColorMap::diverging, true, false};
        case SliceField::none:
            break;
    }
    return {"", ColorMap::rising, false, false};
}

// The position of the plane in the picture.
struct Layout {
    int across, up;           // axes of the domain along the picture's width and height
    double left, top, pixel;  // of the domain in pixels; size of a pixel [m]
    double width, height;     // of the domain [m]

    Layout(const Domain& domain, int axis, int picture_width, int picture_height, bool with_legend) {
        up = axis == 1 ? 2 : 1;
        across = 3 - axis - up;
        width = domain.size()[across];
        height = domain.size()[up];
        const double margin = 0.05 * picture_height, header = 0.05 * picture_height,
                     footer = with_legend ? 0.17 * picture_height : 0;
        pixel = std::max(width / (picture_width - 2 * margin),
                         height / (picture_height - 2 * margin - header - footer));
        left = 0.5 * (picture_width - width / pixel);
        top = header + margin + 0.5 * (picture_height - 2 * margin - header - footer - height / pixel);
    }
    double along(double x) const { return (x - left) * pixel; }
    // A horizontal plane is seen from above, with z towards the viewer.
    double upwards(double y) const { return up == 2 ? (y - top) * pixel : height - (y - top) * pixel; }
};

// A plane through a frame, and the values on it.
class Section {
  public:
    Section(const Scene& scene, const VolumeFrame& volume, double time, const PlaneView& view)
        : domain_(scene.scenario.domain), volume_(volume), view_(view) {
        const double size = domain_.size()[view.axis];
        at_ = domain_.flat() ? 0.5 * domain_.h : std::clamp(view.at.value_or(0.5 * size), 0.0, size);
        for (std::size_t n = 0; n < scene.scenario.solids.size(); ++n) {
            const Solid& solid = scene.scenario.solids[n];
            solids_.push_back({shape_at(solid, time), look_color(solid, n)});
        }
    }

    double at() const { return at_; }
    Vec3 point(const Layout& layout, double along, double upwards) const {
        Vec3 p;
        p[layout.across] = along;
        p[layout.up] = upwards;
        p[view_.axis] = at_;
        return p;
    }

    // Distance to the nearest solid and its number; a number of -1 when there is none.
    struct NearSolid {
        double distance = 1e30;
        int number = -1;
    };
    NearSolid near_solid(Vec3 p) const {
        NearSolid near;
        for (std::size_t n = 0; n < solids_.size(); ++n) {
            const double d = solids_[n].shape.distance(p);
            if (d < near.distance) near = {d, int(n)};
        }
        return near;
    }
    Color solid_color(int number) const { return solids_[number].color; }

    // The distance to the surface; beside a solid, where the grid's samples end, it is that of the liquid
    // next to it.
    double distance(Vec3 p, const NearSolid& near) const {
        if (near.distance < domain_.h && near.number >= 0) {
            const PlacedShape& shape = solids_[near.number].shape;
            Vec3 away;
            const double step = 0.1 * domain_.h;
            for (int axis = 0; axis < 3; ++axis) {
                if (axis == view_.axis) continue;
                const Vec3 e = Vec3(unit(axis)) * step;
                away[axis] = shape.distance(p + e) - shape.distance(p - e);
            }
            if (length(away) > 0) p += away / length(away) * (domain_.h - near.distance);
        }
        return volume_.distance.empty() ? 1e30 : sample_cells(volume_.distance, domain_, p);
    }

    double value(Vec3 p) const {
        switch (view_.field) {
            case SliceField::pressure:
                return pressure(p);
            case SliceField::speed: {
                Vec3 u = sample_velocity(volume_.velocity, domain_, p);
                if (domain_.flat()) u.z = 0;
                return length(u);
            }
            case SliceField::distance:
                return sample_cells(volume_.distance, domain_, p);
            case SliceField::vorticity:
                return vorticity(p);
            case SliceField::none:
                break;
        }
        return 0;
    }

  private:
    // Only liquid cells have a pressure: the mean of those around the point.
    double pressure(Vec3 p) const {
        const Stencil s = cell_stencil(domain_, p);
        double sum = 0, weight = 0;
        for (int c = 0; c < 8; ++c) {
            const double here = volume_.pressure(s.sample(c & 1, c >> 1 & 1, c >> 2));
            if (here == 0) continue;
            const double share = s.weight(c & 1, c >> 1 & 1, c >> 2);
            sum += share * here;
            weight += share;
        }
        return weight > 0 ? sum / weight : 0;
    }
    // The component of the curl along the plane's axis.
    double vorticity(Vec3 p) const {
        const int a = (view_.axis + 1) % 3, b = (view_.axis + 2) % 3;
        const double step = domain_.h;
        const Vec3 ea = Vec3(unit(a)) * step, eb = Vec3(unit(b)) * step;
        const auto u = [&](Vec3 q, int axis) { return sample_component(volume_.velocity, domain_, q, axis); };
        return (u(p + ea, b) - u(p - ea, b) - u(p + eb, a) + u(p - eb, a)) / (2 * step);
    }

    struct PlacedSolid {
        PlacedShape shape;
        Color color;
    };
    const Domain& domain_;
    const VolumeFrame& volume_;
    const PlaneView& view_;
    double at_;
    std::vector<PlacedSolid> solids_;
};

// The largest value in the liquid at cell centres of the plane, without the few that stand out: spray would
// hide everything else.
double typical_largest(const Section& plane, const Layout& layout, const Domain& domain, bool outside_too) {
    std::vector<double> values;
    const int columns = domain.cells[layout.across], rows = domain.cells[layout.up];
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const Vec3 p = plane.point(layout, (column + 0.5) * domain.h, (row + 0.5) * domain.h);
            const Section::NearSolid near = plane.near_solid(p);
            if (near.distance < 0 || (!outside_too && plane.distance(p, near) >= 0)) continue;
            values.push_back(std::abs(plane.value(p)));
        }
    if (values.empty()) return 0;
    const auto place = values.begin() + std::ptrdiff_t(0.99 * double(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

}  // namespace

std::string_view name_of(SliceField field) { return field_names[std::size_t(field)]; }

SliceField slice_field(std::string_view name) {
    for (std::size_t n = 1; n < field_names.size(); ++n)
        if (field_names[n] == name) return SliceField(n);
    throw UserError(fmt::format("--slice {}: there is no such quantity\n  {}", name,
                                suggestion(name, {field_names.begin() + 1, field_names.end()})));
}

Image draw_plane(const Scene& scene, const VolumeFrame& volume, double time, const PlaneView& view, int width,
                 int height) {
    const Domain& domain = scene.scenario.domain;
    const FieldLook look = look_of(view.field);
    const Section plane(scene, volume, time, view);
    const Layout layout(domain, view.axis, width, height, view.field != SliceField::none);
    const Color paper = light_of({0.97f, 0.97f, 0.96f}), air = light_of({0.91f, 0.93f, 0.94f}),
                ink = light_of({0.15f, 0.17f, 0.20f}), water = light_of({0.17f, 0.47f, 0.74f}),
                deep = light_of({0.07f, 0.25f, 0.48f});
    Legend legend{look.map, 0, 1, std::string(look.title)};
    if (view.field != SliceField::none && !volume.distance.empty()) {
        legend.high = view.limit.value_or(round_up(typical_largest(plane, layout, domain, look.outside_too)));
        if (look.signed_values) legend.low = -legend.high;
    }

    const auto color_of = [&](double x, double y) {
        const double along = layout.along(x), upwards = layout.upwards(y);
        const double line = 1.5 * layout.pixel;  // walls are this thick
        if (along < -line || upwards < -line || along > layout.width + line || upwards > layout.height + line)
            return paper;
        if (along < 0 || upwards < 0 || along > layout.width || upwards > layout.height) {
            const int side = along < 0              ? 2 * layout.across
                             : along > layout.width ? 2 * layout.across + 1
                             : upwards < 0          ? 2 * layout.up
                                                    : 2 * layout.up + 1;
            return domain.open(side) ? paper : ink;
        }
        const Vec3 p = plane.point(layout, along, upwards);
        const Section::NearSolid near = plane.near_solid(p);
        if (near.distance < 0) {
            const bool outline = near.distance > -1.5 * layout.pixel;
            return outline ? plane.solid_color(near.number) * 0.35f : plane.solid_color(near.number);
        }
        const double distance = plane.distance(p, near);
        if (view.field == SliceField::none) {
            if (distance >= 0) return air;
            // A little darker away from the surface, which sets off thin sheets and drops.
            return mix(water, deep, float(std::min(1.0, -distance / (3 * domain.h))) * 0.55f);
        }
        const bool surface = std::abs(distance) < 0.8 * layout.pixel;
        if (surface) return ink;
        if (distance >= 0 && !look.outside_too) return air;
        return color_at(look.map, (plane.value(p) - legend.low) / (legend.high - legend.low));
    };

    Image image(width, height, paper);
    constexpr int side = 3;  // samples along each side of a pixel
    parallel_for(height, 1, [&](std::int64_t row) {
        for (int column = 0; column < width; ++column) {
            Color sum;
            for (int up = 0; up < side; ++up)
                for (int across = 0; across < side; ++across)
                    sum += color_of(column + (across + 0.5) / side, double(row) + (up + 0.5) / side);
            image.at(column, int(row)) = sum / float(side * side);
        }
    });

    const int scale = text_scale(image);
    std::string caption = fmt::format("{}   t = {:.3f} s", scene.scenario.title, time);
    if (!domain.flat()) caption += fmt::format("   {} = {:.4g} m", "xyz"[view.axis], plane.at());
    draw_text(image, 8 * scale, 8 * scale, caption, ink, scale);
    if (view.field != SliceField::none) draw_legend(image, legend);
    return image;
}

}  // namespace flotsam
