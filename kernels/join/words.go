package join

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// words are the keys of the rows of a table as numbers of 32 or 64 bits, which are equal
// exactly if the keys are.
type words struct {
	values memory.Slice[uint8]
	wide   bool
	// valid has a bit for each row that can match, from bit bit on, or is empty if all can.
	valid memory.Slice[uint8]
	bit   int
	rows  int
	// bound is above all words, if it is not zero.
	bound uint64
	// column is the only key if its values are the words.
	column *column.Column
	// sign is the bit of the sign of signed integers.
	sign uint64
	// unique is set if no two words are equal.
	unique bool

	held release.Stack
}

// Release releases what the words hold.
func (w *words) Release() error {
	if w == nil {
		return nil
	}
	return w.held.Release()
}

// span returns the least word and the length of the range of the words that are valid, if they
// are known.
func (w *words) span() (least, length uint64, known bool) {
	if w.bound > 0 {
		return 0, w.bound, true
	}
	if w.column == nil {
		return 0, 0, false
	}
	bounds, known := w.column.Bounds()
	if length = bounds.Greatest - bounds.Least + 1; !known || length == 0 {
		return 0, 0, false
	}
	if !w.wide {
		bounds.Least &= math.MaxUint32
	}
	return bounds.Least, length, true
}

// learnSpan records the range of words that was measured.
func (w *words) learnSpan(least, length uint64) {
	if w.column == nil || length == 0 {
		return
	}
	if w.sign != 0 {
		least = (least ^ w.sign) - w.sign // extended by the sign
	}
	w.column.LearnBounds(column.Bounds{Least: least, Greatest: least + length - 1})
}

// argument returns the words as kernels take them.
func (w *words) argument() any {
	l := keysLayout{words: w.values, valid: w.valid, bit: uint64(w.bit), rows: uint64(w.rows)}
	return l.asArgument()
}

// width returns the suffix of kernels for the width of the words.
func (w *words) width() string {
	if w.wide {
		return "_64"
	}
	return "_32"
}

// hostWords are words in memory that the processor reads.
type hostWords struct {
	op.HostView
	wide bool
}

func (w *words) host() (hostWords, error) {
	values, valuesErr := w.values.Host()
	valid, validErr := w.valid.Host()
	if len(valid) == 0 {
		valid = nil
	}
	return hostWords{op.HostView{Values: values, Valid: valid, Bit: w.bit, Rows: w.rows}, w.wide}, errors.Join(valuesErr, validErr)
}

// word returns the word of a row.
func (w *hostWords) word(row int) uint64 {
	if w.wide {
		return op.Elements[uint64](w.Values[8*row : 8*row+8])[0]
	}
	return uint64(op.Elements[uint32](w.Values[4*row : 4*row+4])[0])
}

// fillValid finds the rows without a null key, unless nulls are equal.
func (w *words) fillValid(c *call, keys []*column.Column) (err error) {
	if c.nullsEqual {
		return nil
	}
	if len(keys) == 1 {
		if op.Nullable(keys[0]) {
			w.valid, w.bit, err = keys[0].Validity()
		}
		return err
	}
	table, _, err := keyTable(&w.held, keys)
	if err != nil {
		return err
	}
	valid, err := validKeys(c, &w.held, table)
	if err != nil || valid == nil {
		return err
	}
	w.valid = valid.Buffer(1)
	return nil
}

// encodeOnHost encodes all rows.
func (w *words) encodeOnHost(c *call, plan *rowkey.Plan) error {
	host, err := rowkey.NewHost(plan)
	if err != nil {
		return err
	}
	values, err := w.values.Host()
	if err != nil {
		return err
	}
	to := op.Elements[uint64](values)
	return c.each(w.rows, func(begin, end int) { host.Encode(0, 0, rowkey.Rows{First: begin}, to[begin:end]) })
}

// encodeOnDevice encodes all rows in scratch memory.
func (w *words) encodeOnDevice(c *call, plan *rowkey.Plan) error {
	sizes := plan.DeviceScratch()
	block, slices, err := c.allocate(append(sizes, plan.WordsBytes(w.rows))...)
	if err != nil {
		return err
	}
	w.held.Add(block)
	w.values, w.wide = slices[len(sizes)], plan.Segments[0].Width() == 8
	encoder, err := rowkey.NewDevice(&c.Call, plan, slices[:len(sizes)])
	if err != nil {
		return err
	}
	return encoder.Encode(0, 0, rowkey.DeviceRows{Rows: w.rows}, w.values)
}
