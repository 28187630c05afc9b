package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// arguments are the packed arguments of one launch and the memory that they refer to.
// They are pooled: values passed to a driver escape, so an array on the stack would be
// allocated for each launch.
type arguments struct {
	slots  []uint64
	starts []uint32
	// regions has one memory argument for each block, the first.
	regions []region
	// held is the number of regions with a retained block.
	held int
	// unrecorded counts the arguments without a known block.
	unrecorded uint64
}

// region is a memory argument.
type region struct {
	index int
	block *memory.Block
	// unordered exempts the block from waiting: all arguments in it are slices of
	// memory.Slice.Unordered.
	unordered bool
}

var argumentsPool = sync.Pool{New: func() any { return new(arguments) }}

func takeArguments() *arguments { return argumentsPool.Get().(*arguments) }

// giveBack drops the blocks, because the pool would keep them from being collected.
func (a *arguments) giveBack() {
	clear(a.regions)
	a.slots, a.starts, a.regions = a.slots[:0], a.starts[:0], a.regions[:0]
	a.held, a.unrecorded = 0, 0
	argumentsPool.Put(a)
}

// pack writes each value at its width into slots of eight bytes, and checks it against
// the kernel's parameters.
func (a *arguments) pack(values []any, takes signature, strict bool) error {
	if takes.known && len(values) != len(takes.parameters) {
		return fmt.Errorf("%d arguments, expected %s: %w", len(values), takes, device.ErrInvalidValue)
	}
	for i, value := range values {
		a.starts = append(a.starts, uint32(len(a.slots)))
		bytes, err := a.add(i, value, strict)
		if err == nil && takes.known && bytes != takes.parameters[i].Bytes {
			err = fmt.Errorf("a value of %d bytes (%s), expected %d bytes: %w", bytes, typeOf(value), takes.parameters[i].Bytes, device.ErrInvalidValue)
		}
		if err != nil {
			return &ArgumentError{Index: i, Reason: err}
		}
	}
	return nil
}

// String formats the number and the widths of the parameters.
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
		// The kernel reads the low bytes of the slot of a shorter value.
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

// word returns a value that fits one word, and its width in bytes. For other types, which
// may not be arguments at all, the width is zero. The most frequent types come first, in
// one switch, because this switch is most of the cost of packing.
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

// addressOfValues returns the address of a column's values. It refuses a column without
// values of a fixed width, which would look empty.
func (a *arguments) addressOfValues(index int, c *column.Column) (address uint64, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if _, err := c.ValuesRegion(); err != nil {
		return 0, err
	}
	return a.addressOf(index, c)
}

// addressOf returns the address of a region and records its block.
func (a *arguments) addressOf(index int, r memory.Region) (address uint64, err error) {
	block := r.Block()
	if block == nil {
		if _, isBlock := r.(*memory.Block); isBlock || r.Bytes() != 0 {
			return 0, block.Check() // returns the error for a nil block
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

// note records each block once. The columns of a table often share one.
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

// order makes the stream wait, on the device, for pending work on the memory. reads is set for a
// kernel that writes to no settled memory.
func (a *arguments) order(stream *device.Stream, reads bool) error {
	order := (*memory.Block).OrderBefore
	if reads {
		order = (*memory.Block).OrderRead
	}
	for _, r := range a.regions {
		if r.unordered {
			continue
		}
		if err := order(r.block, stream); err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
	}
	return nil
}

// countRaw counts an address without a block, or refuses it.
func (a *arguments) countRaw(pointer device.Pointer, strict bool) error {
	switch {
	case pointer == 0:
		return nil
	case strict:
		return fmt.Errorf("a raw device.Pointer in a strict module, which cannot record the use of its memory: pass the block or a slice of it: %w", device.ErrInvalidValue)
	}
	a.unrecorded++
	return nil
}

// stream returns the stream of the first argument's memory, or nil.
func (a *arguments) stream() *device.Stream {
	if len(a.regions) == 0 {
		return nil
	}
	return a.regions[0].block.Stream()
}

// hold retains every block until release. Otherwise another goroutine could release a
// block between the launch and the record of its use, and the memory would be freed under
// the kernel.
func (a *arguments) hold() error {
	for _, r := range a.regions {
		if err := r.block.Retain(); err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
		a.held++
	}
	return nil
}

// release releases the blocks that hold retained. It returns err or, if err is nil, its
// first failure.
func (a *arguments) release(err error) error {
	for _, r := range a.regions[:a.held] {
		if failure := r.block.Release(); err == nil {
			err = failure
		}
	}
	a.held = 0
	return err
}

// checkRegions refuses memory of another device and memory of another stream's capture.
// For a strict module it also refuses memory with contents that may not be ready.
func (a *arguments) checkRegions(stream *device.Stream, strict bool) error {
	dev := stream.Device()
	for _, r := range a.regions {
		if own := r.block.Stream(); own != stream && own.Capturing() {
			return &ArgumentError{Index: r.index, Reason: fmt.Errorf(
				"its memory was allocated on a stream that is captured, the launch is on another one, which is not: pass the captured one: %w",
				device.ErrCapturing)}
		}
		if !r.block.Device().Same(dev) {
			return &ArgumentError{Index: r.index, Reason: fmt.Errorf("memory on %s, the launch is on %s: %w",
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

// record records the stream's use of every block, or adds the block to the stream's
// capture.
func (a *arguments) record(stream *device.Stream, reads bool) error {
	record := (*memory.Block).RecordUse
	if reads {
		record = (*memory.Block).RecordRead
	}
	for _, r := range a.regions {
		captured, err := streamwork.Hold(stream, r.block)
		if !captured {
			err = record(r.block, stream)
		}
		if err != nil {
			return &ArgumentError{Index: r.index, Reason: err}
		}
	}
	return nil
}
