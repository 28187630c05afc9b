// Package nvtx marks ranges of time for NVIDIA's profilers. Nothing is linked: as the
// headers of NVTX do, the first use loads the library that the environment variable
// NVTX_INJECTION64_PATH names, which nsys and ncu set. Without it a range costs the load
// of a flag.
package nvtx
