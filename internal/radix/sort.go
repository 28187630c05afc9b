package radix

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// MostRows is the most rows of a sort.
const MostRows = math.MaxUint32

// Numbers selects the 32-bit numbers that travel with the keys.
type Numbers int

const (
	// NoNumbers moves the keys alone.
	NoNumbers Numbers = iota
	// RowNumbers writes the numbers of the rows in their new order, counted from 0.
	RowNumbers
	// GivenNumbers moves the numbers that the caller has written.
	GivenNumbers
	// PackedNumbers takes the numbers from the bits of the keys below Low. The keys have
	// 64 bits, and are undefined after the sort.
	PackedNumbers
)

// Encoding maps the values of Buffers.Input to keys and back. The bits of Negative are
// inverted in values with their highest bit set, those of Positive in others. Then
// Subtract is subtracted, and the bits of Flip are inverted. Positive and Negative both
// have the highest bit, or are zero.
type Encoding struct{ Positive, Negative, Subtract, Flip uint64 }

// Sort describes a sort. Rows with equal bits keep their order.
type Sort struct {
	// Width is the width of a key in bits, 32 or 64.
	Width int
	// The keys are sorted by bits Low to High-1.
	Low, High int
	// Rows is the number of keys or, if Counted has memory, their maximum.
	Rows    int
	Counted memory.Slice[int64]
	Numbers Numbers
	// Input is set if the keys are the encoded values of Buffers.Input. The result are the
	// values in order.
	Input    bool
	Encoding Encoding
	// DropKeys leaves the keys undefined after the sort, which saves time if only the numbers are used.
	DropKeys bool
	// Limits are zero but in tests.
	Limits Limits
}

// Limits are the sizes at which the method changes. Zero fields have defaults.
type Limits struct {
	// OneBlock is the most rows that one block sorts.
	OneBlock int
	// Finishing is the fewest rows of which only leading digits may be sorted by passes.
	Finishing int
	// PortionTiles is the number of tiles of a launch.
	PortionTiles int
}

// Buffers is the memory of a sort. The caller writes the keys, and the numbers if they
// are given, to the buffers with index [Sort.Source]. The result is in buffers 0.
type Buffers struct {
	// Input, if the sort has one, is only read. The keys are not written then.
	Input   memory.Slice[uint8]
	Keys    [2]memory.Slice[uint8]
	Numbers [2]memory.Slice[uint8]
	// State has the length of [Sort.StateBytes].
	State memory.Slice[uint8]
}

// Constants of the kernels: see plan.cuh, pass.cuh, bitonic.cuh and radix.cu.
const (
	digitBits   = 8
	digitValues = 1 << digitBits
	mostDigits  = 8
	mostSlots   = mostDigits + 1
	// slotBytes is the size of the kernels' Slot.
	slotBytes = 4 * 7
	// planBytes is the size of the kernels' Plan.
	planBytes = 4 * (5 + mostDigits + 1 + 1 + 2*mostSlots + 2*mostSlots*slotBytes/4 + 2*mostDigits + 2*mostDigits*digitValues + 2*digitValues)
	// stateOffset is where the state of the tiles begins.
	stateOffset = (planBytes + 255) / 256 * 256

	smallRows, smallThreads = 4096, 1024
	histogramThreads        = 256
	// histogramRows is the fewest rows for which a block is worth its start.
	histogramRows           = 4096
	passThreads, passBlocks = 512, 2

	// The counts of a portion have 30 bits.
	portionRows   = 1 << 29
	finishingRows = 1 << 20
	// finishingDigits is the fewest digits of which some may be left to the last step: many
	// rows differ in no fewer than four.
	finishingDigits = 5
	// input is the index of the buffer that is not written.
	input = 2
	// residentBlocks is the number of blocks for each multiprocessor of kernels with
	// threads that loop over the rows.
	residentBlocks = 8
)

func (s *Sort) digits() int { return (s.High - s.Low + digitBits - 1) / digitBits }

// small reports whether one block sorts the rows.
func (s *Sort) small() bool { return s.Rows <= limit(s.Limits.OneBlock, smallRows) }

