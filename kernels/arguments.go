package kernels

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// arguments are those of one launch as the driver takes them, and the memory that
// they refer to. They are pooled: what is passed to a driver escapes, so an array
// on the stack would be allocated anew each time.
type arguments struct {
	slots  []uint64
	starts []uint32
	// regions are the arguments that are memory.
	regions []region
	// held is how many of the regions' blocks are retained.
	held int
	// unrecorded counts the arguments that nothing is known of.
	unrecorded uint64
}

// region is an argument that is memory of a block.
type region struct {
	index int
	block *memory.Block
}

var argumentsPool = sync.Pool{New: func() any { return new(arguments) }}

func takeArguments() *arguments { return argumentsPool.Get().(*arguments) }

// giveBack forgets the blocks, which the pool would keep from being collected.
func (a *arguments) giveBack() {
	clear(a.regions)
	a.slots, a.starts, a.regions = a.slots[:0], a.starts[:0], a.regions[:0]
	a.held, a.unrecorded = 0, 0
	argumentsPool.Put(a)
}

// pack writes each value at its own width, into slots of eight bytes, and checks
// it against what the kernel takes.
func (a *arguments) pack(values []any, takes signature, strict bool) error {
	if takes.known && len(values) != len(takes.parameters) {
		return fmt.Errorf("%d arguments for a kernel that takes %s: %w", len(values), takes, device.ErrInvalidValue)
	}
	for i, value := range values {
		a.starts = append(a.starts, uint32(len(a.slots)))
		bytes, err := a.add(i, value, strict)
		if err == nil && takes.known && bytes != takes.parameters[i].Bytes {
			err = fmt.Errorf("it is %d bytes (%T), the kernel's parameter takes %d: %w", bytes, value, takes.parameters[i].Bytes, device.ErrInvalidValue)
		}
		if err != nil {
			return &ArgumentError{Index: i, Reason: err}
		}
	}
	return nil
}

// String tells the number and the widths of the parameters.
func (s signature) String() string {
	if len(s.parameters) == 0 {
		return "none"
	}
	widths := make([]string, len(s.parameters))
	for i, parameter := range s.parameters {
		widths[i] = fmt.Sprint(parameter.Bytes)
	}
	return fmt.Sprintf("%d, of %s bytes", len(widths), strings.Join(widths, ", "))
}

// add appends one argument and returns its width in bytes.
func (a *arguments) add(index int, value any, strict bool) (bytes int, err error) {
	if bytes := a.addScalar(value); bytes != 0 {
		return bytes, nil
	}
	switch v := value.(type) {
	case memory.Region:
		return pointerBytes, a.addRegion(index, v)
	case device.Pointer:
		return pointerBytes, a.addRaw(v, strict)
	}
	return a.addByKind(value)
}

const pointerBytes = 8

func (a *arguments) addRegion(index int, r memory.Region) error {
	block := r.Block()
	if block == nil {
		_, isBlock := r.(*memory.Block)
		if isBlock || r.Bytes() != 0 {
			return block.Check() // the error for a nil block
		}
		a.slots = append(a.slots, 0)
		return nil
	}
	var pointer device.Pointer
	if r.Bytes() != 0 {
		pointer = r.Pointer()
	}
	a.slots = append(a.slots, uint64(pointer))
	a.regions = append(a.regions, region{index, block})
	return nil
}

func (a *arguments) addRaw(pointer device.Pointer, strict bool) error {
	if pointer != 0 {
		if strict {
			return fmt.Errorf("a raw device.Pointer, whose memory nobody is told is in use, in a strict module: pass the block or a slice of it: %w", device.ErrInvalidValue)
		}
		a.unrecorded++
	}
	a.slots = append(a.slots, uint64(pointer))
	return nil
}

// stream is the one that the first argument's memory belongs to, or nil.
func (a *arguments) stream() *device.Stream {
	if len(a.regions) == 0 {
		return nil
	}
	return a.regions[0].block.Stream()
}

// hold retains every block until release. Released by someone else between the
// launch and the note of it, a block's memory would be freed under the kernel.
func (a *arguments) hold() error {
	for _, r := range a.regions {
		if err := r.block.Retain(); err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
		a.held++
	}
	return nil
}

// release gives back what hold retained, and returns err or, if that is nil, the
// first error of its own.
func (a *arguments) release(err error) error {
	for _, r := range a.regions[:a.held] {
		if failure := r.block.Release(); err == nil {
			err = failure
		}
	}
	a.held = 0
	return err
}

// checkRegions refuses memory of another device, and in a strict module memory
// whose contents may not be ready.
func (a *arguments) checkRegions(dev *device.Device, strict bool) error {
	for _, r := range a.regions {
		if !r.block.Device().Same(dev) {
			return &ArgumentError{Index: r.index, Reason: fmt.Errorf("its memory is on %s, the launch on %s: %w",
				r.block.Device(), dev, device.ErrInvalidValue)}
		}
		if r.block.Ordered() {
			continue
		}
		if strict {
			return &ArgumentError{Index: r.index, Reason: fmt.Errorf(
				"%v memory that came without an event, so that its contents may not be ready, in a strict module: adopt it with ForeignMemory.Ready or Ordered: %w",
				r.block.Origin(), device.ErrInvalidValue)}
		}
		a.unrecorded++
	}
	return nil
}

// record notes on every block that the stream uses it.
func (a *arguments) record(stream *device.Stream) error {
	for _, r := range a.regions {
		if err := r.block.RecordUse(stream); err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
	}
	return nil
}
