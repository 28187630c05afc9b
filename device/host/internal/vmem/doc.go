// Package vmem maps memory for the host device: it reserves ranges of addresses without
// memory, creates memory without addresses, and maps the memory at the addresses.
//
// On Linux memory is an unnamed file in memory, and a range of addresses is a mapping
// without permissions. Elsewhere [Supported] is false, and no other function may be
// called.
//
// Shared memory is a file of sealed size with a descriptor that can be passed to
// another process.
//
// The package checks only descriptors. The caller ensures that addresses, bytes and
// offsets are multiples of [Granularity], that ranges lie in reservations, and that
// mappings to be replaced are not in use.
package vmem

import "errors"

// ErrNotShared is wrapped by errors about descriptors that are not of shared memory, or
// of another size.
var ErrNotShared = errors.New("not shared memory")

// Granularity is the unit of addresses and sizes. It equals that of NVIDIA's GPUs, so
// that a program rounds and splits the same way on the host. It is a multiple of every
// page size of Linux on 64-bit processors.
const Granularity = 2 << 20
