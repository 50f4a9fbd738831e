// The library's static objects are not destroyed when the process ends: the thread that rewrites kernels may use them
// while it does, and it cannot be told to stop before objects go that this thread itself has made first.
//
// All code of this library registers destructors by this function in place of the system's, because the linker prefers
// symbols of the library itself.

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the name is the C++ ABI's.
extern "C" int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
