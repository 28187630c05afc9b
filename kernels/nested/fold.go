package nested

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Function is a fold of the elements of each list. Nulls are skipped. As for the aggregates
// of package reduce, the result is null for a list without values, except of Count; and a
// sum of integers is null if it exceeds its type.
type Function uint32

// The functions. Numbers are integers, float32 and float64. The numbers of the constants are
// those of lists.cu.
const (
	// Count is the number of elements that are not null, as int64. It takes all types.
	Count Function = iota
	// Sum is int64, uint64 or float64; of bools the number of true ones, as uint64; of
	// durations a duration.
	Sum
	// Min and Max take numbers, bools, dates, times, timestamps and durations. NaN gives way
	// to numbers, and -0 is less than 0.
	Min
	Max
	// Mean is float64, of numbers.
	Mean
	// Any and All take bools.
	Any
	All
	foldContains
	foldFind
	foldLength
)

var functionNames = [...]string{"count", "sum", "min", "max", "mean", "any", "all", "contains", "find", "length"}

// String returns the name.
func (f Function) String() string {
	if int(f) < len(functionNames) {
		return functionNames[f]
	}
	return fmt.Sprintf("Function(%d)", uint32(f))
}

// Fold is the fold of the elements of a list.
func Fold(e expr.Expr, f Function) expr.Expr { return expr.Apply(fold{f}, e) }

type fold struct{ function Function }

func (f fold) Name() string { return "list_" + f.function.String() }

func (f fold) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	if f.function > All {
		return nil, fmt.Errorf("%v is no function of lists: %w", f.function, expr.ErrType)
	}
	t := f.result(element.Type)
	if t == nil {
		return nil, fmt.Errorf("no %v of lists of %v: %w", f.function, render.TypeName(element.Type), expr.ErrType)
	}
	return t, nil
}

// result returns the type of the result for a type of elements, or nil.
func (f fold) result(element arrow.DataType) arrow.DataType {
	n, ok := numberOf(element)
	l, err := layout.Of(element)
	switch {
	case f.function == Count:
		return arrow.PrimitiveTypes.Int64
	case !ok || err != nil:
		return nil
	case f.function == Min || f.function == Max:
		return element
	case f.function == Any || f.function == All:
		if n == boolean {
			return arrow.FixedWidthTypes.Boolean
		}
		return nil
	case f.function == Sum && element.ID() == arrow.DURATION:
		return element
	case l.Class == layout.Temporal:
		return nil
	case f.function == Mean && n != boolean, f.function == Sum && n >= float4:
		return arrow.PrimitiveTypes.Float64
	case f.function == Sum && (n >= signed1 && n <= signed8 || n == boolean):
		return arrow.PrimitiveTypes.Int64
	case f.function == Sum:
		return arrow.PrimitiveTypes.Uint64
	}
	return nil
}

func (f fold) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		elements, err := f.elements(call, l)
		if err != nil {
			return nil, err
		}
		v, err := valuesOf(call, elements)
		if err != nil {
			return nil, errors.Join(err, elements.Release())
		}
		folded, err := l.fold(call, f.function, f.result(l.elements.Type()), v)
		return release.OnError(folded, err, elements.Release())
	})
}

// elements returns what the fold reads: the elements, or whether they are null.
func (f fold) elements(call *op.Call, l *lists) (*column.Column, error) {
	if _, ok := numberOf(l.elements.Type()); ok {
		return l.elements, l.elements.Retain()
	}
	// Only a count takes other types: it needs a bitmap.
	null := expr.Null(arrow.FixedWidthTypes.Boolean)
	return evaluate(call, l.elements, expr.If(expr.Col(elementName).IsValid(), expr.Lit(true), null))
}

// numberOf returns the number that stores the values of a type.
func numberOf(t arrow.DataType) (number, bool) {
	l, err := layout.Of(t)
	if err != nil || t.ID() == arrow.EXTENSION || l.Width > 8 {
		return 0, false
	}
	log := number(bits.TrailingZeros(uint(max(l.Width, 1))))
	switch l.Class {
	case layout.Boolean:
		return boolean, true
	case layout.Signed, layout.Temporal:
		return signed1 + log, true
	case layout.Unsigned:
		return unsigned1 + log, true
	case layout.Float:
		if l.Width >= 4 {
			return float4 + log - 2, true
		}
	}
	return 0, false
}

