package resource

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
)

// The errors of resources for errors.Is, in addition to those of package device.
var (
	// ErrOverflow: a size does not fit the address space.
	ErrOverflow = errors.New("size overflows")
	// ErrClosed: the resource has been closed.
	ErrClosed = device.ErrClosed
)
