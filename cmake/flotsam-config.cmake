# find_package(flotsam): what the installed archive must be linked with, then the target flotsam::flotsam.
include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/OpenVDB)
find_dependency(TBB)
find_dependency(fmt)
find_dependency(OpenVDB COMPONENTS openvdb)
find_dependency(PkgConfig)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
include(${CMAKE_CURRENT_LIST_DIR}/flotsam-targets.cmake)