// values is the elements of lists in the form that the kernel takes.
type values struct {
	column        *column.Column
	values, valid memory.Slice[uint8]
	valueBit      int
	validBit      int
	number        number
}

func valuesOf(call *op.Call, c *column.Column) (v values, err error) {
	if c.Len() == 0 {
		return values{column: c}, nil
	}
	n, ok := numberOf(c.Type())
	if !ok {
		return v, fmt.Errorf("folds of %v: %w", c.Type(), device.ErrNotSupported)
	}
	view, err := call.View(c)
	if err != nil {
		return v, err
	}
	v = values{column: c, values: view.Values, valid: view.Valid, number: n}
	if n == boolean {
		v.valueBit = view.Bit
	}
	if view.Valid.Len() > 0 {
		_, v.validBit, err = c.Validity()
	}
	return v, err
}

// fold folds each list.
func (l *lists) fold(call *op.Call, f Function, t arrow.DataType, v values) (*column.Column, error) {
	s, err := newSpans(call, l, every, 0, 0)
	if err != nil {
		return nil, err
	}
	result := op.Result{Type: t, Length: s.rows, RowCount: l.column.RowCount(), Nullable: true}
	folded, err := call.NewColumn(result, func(out op.Buffers) error {
		switch {
		case s.rows == 0:
			return nil
		case call.OnHost():
			return s.foldOnHost(f, out, t, v)
		}
		width := uint32(0)
		if bytes, ok := column.ElementBytes(t); ok {
			width = uint32(bytes)
		}
		l := valuesLayout{values: v.values, valid: v.valid, valueBit: uint64(v.valueBit), validBit: uint64(v.validBit), number: uint32(v.number)}
		return launch(call, "fold_lists", (s.rows+63)/64*64, out.Values, out.Valid, width, uint32(f), s.begins, s.counts, uint64(s.rows), l.asArgument())
	})
	return release.OnError(folded, err, s.Release())
}

func (s *spans) foldOnHost(f Function, out op.Buffers, t arrow.DataType, v values) error {
	to, err := out.Host()
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	bytes, bytesErr := v.values.Host()
	valid, validErr := v.valid.Host()
	if err := errors.Join(err, beginsErr, countsErr, bytesErr, validErr); err != nil {
		return err
	}
	from := hostValues{bytes, valid, v.valueBit, v.validBit, v.number}
	write := writer(to, t, v.number)
	clear(to.Values)
	for row, begin := range begins {
		if begin == none {
			continue
		}
		if f == foldLength {
			write(row, uint64(counts[row]))
			to.SetValid(row)
			continue
		}
		value, ok := from.fold(f, int(begin), int(counts[row]))
		if ok {
			write(row, value)
			to.SetValid(row)
		}
	}
	return nil
}

// writer returns a function that writes a value of a type.
func writer(to op.HostBuffers, t arrow.DataType, from number) func(row int, value uint64) {
	width, fixed := column.ElementBytes(t)
	switch {
	case !fixed:
		return func(row int, value uint64) {
			if value != 0 {
				to.SetTrue(row)
			}
		}
	case width == 1:
		return func(row int, value uint64) { to.Values[row] = byte(value) }
	case width == 2:
		return func(row int, value uint64) { op.Elements[uint16](to.Values)[row] = uint16(value) }
	case width == 4 && from == float4:
		return func(row int, value uint64) {
			op.Elements[float32](to.Values)[row] = float32(math.Float64frombits(value))
		}
	case width == 4:
		return func(row int, value uint64) { op.Elements[uint32](to.Values)[row] = uint32(value) }
	}
	return func(row int, value uint64) { op.Elements[uint64](to.Values)[row] = value }
}

// hostValues is values on the host.
type hostValues struct {
	values, valid      []byte
	valueBit, validBit int
	number             number
}

func (v hostValues) isValid(i int) bool {
	at := v.validBit + i
	return len(v.valid) == 0 || v.valid[at/8]>>(at%8)&1 != 0
}

