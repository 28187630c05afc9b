package soak

import (
	"fmt"
	"math"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Method selects how patterns are written and checked.
type Method uint8

const (
	// Automatic is Kernels on a GPU and Copies elsewhere.
	Automatic Method = iota
	// Kernels uses kernels of package kernels. Each word of eight bytes holds another
	// value.
	Kernels
	// Copies fills each block with one value of four bytes and copies it to the host
	// for comparison.
	Copies
)

// String names the method.
func (m Method) String() string {
	switch m {
	case Automatic:
		return "automatic"
	case Kernels:
		return "kernels"
	case Copies:
		return "copies"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Options configure a run. The zero value is a short run over the default resource of a
// manager.
type Options struct {
	// Resource is the resource under test. The caller closes it after the run. Nil
	// means the default resource of the manager.
	Resource memory.Resource
	// Budget is the manager's budget in bytes. A budget that is too small for the
	// blocks of the goroutines makes allocations fail, which is part of the test. Zero
	// means all the memory of the device.
	Budget uint64

	// Operations is the minimum number of operations: each block that is allocated,
	// written, checked or freed counts as one. Zero means 100,000.
	Operations uint64
	// Goroutines is the number of concurrent goroutines, at most 256. Zero means 8.
	Goroutines int
	// Streams is the number of streams. Goroutine i owns stream i modulo Streams. Zero
	// means one per goroutine.
	Streams int
	// MaximumBytes is the size of the largest blocks, at most 128 MiB. Most blocks are
	// far smaller. Zero means 1 MiB.
	MaximumBytes uint64
	// Held is the maximum number of blocks that a goroutine holds, without those that
	// others pass to it. Zero means 64.
	Held int

	// CrossStream is the fraction of allocations and of work that uses another stream
	// than the goroutine's own. Zero means 0.1, a negative value none.
	CrossStream float64
	// Delay is the approximate delay of late work; an eighth of all work is late. Zero
	// means 20 microseconds, a negative value no late work.
	Delay time.Duration
	// TrimEvery is the number of steps after which a goroutine trims the resource, if
	// the resource supports it. Zero means 4096, a negative value never.
	TrimEvery int

	// Seed selects the sequence of random choices of each goroutine. Their effect also
	// depends on timing.
	Seed uint64
	// Method selects how patterns are written and checked.
	Method Method
}

const (
	mostGoroutines = 256
	leastBytes     = wordBytes
	// mostBytes limits the index of a word within its block to 24 bits.
	mostBytes = wordBytes << indexBits
)

// withDefaults replaces every zero value by its default, or returns an error that names
// the invalid field.
func (o Options) withDefaults(dev *device.Device) (Options, error) {
	setDefault(&o.Operations, 100_000)
	setDefault(&o.Goroutines, 8)
	setDefault(&o.Streams, o.Goroutines)
	setDefault(&o.MaximumBytes, 1<<20)
	setDefault(&o.Held, 64)
	setDefault(&o.CrossStream, 0.1)
	setDefault(&o.Delay, 20*time.Microsecond)
	setDefault(&o.TrimEvery, 4096)
	o.CrossStream, o.Delay = max(o.CrossStream, 0), max(o.Delay, 0)
	if o.Method == Automatic {
		o.Method = Copies
		if dev.Kind() == device.CUDA {
			o.Method = Kernels
		}
	}
	switch {
	case o.Goroutines < 1 || o.Goroutines > mostGoroutines:
		return o, invalid("Goroutines is %d: expected 1 to %d", o.Goroutines, mostGoroutines)
	case o.Streams < 1:
		return o, invalid("Streams is %d: expected at least 1", o.Streams)
	case o.MaximumBytes < leastBytes || o.MaximumBytes > mostBytes:
		return o, invalid("MaximumBytes is %d: expected %d to %d", o.MaximumBytes, leastBytes, mostBytes)
	case o.Held < 1:
		return o, invalid("Held is %d: expected at least 1", o.Held)
	case o.CrossStream > 1 || math.IsNaN(o.CrossStream):
		return o, invalid("CrossStream is %v: expected at most 1", o.CrossStream)
	case o.Method > Copies:
		return o, invalid("unknown method %v", o.Method)
	}
	return o, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func invalid(format string, arguments ...any) error {
	return fmt.Errorf("options: "+format+": %w", append(arguments, device.ErrInvalidValue)...)
}
