package summary

import (
	"errors"
	"math"
	"sort"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/memory"
)

// hostInput is what [input] is, within reach.
type hostInput struct {
	number        number
	values, valid []byte
	bit, rows     int
}

func (in input) host(n number) (hostInput, error) {
	values, valuesErr := in.values.Host()
	valid, validErr := in.valid.Host()
	counted, countedErr := in.counted.Host()
	rows := in.rows
	if len(counted) > 0 {
		rows = int(min(max(counted[0], 0), int64(rows)))
	}
	return hostInput{n, values, valid, in.bit, rows}, errors.Join(valuesErr, validErr, countedErr)
}

func (in hostInput) isValid(row int) bool {
	at := in.bit + row
	return len(in.valid) == 0 || in.valid[at/8]>>(at%8)&1 != 0
}

// at returns the value of a row.
func at[T any](values []byte, row int) T {
	return *(*T)(unsafe.Pointer(&values[row*int(unsafe.Sizeof(*new(T)))]))
}

// integer returns the bits of a row's integer, its sign extended.
func (in hostInput) integer(row int) uint64 {
	switch in.number {
	case number{signed, 1}:
		return uint64(at[int8](in.values, row))
	case number{signed, 2}:
		return uint64(at[int16](in.values, row))
	case number{signed, 4}:
		return uint64(at[int32](in.values, row))
	case number{unsigned, 1}:
		return uint64(at[uint8](in.values, row))
	case number{unsigned, 2}:
		return uint64(at[uint16](in.values, row))
	case number{unsigned, 4}:
		return uint64(at[uint32](in.values, row))
	}
	return at[uint64](in.values, row)
}

// float returns a row's value, rounded where it is an integer of more than 53 bits.
func (in hostInput) float(row int) float64 {
	switch in.number {
	case number{float, 2}:
		return float64(float16.FromBits(at[uint16](in.values, row)).Float32())
	case number{float, 4}:
		return float64(at[float32](in.values, row))
	case number{float, 8}:
		return at[float64](in.values, row)
	}
	if in.number.class == unsigned {
		return float64(in.integer(row))
	}
	return float64(int64(in.integer(row)))
}

func (b bins) onHost(n number, in input, counts memory.Slice[int64]) error {
	from, err := in.host(n)
	if err != nil {
		return err
	}
	to, err := counts.Host()
	if err != nil {
		return err
	}
	clear(to)
	for row := range from.rows {
		if !from.isValid(row) {
			continue
		}
		if bin := b.of(from, row); bin >= 0 {
			to[bin]++
		}
	}
	return nil
}

// of returns the bin of a row's value, or −1.
func (b bins) of(in hostInput, row int) int {
	below, above := -1, -1
	if b.clamp {
		below, above = 0, b.count-1
	}
	if b.how <= wholeUnsigned {
		value := in.integer(row)
		distance := value - b.a
		switch {
		case in.number.class == unsigned && value < b.a, in.number.class == signed && int64(value) < int64(b.a):
			return below
		case distance > b.b:
			return above
		}
		return int(min(distance/b.c, uint64(b.count-1)))
	}
	value := in.float(row)
	low, high := math.Float64frombits(b.a), math.Float64frombits(b.b)
	switch {
	case value != value:
		return -1
	case value < low:
		return below
	case value > high:
		return above
	case b.how == byEdges:
		// The first lower edge that is above it, but for that of the first bin.
		return sort.Search(b.count-1, func(i int) bool { return b.edges[i+1] > value })
	}
	place := float64(value-low) * math.Float64frombits(b.c)
	if place < float64(b.count) {
		return int(place)
	}
	return b.count - 1
}