func (s *Sort) finishing() bool {
	return s.Width == 64 && s.digits() >= finishingDigits && s.Numbers != PackedNumbers && s.Rows >= limit(s.Limits.Finishing, finishingRows)
}

// passItems is the number of rows of a thread in a pass, by width and by whether numbers
// travel along.
var passItems = [2][3]int{{24, 16}, {14, 12, 14}}

// payload returns the index of the kernels for the numbers.
func (s *Sort) payload() int {
	switch s.Numbers {
	case NoNumbers:
		return 0
	case PackedNumbers:
		return 2
	}
	return 1
}

func (s *Sort) tileRows() int {
	return passThreads * passItems[index(s.Width == 64)][s.payload()]
}

// passBytes is the size of the kernels' PassMemory.
func (s *Sort) passBytes() uint32 {
	const counters = passThreads / 32 * digitValues * 4
	const digits, tile = 3 * digitValues * 4, passThreads/32*4 + 3*4 + slotBytes
	bytes := max(counters, s.tileRows()*s.Width/8) + digits + tile
	return uint32(bytes+7) &^ 7
}

// tiles returns the number of tiles of a launch, and the number of launches of a pass.
func (s *Sort) tiles() (tiles, portions int) {
	rows := s.tileRows()
	tiles = (s.Rows + rows - 1) / rows
	most := limit(s.Limits.PortionTiles, portionRows/rows)
	if tiles <= most {
		return tiles, 1
	}
	return most, (tiles + most - 1) / most
}

func limit(given, otherwise int) int {
	if given == 0 {
		return otherwise
	}
	return given
}

// Source returns the index of the buffers that the caller writes the keys to. It is
// chosen so that the result is in buffers 0 if no digit can be skipped.
func (s *Sort) Source() int {
	switch {
	case s.Input:
		return input
	case s.small():
		return 0
	}
	return s.digits() % 2
}

// KeyBytes returns the size of one buffer of keys, NumberBytes of one of numbers.
func (s *Sort) KeyBytes() uint64 { return uint64(s.Rows) * uint64(s.Width/8) }

// NumberBytes is 0 if no numbers travel with the keys. Packed numbers need only buffer 0.
func (s *Sort) NumberBytes() uint64 {
	if s.Numbers == NoNumbers {
		return 0
	}
	return uint64(s.Rows) * 4
}

// SecondBuffers reports whether buffers 1 are used. If not, they may be empty.
func (s *Sort) SecondBuffers() bool { return !s.small() }

// StateBytes returns the size of the memory that the kernels share.
func (s *Sort) StateBytes() uint64 {
	if s.small() {
		return 0
	}
	return stateOffset + 2*s.areaBytes()
}

func (s *Sort) areaBytes() uint64 {
	tiles, _ := s.tiles()
	return uint64(tiles) * digitValues * 4
}

// Check refuses what the kernels cannot sort.
func (s *Sort) Check() error {
	switch {
	case s.Width != 32 && s.Width != 64:
		return fmt.Errorf("keys of %d bits, must be 32 or 64: %w", s.Width, device.ErrNotSupported)
	case s.Numbers == PackedNumbers && s.Width != 64:
		return fmt.Errorf("packed numbers in keys of %d bits, must be 64: %w", s.Width, device.ErrNotSupported)
	case s.Low < 0 || s.High <= s.Low || s.High > s.Width:
		return fmt.Errorf("bits %d to %d of keys of %d bits: %w", s.Low, s.High, s.Width, device.ErrInvalidValue)
	case s.Rows < 0 || uint64(s.Rows) > MostRows:
		return fmt.Errorf("%d rows, at most %d can be sorted: %w", s.Rows, uint64(MostRows), device.ErrNotSupported)
	}
	return nil
}

// Run enqueues the sort. It does not wait.
func (s *Sort) Run(call *op.Call, b Buffers) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("radix: %w", err)
	}
	if s.Rows == 0 {
		return nil
	}
	l := launcher{Sort: s, call: call, buffers: b, names: &kernelNames[index(s.Width == 64)][s.payload()]}
	if err := l.run(); err != nil {
		return fmt.Errorf("radix: %w", err)
	}
	return nil
}
