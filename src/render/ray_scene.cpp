#include "render/ray_scene.h"

#include <embree3/rtcore.h>

#include <cstring>
#include <new>

#include "core/check.h"

namespace flotsam {

namespace {

// One device for the process: it only holds memory and settings.
RTCDevice device() {
    static const RTCDevice instance = rtcNewDevice(nullptr);
    FLOTSAM_CHECK(instance != nullptr);
    return instance;
}

RTCRay embree_ray(const Ray& ray) {
    RTCRay r{};
    r.org_x = ray.origin.x, r.org_y = ray.origin.y, r.org_z = ray.origin.z;
    r.dir_x = ray.direction.x, r.dir_y = ray.direction.y, r.dir_z = ray.direction.z;
    r.tnear = ray.near, r.tfar = ray.far;
    r.mask = ~0U;
    return r;
}

void* new_buffer(RTCGeometry geometry, RTCBufferType type, RTCFormat format, std::size_t stride,
                 std::size_t count) {
    void* buffer = rtcSetNewGeometryBuffer(geometry, type, 0, format, stride, count);
    if (!buffer && count > 0) throw std::bad_alloc();
    return buffer;
}

}  // namespace

struct RayScene::Handles {
    RTCScene scene = rtcNewScene(device());
};

RayScene::RayScene() : handles_(std::make_unique<Handles>()) {
    // Robust: rays do not slip through edges that two triangles share.
    rtcSetSceneFlags(handles_->scene, RTC_SCENE_FLAG_ROBUST);
}

RayScene::~RayScene() { rtcReleaseScene(handles_->scene); }

int RayScene::add_triangles(const std::vector<Vec3f>& vertices,
                            const std::vector<std::array<std::int32_t, 3>>& triangles) {
    const RTCGeometry geometry = rtcNewGeometry(device(), RTC_GEOMETRY_TYPE_TRIANGLE);
    void* corners =
        new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, sizeof(Vec3f), vertices.size());
    if (!vertices.empty()) std::memcpy(corners, vertices.data(), vertices.size() * sizeof(Vec3f));
    void* indices = new_buffer(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, 12, triangles.size());
    if (!triangles.empty()) std::memcpy(indices, triangles.data(), triangles.size() * 12);
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(handles_->scene, geometry, unsigned(objects_));
    rtcReleaseGeometry(geometry);
    return objects_++;
}

int RayScene::add_spheres(const std::vector<Vec3f>& centers, const std::vector<float>& radii) {
    FLOTSAM_CHECK(centers.size() == radii.size(), centers.size(), radii.size());
    const RTCGeometry geometry = rtcNewGeometry(device(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
    auto* spheres = static_cast<float*>(
        new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 16, centers.size()));
    for (std::size_t n = 0; n < centers.size(); ++n) {
        std::memcpy(spheres + 4 * n, &centers[n], sizeof(Vec3f));
        spheres[4 * n + 3] = radii[n];
    }
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(handles_->scene, geometry, unsigned(objects_));
    rtcReleaseGeometry(geometry);
    return objects_++;
}

void RayScene::commit() {
    rtcCommitScene(handles_->scene);
    if (rtcGetDeviceError(device()) == RTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
}

RayHit RayScene::nearest(const Ray& ray) const {
    RayHit hit;
    if (objects_ == 0) return hit;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit query{embree_ray(ray), {}};
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(handles_->scene, &context, &query);
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return hit;
    hit.distance = query.ray.tfar;
    hit.object = int(query.hit.geomID);
    hit.part = std::int32_t(query.hit.primID);
    hit.u = query.hit.u;
    hit.v = query.hit.v;
    const Vec3f normal{query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z};
    const float size = length(normal);
    hit.face_normal = size > 0 ? normal / size : -ray.direction;  // a triangle without area has none
    return hit;
}

bool RayScene::blocked(const Ray& ray) const {
    if (objects_ == 0) return false;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRay query = embree_ray(ray);
    rtcOccluded1(handles_->scene, &context, &query);
    return query.tfar < 0;
}

}  // namespace flotsam
