package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// arguments are those of one launch as the driver takes them, and the memory that
// they refer to. They are pooled: what is passed to a driver escapes, so an array
// on the stack would be allocated anew each time.
type arguments struct {
	slots  []uint64
	starts []uint32
	// regions are the arguments that are memory, of each block the first.
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
	// unordered says that the launch need not wait for work on the block: all
	// arguments that lie in it are slices of memory.Slice.Unordered.
	unordered bool
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
			err = fmt.Errorf("it is %d bytes (%s), the kernel's parameter takes %d: %w", bytes, typeOf(value), takes.parameters[i].Bytes, device.ErrInvalidValue)
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
	word, bytes, err := a.word(index, value, strict)
	switch {
	case err != nil:
		return 0, err
	case bytes != 0:
		// A value shorter than eight bytes takes the low ones of its slot; the
		// others are not read.
		a.slots = append(a.slots, word)
		return bytes, nil
	}
	w := structWriter{arguments: a, first: len(a.slots), index: index, strict: strict, alignment: 1}
	if s, ok := value.(*structure); ok {
		err = w.whole(s)
	} else {
		err = w.parts(value)
	}
	return w.bytes, err
}

// word returns a value that one word holds, and its width in bytes. Of a value of
// another type, which may be no argument at all, the width is zero. The types that
// nearly all arguments have come first, in one switch: it is most of what packing
// costs.
func (a *arguments) word(index int, value any, strict bool) (word uint64, bytes int, err error) {
	switch v := value.(type) {
	case int8:
		word, bytes = uint64(uint8(v)), 1
	case uint8:
		word, bytes = uint64(v), 1
	case bool:
		if v {
			word = 1
		}
		bytes = 1
	case int16:
		word, bytes = uint64(uint16(v)), 2
	case uint16:
		word, bytes = uint64(v), 2
	case int32:
		word, bytes = uint64(uint32(v)), 4
	case uint32:
		word, bytes = uint64(v), 4
	case float32:
		word, bytes = uint64(math.Float32bits(v)), 4
	case int64:
		word, bytes = uint64(v), 8
	case uint64:
		word, bytes = v, 8
	case float64:
		word, bytes = math.Float64bits(v), 8
	case device.Pointer:
		word, bytes = uint64(v), pointerBytes
		err = a.countRaw(v, strict)
	case *column.Column:
		bytes = pointerBytes
		word, err = a.addressOfValues(index, v)
	case output:
		if err := v.check(); err != nil {
			return 0, 0, err
		}
		return a.word(index, v.region, strict)
	case memory.Region:
		bytes = pointerBytes
		word, err = a.addressOf(index, v)
	}
	return word, bytes, err
}

const pointerBytes = 8

// addressOfValues returns where a column's values begin. A column that has no
// values of a fixed width would pass for an empty one.
func (a *arguments) addressOfValues(index int, c *column.Column) (address uint64, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if _, err := c.ValuesRegion(); err != nil {
		return 0, err
	}
	return a.addressOf(index, c)
}

// addressOf returns where a region begins, and notes its block.
func (a *arguments) addressOf(index int, r memory.Region) (address uint64, err error) {
	block := r.Block()
	if block == nil {
		if _, isBlock := r.(*memory.Block); isBlock || r.Bytes() != 0 {
			return 0, block.Check() // the error for a nil block
		}
		return 0, nil
	}
	slice, ok := r.(interface{ IsUnordered() bool })
	a.note(region{index, block, ok && slice.IsUnordered()})
	if r.Bytes() == 0 {
		return 0, nil
	}
	return uint64(r.Pointer()), nil
}

// note keeps a block, once. Often the columns of a table lie in one.
func (a *arguments) note(r region) {
	known := len(a.regions) - 1
	if known < 0 || a.regions[known].block != r.block {
		known = slices.IndexFunc(a.regions, func(other region) bool { return other.block == r.block })
	}
	if known < 0 {
		a.regions = append(a.regions, r)
		return
	}
	a.regions[known].unordered = a.regions[known].unordered && r.unordered
}

// order makes the stream wait, on the device, for the work that is pending on the
// memory.
func (a *arguments) order(stream *device.Stream) error {
	for _, r := range a.regions {
		if r.unordered {
			continue
		}
		if err := r.block.OrderBefore(stream); err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
	}
	return nil
}

// countRaw counts an address that belongs to no block, or refuses it.
func (a *arguments) countRaw(pointer device.Pointer, strict bool) error {
	switch {
	case pointer == 0:
		return nil
	case strict:
		return fmt.Errorf("a raw device.Pointer, whose memory nobody is told is in use, in a strict module: pass the block or a slice of it: %w", device.ErrInvalidValue)
	}
	a.unrecorded++
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

// checkRegions refuses memory of another device or of a capture that the stream is
// not of, and in a strict module memory whose contents may not be ready.
func (a *arguments) checkRegions(stream *device.Stream, strict bool) error {
	dev := stream.Device()
	for _, r := range a.regions {
		if own := r.block.Stream(); own != stream && own.Capturing() {
			return &ArgumentError{Index: r.index, Reason: fmt.Errorf(
				"its memory was allocated on a stream that is captured, the launch is on another one, which is not: pass the captured one: %w",
				device.ErrCapturing)}
		}
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

// record notes on every block that the stream uses it, or has its capture hold it.
func (a *arguments) record(stream *device.Stream) error {
	for _, r := range a.regions {
		captured, err := streamwork.Hold(stream, r.block)
		if !captured {
			err = r.block.RecordUse(stream)
		}
		if err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
	}
	return nil
}
