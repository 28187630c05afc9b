package radix

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
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
//
// If Infinity is not zero it has the bits of a float, and NaN those of a NaN. Then −0 and 0
// have one key, and all NaNs have the key of NaN. Their bits are restored after the sort.
type Encoding struct{ Positive, Negative, Subtract, Flip, Infinity, NaN uint64 }

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
	// WideNumbers is set if the given numbers have 64 bits. Input is set then, too.
	WideNumbers bool
	// Input is set if the keys are the encoded values of Buffers.Input, and given numbers are
	// those of Buffers.InputNumbers. The result are the values in order.
	Input    bool
	Encoding Encoding
	// Valid is the bitmap of the input of keys of 32 bits alone, if some may be null, and ValidBit
	// the bit of the first one. The values of nulls come last, or first with NullsFirst, and
	// are undefined.
	Valid      memory.Slice[uint8]
	ValidBit   int
	NullsFirst bool
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
	// Undetected sorts by all digits, also if keys are sorted or share digits.
	Undetected bool
	// Form replaces the kernels of keys alone. No block sorts all rows then.
	Form *Form
}

// Form is another form of the kernels, to measure it: of passes and, for digits of another
// width, of the kernels before them.
type Form struct {
	Kernels *kernelset.Set
	File    string
	// Suffix is the end of the name of the kernel of a pass.
	Suffix string
	// DigitBits is the width of a digit, and Items the number of rows of a thread.
	DigitBits, Items int
}

// Buffers is the memory of a sort. The caller writes the keys, and the numbers if they
// are given, to the buffers with index [Sort.Source]. The result is in buffers 0. If the sort
// has an Input, these are not written by the caller.
type Buffers struct {
	// Input and InputNumbers are only read.
	Input, InputNumbers memory.Slice[uint8]
	// Sorted is the result instead of Keys[0] if the sort is [Sort.Paired]. It may be empty
	// if the keys are dropped.
	Sorted  memory.Slice[uint8]
	Keys    [2]memory.Slice[uint8]
	Numbers [2]memory.Slice[uint8]
	// State has the length of [Sort.StateBytes].
	State memory.Slice[uint8]
}

// DigitBits is the width of a digit.
const DigitBits = 8

