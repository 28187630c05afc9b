package cmem

// Alignment divides every address. It equals CUDA's, so that code developed on the host
// meets no smaller alignment on a GPU.
const Alignment = 256
