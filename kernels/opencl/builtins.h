// OpenCL C's built-in functions on PTX, for compiling the zoo's kernels without a vendor's library.
//
// Every kernel is compiled with this header first (-include) and clang's own OpenCL headers off, so the same source
// also compiles as it stands wherever the standard built-ins exist (PoCL, NVIDIA's OpenCL). Only what the zoo needs is
// here; a kernel that uses something else fails to compile and the function is added to the file of its kind.
#pragma once

#include "types.h"
// Order matters below: the later headers use the types' helper macros.
#include "atomics.h"
#include "integer.h"
#include "math.h"
#include "work_item.h"
