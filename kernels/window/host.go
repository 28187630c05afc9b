package window

import (
	"errors"
	"math"
	"unsafe"
)

// hostInput and hostOutput are what [input] and [output] are, within reach.
type hostInput struct {
	values, valid []byte
	bit, rows     int
}

type hostOutput struct{ values, valid []byte }

func (in hostInput) isValid(row int) bool {
	at := in.bit + row
	return in.valid == nil || in.valid[at/8]>>(at%8)&1 != 0
}

func (out hostOutput) setValid(row int) {
	if out.valid != nil {
		out.valid[row/8] |= 1 << (row % 8)
	}
}

// onHost returns both within reach, with as many rows as there are, and no output row
// valid yet.
func onHost(in input, out output) (hostInput, hostOutput, error) {
	values, valuesErr := in.values.Host()
	valid, validErr := in.valid.Host()
	outValues, outErr := out.values.Host()
	outValid, outValidErr := out.valid.Host()
	counted, rowsErr := in.counted.Host()
	if err := errors.Join(valuesErr, validErr, outErr, outValidErr, rowsErr); err != nil {
		return hostInput{}, hostOutput{}, err
	}
	n := in.rows
	if len(counted) > 0 {
		n = int(min(max(counted[0], 0), int64(n)))
	}
	if len(valid) == 0 {
		valid = nil
	}
	if len(outValid) == 0 {
		outValid = nil
	}
	clear(outValid)
	return hostInput{values, valid, in.bit, n}, hostOutput{outValues, outValid}, nil
}

// as returns bytes as the values that they are.
func as[T any](bytes []byte) []T {
	if len(bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), len(bytes)/int(unsafe.Sizeof(*new(T))))
}

func (o how) onHost(s storage, in input, out output, options Options) error {
	from, to, err := onHost(in, out)
	if err != nil {
		return err
	}
	writeValidity(from, to, options.SkipNulls)
	switch {
	case s.class == float && o < minimum:
		o.floats(s, from, to)
	case s.class == float:
		o.lowestFloat(s, from, to)
	case s.bytes == 16:
		o.decimals(from, to)
	case s.bytes == 1:
		integers[uint8](o, s, from, to)
	case s.bytes == 2:
		integers[uint16](o, s, from, to)
	case s.bytes == 4:
		integers[uint32](o, s, from, to)
	default:
		integers[uint64](o, s, from, to)
	}
	return nil
}

func writeValidity(in hostInput, out hostOutput, skip bool) {
	for row := range in.rows {
		if in.isValid(row) {
			out.setValid(row)
		} else if !skip {
			return
		}
	}
}

// integers folds as the kernels do: the order makes no difference.
func integers[T uint8 | uint16 | uint32 | uint64](o how, s storage, in hostInput, out hostOutput) {
	values, results := as[T](in.values), as[T](out.values)
	turn, so := T(o.turn(s)), T(0)
	switch o {
	case product:
		so = 1
	case minimum, maximum:
		so = ^so
	}
	for row := range in.rows {
		if in.isValid(row) {
			switch o {
			case sum:
				so += values[row]
			case product:
				so *= values[row]
			default:
				so = min(so, values[row]^turn)
			}
		}
		results[row] = so
		if o >= minimum {
			results[row] = so ^ turn
		}
	}
}

// lowestFloat folds minima and maxima as integers of the same order.
func (o how) lowestFloat(s storage, in hostInput, out hostOutput) {
	so := uint64(math.MaxUint64)
	for row := range in.rows {
		if in.isValid(row) {
			so = min(so, o.key(floatAt(s, in.values, row)))
		}
		putFloat(s, out.values, row, o.unkey(so))
	}
}

// nanKey stands behind all numbers, before what stands for no value.
const nanKey = math.MaxUint64 - 1

func (o how) key(x float64) uint64 {
	if x != x {
		return nanKey
	}
	key := math.Float64bits(x)
	key ^= uint64(int64(key)>>63) | 1<<63
	if o == maximum {
		key = ^key
	}
	return key
}

func (o how) unkey(key uint64) float64 {
	if key >= nanKey {
		return math.NaN()
	}
	if o == maximum {
		key = ^key
	}
	return math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
}
