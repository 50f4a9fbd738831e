// Declares the functions of functions.def.
#pragma once

#include "runtime/client/cuda/interface/texture_types.h"
#include "runtime/client/cuda/interface/types.h"

#define WM_CUDA(name, since, parameters) extern "C" __attribute__((visibility("default"))) CUresult name parameters;
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments)            \
  extern "C" __attribute__((visibility("default"))) CUresult name parameters; \
  extern "C" __attribute__((visibility("default"))) CUresult name##suffix parameters;
#include "runtime/client/cuda/interface/functions.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
