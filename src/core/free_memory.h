// Returns freed memory to the system.
#pragma once

#include <cstdlib>  // says whose library this is
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace flotsam {

// The allocator keeps freed memory for later. After work that is done once, such as preparing a scene, that
// much will not be needed again.
inline void return_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace flotsam
