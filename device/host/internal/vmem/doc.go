// Package vmem maps memory for the host device: ranges of addresses without
// memory, memory without an address, and the one laid under the other.
//
// On Linux memory is an unnamed file in memory, and a range of addresses is a
// mapping that permits nothing. Elsewhere [Supported] is false, and nothing else
// here may be called.
//
// Shared memory is such a file whose size is sealed, and whose descriptor another
// process can have.
//
// But for descriptors nothing is checked here: addresses, bytes and offsets are multiples of
// [Granularity], ranges lie in reservations, and what is mapped over is not in
// use. The caller keeps those books.
package vmem

import "errors"

// ErrNotShared is wrapped by errors about descriptors that are not of shared
// memory, or of another size.
var ErrNotShared = errors.New("not shared memory")

// Granularity is the unit of addresses and sizes. It is what NVIDIA's GPUs have,
// so that a program rounds and splits the same way on the host, and a multiple
// of every page size that Linux has on 64-bit processors.
const Granularity = 2 << 20
