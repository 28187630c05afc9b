// Package nvrtc compiles CUDA C++ to PTX with NVIDIA's runtime compiler, which it opens at the first use: a
// program needs no toolkit to build or to start.
//
// The library is libnvrtc.so.13, .12 or .11.2, that of /usr/local/cuda, or that of the variable
// GPUFRAME_LIBNVRTC. Its PTX must not be newer than the driver knows: take a library of the driver's CUDA version or
// of an older one.
package nvrtc
