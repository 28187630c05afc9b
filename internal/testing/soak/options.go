package soak

import (
	"fmt"
	"math"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Method says what writes and checks the patterns.
type Method uint8

const (
	// Automatic is Kernels on a GPU and Copies elsewhere.
	Automatic Method = iota
	// Kernels are launched through package kernels. Each word of eight bytes
	// holds another value.
	Kernels
	// Copies fill memory with one value of four bytes for each block, and copy
	// it to the host to be compared there.
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

// Options configure a run. The zero value is a short one over the resource that
// managers have by default.
type Options struct {
	// Resource is what is tested. The caller closes it after the run. Nil means
	// the manager's own.
	Resource memory.Resource
	// Budget is the manager's, in bytes. One that is too small for what the
	// goroutines hold makes allocations fail, which is part of the test. Zero
	// means all the memory of the device.
	Budget uint64

	// Operations is how many there are at least: each block that is allocated,
	// written, checked or freed counts as one. Zero means 100,000.
	Operations uint64
	// Goroutines is how many work at a time, 256 at most. Zero means 8.
	Goroutines int
	// Streams is how many streams there are. Goroutine i owns stream i modulo
	// Streams. Zero means as many as Goroutines.
	Streams int
	// MaximumBytes is the size of the largest blocks, 128 MiB at most; most are
	// far smaller. Zero means 1 MiB.
	MaximumBytes uint64
	// Held is how many blocks a goroutine holds at most, but for those it is
	// handed. Zero means 64.
	Held int

	// CrossStream is the part of allocations and of work that go to another
	// stream than the goroutine's own. Zero means 0.1, a negative value none.
	CrossStream float64
	// Delay is about how long work that is held back is held back; an eighth of
	// all work is. Zero means 20 microseconds, a negative value that none is.
	Delay time.Duration
	// TrimEvery is after how many steps a goroutine trims the resource, where
	// that can be. Zero means 4096, a negative value never.
	TrimEvery int

	// Seed makes another sequence of random choices for each goroutine. What
	// they come to still depends on timing.
	Seed uint64
	// Method is what writes and checks the patterns.
	Method Method
}

const (
	mostGoroutines = 256
	leastBytes     = wordBytes
	// mostBytes leaves the number of a word within its block 24 bits.
	mostBytes = wordBytes << indexBits
)

// withDefaults returns the options with every zero value replaced, or says which
// field is wrong.
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
		return o, invalid("Goroutines is %d: it is from 1 to %d", o.Goroutines, mostGoroutines)
	case o.Streams < 1:
		return o, invalid("Streams is %d: it is at least 1", o.Streams)
	case o.MaximumBytes < leastBytes || o.MaximumBytes > mostBytes:
		return o, invalid("MaximumBytes is %d: it is from %d to %d", o.MaximumBytes, leastBytes, mostBytes)
	case o.Held < 1:
		return o, invalid("Held is %d: it is at least 1", o.Held)
	case o.CrossStream > 1 || math.IsNaN(o.CrossStream):
		return o, invalid("CrossStream is %v: it is at most 1", o.CrossStream)
	case o.Method > Copies:
		return o, invalid("%v is no method", o.Method)
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
