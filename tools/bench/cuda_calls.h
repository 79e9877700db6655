// SPDX-License-Identifier: MIT OR Apache-2.0
// Helpers of the benchmark's CUDA files.
#pragma once

#include <cuda_runtime.h>

#include "tools/bench/peers.h"

namespace sluice {

inline cudaStream_t streamFrom(SluiceCommands commands)
{
    return reinterpret_cast<cudaStream_t>(commands);
}

template <typename T>
T* pointerFrom(const SluiceBuffer& buffer)
{
    return reinterpret_cast<T*>(static_cast<uintptr_t>(buffer.handle + buffer.offset));
}

inline void requireCuda(cudaError_t error, const char* what)
{
    if (error != cudaSuccess)
        throw Failure{exitDevice, std::string(what) + ": " + cudaGetErrorString(error)};
}

} // namespace sluice