// value returns an integer extended to 64 bits, or the bits of a float64.
func (v hostValues) value(i int) uint64 {
	switch v.number {
	case boolean:
		at := v.valueBit + i
		return uint64(v.values[at/8] >> (at % 8) & 1)
	case signed1:
		return uint64(int64(int8(v.values[i])))
	case signed2:
		return uint64(int64(op.Elements[int16](v.values)[i]))
	case signed4:
		return uint64(int64(op.Elements[int32](v.values)[i]))
	case unsigned1:
		return uint64(v.values[i])
	case unsigned2:
		return uint64(op.Elements[uint16](v.values)[i])
	case unsigned4:
		return uint64(op.Elements[uint32](v.values)[i])
	case float4:
		return math.Float64bits(float64(op.Elements[float32](v.values)[i]))
	}
	return op.Elements[uint64](v.values)[i]
}

func (n number) isSigned() bool { return n >= signed1 && n <= signed8 }

func (n number) isNaN(value uint64) bool {
	return n >= float4 && math.IsNaN(math.Float64frombits(value))
}

// before reports whether a value is less than another: NaN after all numbers, and -0 before
// 0.
func (n number) before(a, b uint64) bool {
	switch {
	case n >= float4:
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		if x != x || y != y {
			return x == x
		}
		return x < y || x == y && a>>63 > b>>63
	case n.isSigned():
		return int64(a) < int64(b)
	}
	return a < b
}

// fold folds one list, as folded in lists.cu.
func (v hostValues) fold(f Function, begin, length int) (value uint64, ok bool) {
	total := sum{number: v.number}
	if v.number >= float4 {
		total.low = 1 << 63
	}
	n, best, truths := uint64(0), uint64(0), uint64(0)
	for i := begin; i < begin+length; i++ {
		if !v.isValid(i) {
			continue
		}
		if n++; f == Count {
			continue
		}
		x := v.value(i)
		switch f {
		case Sum, Mean:
			total.add(x)
		case Min:
			if n == 1 || v.number.before(x, best) {
				best = x
			}
		case Max:
			isNaN := v.number.isNaN(x)
			if n == 1 || v.number.isNaN(best) && !isNaN || !isNaN && v.number.before(best, x) {
				best = x
			}
		case foldFind:
			if x != 0 {
				return uint64(i), true
			}
		default:
			truths += x
		}
	}
	switch f {
	case Count:
		return n, true
	case Sum:
		return total.low, n != 0 && total.fits()
	case Mean:
		return math.Float64bits(total.real() / float64(n)), n != 0
	case Any:
		return truths, n != 0
	case All:
		return b2u(truths == n), n != 0
	case foldContains:
		return truths, true
	case foldFind:
		return none, true
	}
	return best, n != 0
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// sum is a sum: an integer of 128 bits, or a float64 in low.
type sum struct {
	number number
	low    uint64
	high   int64
}

func (s *sum) add(value uint64) {
	if s.number >= float4 {
		s.low = math.Float64bits(math.Float64frombits(s.low) + math.Float64frombits(value))
		return
	}
	low, carry := bits.Add64(s.low, value, 0)
	s.low, s.high = low, s.high+int64(carry)
	if s.number.isSigned() && int64(value) < 0 {
		s.high--
	}
}

// fits reports whether the sum fits 64 bits.
func (s *sum) fits() bool {
	switch {
	case s.number >= float4:
		return true
	case s.number.isSigned():
		return s.high == int64(s.low)>>63
	}
	return s.high == 0
}

// real returns the sum as the nearest float. Of an integer above 64 bits it takes the
// leading 64 bits; the lowest of them is set if one of the others is.
func (s *sum) real() float64 {
	if s.number >= float4 {
		return math.Float64frombits(s.low)
	}
	low, high := s.low, uint64(s.high)
	if s.high < 0 {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	magnitude := float64(low)
	if high != 0 {
		zeros := bits.LeadingZeros64(high)
		top := high<<zeros | low>>(64-zeros)
		if low<<zeros != 0 {
			top |= 1
		}
		magnitude = math.Ldexp(float64(top), 64-zeros)
	}
	if s.high < 0 {
		return -magnitude
	}
	return magnitude
}