// Constants of the kernels: see plan.cuh, pass.cuh, bitonic.cuh and radix.cu.
const (
	mostDigits = 8
	mostSlots  = mostDigits + 1
	rounds     = 3
	// slotBytes is the size of the kernels' Slot.
	slotBytes = 4 * 7

	smallRows, smallThreads = 4096, 1024
	histogramThreads        = 256
	restoreThreads          = 256
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

// Numbers of the kernels' Round.
const (
	firstRound = iota
	secondRound
	narrowRound
)

func (s *Sort) digitBits() int {
	if s.Limits.Form != nil {
		return s.Limits.Form.DigitBits
	}
	return DigitBits
}

func (s *Sort) digitValues() int { return 1 << s.digitBits() }

func (s *Sort) digits() int { return (s.High - s.Low + s.digitBits() - 1) / s.digitBits() }

// stateOffset is where the state of the tiles begins, behind the kernels' Plan.
func (s *Sort) stateOffset() int {
	words := planWords + (2*mostDigits+2)*s.digitValues()
	return (4*words + 255) / 256 * 256
}

// planWords are the words of the kernels' Plan before the counts of the digits.
const planWords = 6 + mostDigits + 1 + 1 + rounds*mostSlots + rounds*mostSlots*slotBytes/4 + 3*mostDigits

// OneDigit reports whether the keys have one digit, and more than one block sorts them. Then
// [Sort.DigitBegins] has the result, and the keys can be dropped.
func (s *Sort) OneDigit() bool { return s.digits() == 1 && !s.small() }

// DigitBegins returns, of the state of a sort with one digit, 2^DigitBits words of 32 bits: the
// number of keys that are less than each value of the digit. They are there after the sort.
func (s *Sort) DigitBegins(state memory.Slice[uint8]) (memory.Slice[uint8], error) {
	begin := 4 * (planWords + mostDigits*s.digitValues())
	return state.Slice(begin, begin+4*s.digitValues())
}

// small reports whether one block sorts the rows.
func (s *Sort) small() bool {
	return s.Limits.Form == nil && s.Rows <= limit(s.Limits.OneBlock, smallRows)
}

// whole reports whether the rows are sorted by all bits of their keys.
func (s *Sort) whole() bool { return s.Low == 0 && s.High == s.Width }

// narrowing reports whether keys of 64 bits may be sorted by their low halves: if all have the same high half.
func (s *Sort) narrowing() bool {
	return s.Width == 64 && s.Numbers == NoNumbers && s.Input && s.whole() && s.Limits.Form == nil
}

func (s *Sort) finishing() bool {
	return s.Limits.Form == nil && s.Width == 64 && s.digits() >= finishingDigits && s.Numbers != PackedNumbers && s.Rows >= limit(s.Limits.Finishing, finishingRows)
}

// Paired reports whether keys and numbers of 32 bits travel in one word, between the first
// pass, which reads them apart, and the last one, which writes them apart. That is faster than
// to move two words of 32 bits.
func (s *Sort) Paired() bool {
	return s.Width == 32 && s.Input && (s.Numbers == RowNumbers || s.Numbers == GivenNumbers && !s.WideNumbers)
}

// payload is the data that travels with the keys: Payload of plan.cuh.
type payload int

const (
	alone payload = iota
	rows
	packed
	wide
	paired
	narrowed
	payloads
)

// passItems is the number of rows of a thread in a pass, by width and payload.
var passItems = [2][payloads]int{{alone: 24, rows: 16, wide: 12, paired: 14}, {alone: 14, rows: 12, packed: 14, wide: 12, narrowed: 24}}

func (s *Sort) payload() payload {
	switch {
	case s.Numbers == NoNumbers:
		return alone
	case s.Numbers == PackedNumbers:
		return packed
	case s.Paired():
		return paired
	case s.WideNumbers:
		return wide
	}
	return rows
}

// passOf is the size of a pass with a payload.
type passOf struct {
	*Sort
	payload payload
}

func (p passOf) tileRows() int {
	if form := p.Limits.Form; form != nil {
		return passThreads * form.Items
	}
	return passThreads * passItems[index(p.Width == 64)][p.payload]
}

// sharedBytes is the size of the kernels' PassMemory.
func (p passOf) sharedBytes() uint32 {
	const tile = passThreads/32*4 + 4*4 + slotBytes
	counters, digits := 2*passThreads/32*p.digitValues()*4, 3*p.digitValues()*4
	element := p.keyBytes()
	switch {
	case p.WideNumbers:
		element = 8
	case p.payload == narrowed:
		element = 4
	}
	bytes := max(counters, p.tileRows()*element) + digits + tile
	return uint32(bytes+7) &^ 7
}

// tiles returns the number of tiles of a launch, and the number of launches of a pass.
func (p passOf) tiles() (tiles, portions int) {
	rows := p.tileRows()
	tiles = (p.Rows + rows - 1) / rows
	most := limit(p.Limits.PortionTiles, portionRows/rows)
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

// keyBytes is the size of an element of Buffers.Keys.
func (s *Sort) keyBytes() int {
	if s.Paired() {
		return 8
	}
	return s.Width / 8
}

// KeyBytes returns the size of one buffer of keys, or of pairs.
func (s *Sort) KeyBytes() uint64 { return uint64(s.Rows) * uint64(s.keyBytes()) }

// NumberBytes returns the size of one buffer of numbers. It is 0 if no numbers travel with the
// keys. Packed numbers and pairs need only buffer 0.
func (s *Sort) NumberBytes() uint64 {
	switch {
	case s.Numbers == NoNumbers:
		return 0
	case s.WideNumbers:
		return uint64(s.Rows) * 8
	}
	return uint64(s.Rows) * 4
}

// InputScratch returns the sizes of the memory that a sort with an Input needs in addition
// to its results: the two buffers of keys, of which the first one is the result if the sort is not
// Paired, the second buffer of numbers, and the state.
func (s *Sort) InputScratch() [4]uint64 {
	if s.Rows == 0 {
		return [4]uint64{}
	}
	sizes := [4]uint64{3: s.StateBytes()}
	if s.SecondBuffers() {
		sizes[1] = s.KeyBytes()
		if s.Paired() {
			sizes[0] = s.KeyBytes()
		} else {
			sizes[2] = s.NumberBytes()
		}
	}
	if s.DropKeys && !s.Paired() {
		sizes[0] = s.KeyBytes()
	}
	return sizes
}

// SecondBuffers reports whether buffers 1 are used. If not, they may be empty.
func (s *Sort) SecondBuffers() bool { return !s.small() }

// StateBytes returns the size of the memory that the kernels share.
func (s *Sort) StateBytes() uint64 {
	if s.small() {
		return 0
	}
	return uint64(s.stateOffset()) + 2*s.areaBytes()
}

func (s *Sort) areaBytes() uint64 {
	tiles, _ := passOf{s, s.payload()}.tiles()
	if s.narrowing() {
		narrow, _ := passOf{s, narrowed}.tiles()
		tiles = max(tiles, narrow)
	}
	return uint64(tiles) * uint64(s.digitValues()) * 4
}

// Check refuses what the kernels cannot sort.
func (s *Sort) Check() error {
	switch {
	case s.Width != 32 && s.Width != 64:
		return fmt.Errorf("keys of %d bits, must be 32 or 64: %w", s.Width, device.ErrNotSupported)
	case s.Numbers == PackedNumbers && s.Width != 64:
		return fmt.Errorf("packed numbers in keys of %d bits, must be 64: %w", s.Width, device.ErrNotSupported)
	case s.Input && s.Numbers == PackedNumbers:
		return fmt.Errorf("packed numbers of an input: %w", device.ErrNotSupported)
	case s.Encoding.Infinity != 0 && (s.Low > 0 || s.High < s.Width):
		return fmt.Errorf("floats by bits %d to %d, must be all %d: %w", s.Low, s.High, s.Width, device.ErrNotSupported)
	case s.Valid.Len() > 0 && (s.Width != 32 || !s.Input || s.Numbers != NoNumbers || !s.whole() || s.Encoding.Infinity != 0):
		return fmt.Errorf("nulls among keys of %d bits, must be values of 32 bits alone: %w", s.Width, device.ErrNotSupported)
	case s.Limits.Form != nil && s.Numbers != NoNumbers:
		return fmt.Errorf("another form of the kernels for keys with numbers, must be for keys alone: %w", device.ErrNotSupported)
	case s.WideNumbers && (s.Numbers != GivenNumbers || !s.Input):
		return fmt.Errorf("numbers of 64 bits, which only an input with given numbers has: %w", device.ErrNotSupported)
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
