// Memory that was freed, given back to the system.
#pragma once

#include <cstdlib>  // says whose library this is
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace flotsam {

// The allocator keeps what was freed for later. After work that is done once, such as making a scene ready,
// nobody will ask for as much again.
inline void return_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace flotsam
