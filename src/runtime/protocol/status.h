// Status codes and execution states as the protocol carries them: the numbers of OpenCL, by names of our own.
//
// The code above `device/` names no OpenCL types; a client of another kind translates these numbers.
#pragma once

#include <cstdint>

namespace wm::runtime {

// Zero or positive: an execution state, or success; negative: an error.
using Status = std::int32_t;

namespace status {

inline constexpr Status kSuccess = 0;

// Execution states of a command.
inline constexpr Status kComplete = 0, kRunning = 1, kSubmitted = 2, kQueued = 3;

inline constexpr Status kMemoryAllocationFailure = -4, kOutOfResources = -5, kOutOfHostMemory = -6,
                        kImageFormatNotSupported = -10, kBuildProgramFailure = -11, kDependencyFailed = -14,
                        kCompileProgramFailure = -15, kLinkProgramFailure = -17, kArgumentInfoNotAvailable = -19,
                        kInvalidValue = -30, kInvalidMemoryObject = -38, kInvalidImageFormatDescriptor = -39,
                        kInvalidImageSize = -40, kInvalidBinary = -42, kInvalidBuildOptions = -43,
                        kInvalidProgram = -44, kInvalidProgramExecutable = -45, kInvalidKernelName = -46,
                        kInvalidKernel = -48, kInvalidArgumentIndex = -49, kInvalidArgumentSize = -51,
                        kInvalidKernelArguments = -52, kInvalidWorkGroupSize = -54, kInvalidOperation = -59,
                        kInvalidImageDescriptor = -65, kInvalidCompilerOptions = -66, kInvalidLinkerOptions = -67;

}  // namespace status
}  // namespace wm::runtime
