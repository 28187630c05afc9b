// Package textparse reads floats and timestamps from strings, for casts in expressions.
//
// Floats have the syntax of strconv.ParseFloat without underscores and hexadecimal digits,
// and its results; a number beyond the type is null. Timestamps are YYYY-MM-DD, with a time
// HH:MM, HH:MM:SS or HH:MM:SS.fraction behind T or a space, and then Z or an offset ±HH:MM,
// ±HHMM or ±HH. Without an offset they are in UTC. Digits of the fraction beyond the unit
// are cut off. Other strings are null. On the host, internal/text/textvalue reads them.
package textparse

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/internal/text/textvalue"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda ../../../kernels/include/float.cuh ../../../kernels/include/strings.cuh
//go:embed cuda/*.ptx.packed
var code embed.FS

var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const threads = 256

// Reads reports whether Parse gives values of a type.
func Reads(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.FLOAT32, arrow.FLOAT64, arrow.TIMESTAMP:
		return true
	}
	return false
}

// IsText reports whether Parse takes strings of a type.
func IsText(t arrow.DataType) bool {
	switch layout.Storage(t).ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return true
	}
	return false
}

// Parse reads the values of a column of strings. The caller releases the result.
func Parse(ctx context.Context, c *column.Column, to arrow.DataType, options kernels.Options) (*column.Column, error) {
	if !Reads(to) || !IsText(c.Type()) {
		return nil, fmt.Errorf("textparse: %v from %v: %w", to, c.Type(), device.ErrNotSupported)
	}
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	in, err := viewOf(&call, c)
	if err != nil {
		return nil, err
	}
	return call.NewColumn(op.Result{Type: to, Length: c.Len(), RowCount: c.RowCount(), Nullable: true}, func(out op.Buffers) error {
		switch {
		case c.Len() == 0:
			return nil
		case call.OnHost():
			return in.onHost(&call, out, to)
		}
		return in.onDevice(&call, out, to)
	})
}

// view is a column of strings as kernels take it.
type view struct {
	column               *column.Column
	offsets, data, valid column.Bytes
	width, bit, rows     int
	counted              memory.Slice[int64]
}

func viewOf(call *op.Call, c *column.Column) (v view, err error) {
	l, err := layout.Of(c.Type())
	if err != nil {
		return v, err
	}
	v.column = c
	if v.rows, v.counted, err = c.Extent(call.Context()); err != nil || c.Len() == 0 {
		return v, err
	}
	if op.Nullable(c) {
		if v.valid, v.bit, err = c.Validity(); err != nil {
			return v, err
		}
	}
	v.width, v.data = l.Width, c.Buffer(2)
	v.offsets, err = c.Buffer(1).Slice(c.Offset()*v.width, (c.Offset()+c.Len()+1)*v.width)
	return v, err
}

func (v *view) onDevice(call *op.Call, out op.Buffers, to arrow.DataType) error {
	entry := "parse_floats"
	if to.ID() == arrow.TIMESTAMP {
		entry = "parse_timestamps"
	}
	kernel, err := call.Kernel(&set, "parse", entry)
	if err != nil {
		return err
	}
	l := stringsLayout{
		offsets: v.offsets, data: v.data, valid: v.valid, bit: uint64(v.bit), counted: v.counted, rows: int64(v.rows),
		capacity: uint64(v.column.Len()), extent: uint64(v.data.Len()), width: uint32(v.width),
	}
	texts := l.asArgument()
	grid := kernels.GridFor((v.column.Len()+63)/64*64, threads)
	if to.ID() == arrow.TIMESTAMP {
		return kernel.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, out.Values, out.Valid, texts, exprtree.UnitOf(to))
	}
	powers := PowersOfFive()
	block, scratch, err := call.Scratch(uint64(len(powers)))
	if err != nil {
		return err
	}
	err = scratch[0].Upload(call.Context(), call.Stream, powers)
	fives := powersLayout{words: scratch[0]}
	mantissa := uint32(53)
	if to.ID() == arrow.FLOAT32 {
		mantissa = 24
	}
	if err == nil {
		err = kernel.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, out.Values, out.Valid, texts, fives.asArgument(), mantissa)
	}
	return errors.Join(err, block.Release())
}

// The powers that float.cuh has.
const leastPower, greatestPower = -400, 400

// PowersOfFive returns the leading 128 bits of the powers from 5^-400 to 5^400, rounded down:
// high and low word of each.
var PowersOfFive = sync.OnceValue(func() []byte {
	var words []byte
	five, mask := big.NewInt(5), new(big.Int).SetUint64(math.MaxUint64)
	for q := leastPower; q <= greatestPower; q++ {
		power := new(big.Int).Exp(five, big.NewInt(int64(max(q, -q))), nil)
		if q < 0 {
			power.Quo(new(big.Int).Lsh(big.NewInt(1), uint(power.BitLen()+127)), power)
		}
		if n := power.BitLen(); n < 128 {
			power.Lsh(power, uint(128-n))
		} else {
			power.Rsh(power, uint(n-128))
		}
		words = binary.NativeEndian.AppendUint64(words, new(big.Int).Rsh(power, 64).Uint64())
		words = binary.NativeEndian.AppendUint64(words, new(big.Int).And(power, mask).Uint64())
	}
	return words
})

func (v *view) onHost(call *op.Call, out op.Buffers, to arrow.DataType) error {
	offsets, offsetsErr := v.offsets.Host()
	data, dataErr := v.data.Host()
	valid, validErr := v.valid.Host()
	counted, countErr := v.counted.Host()
	results, madeErr := out.Host()
	if err := errors.Join(offsetsErr, dataErr, validErr, countErr, madeErr); err != nil {
		return err
	}
	rows := v.rows
	if len(counted) > 0 {
		rows = int(min(max(counted[0], 0), int64(rows)))
	}
	clear(results.Values)
	unit := int64(1)
	if to.ID() == arrow.TIMESTAMP {
		unit = exprtree.UnitOf(to)
	}
	return parallel.Run(call.Context(), rows, parallel.Parts(rows), func(_, begin, end int) {
		for row := begin; row < end; row++ {
			if at := v.bit + row; len(valid) > 0 && valid[at/8]>>(at%8)&1 == 0 {
				continue
			}
			if writes(results, row, v.text(offsets, data, row), to.ID(), unit) {
				results.SetValid(row)
			}
		}
	})
}

// text returns a row. One that reaches beyond the data is empty.
func (v *view) text(offsets, data []byte, row int) string {
	var begin, end int64
	if v.width == 4 {
		words := op.Elements[int32](offsets)
		begin, end = int64(words[row]), int64(words[row+1])
	} else {
		words := op.Elements[int64](offsets)
		begin, end = words[row], words[row+1]
	}
	if begin < 0 || begin > end || end > int64(len(data)) {
		return ""
	}
	return string(data[begin:end])
}

// writes writes the value of a text, and reports whether it has one.
func writes(to op.HostBuffers, row int, text string, id arrow.Type, unit int64) bool {
	switch id {
	case arrow.FLOAT64:
		x, ok := textvalue.Float(text, 64)
		op.Elements[float64](to.Values)[row] = x
		return ok
	case arrow.FLOAT32:
		x, ok := textvalue.Float(text, 32)
		op.Elements[float32](to.Values)[row] = float32(x)
		return ok
	}
	x, _, ok := textvalue.Timestamp(text, unit)
	op.Elements[int64](to.Values)[row] = x
	return ok
}
