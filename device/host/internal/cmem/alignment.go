package cmem

// Alignment is the number of bytes that every address is a multiple of. It is
// what CUDA gives, so that code developed on the host finds nothing else there.
const Alignment = 256
