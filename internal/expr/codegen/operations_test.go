package codegen_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	bools    = arrow.FixedWidthTypes.Boolean
	f32, f64 = arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	i64      = arrow.PrimitiveTypes.Int64
	integers = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	}
	floatTypes = []arrow.DataType{f32, f64}
	numbers    = append(append([]arrow.DataType{}, integers...), floatTypes...)
	calendars  = []arrow.DataType{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms,
		arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ns,
	}
	clocks    = []arrow.DataType{arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns}
	durations = []arrow.DataType{arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns}
	decimals  = []arrow.DataType{
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 0},
		&arrow.Decimal128Type{Precision: 38, Scale: 10}, &arrow.Decimal128Type{Precision: 30, Scale: 25},
	}
	texts = []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, &arrow.FixedSizeBinaryType{ByteWidth: 6}, &arrow.FixedSizeBinaryType{ByteWidth: 11},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	}
)

// operation is an operation on operands of types.
type operation struct {
	op       exprtree.Op
	operands []arrow.DataType
	result   arrow.DataType
}

// each adds operations with operands of one type.
func each(all []operation, ops []exprtree.Op, types []arrow.DataType, operands int, result arrow.DataType) []operation {
	for _, op := range ops {
		for _, t := range types {
			o := operation{op: op, result: result}
			if result == nil {
				o.result = t
			}
			for range operands {
				o.operands = append(o.operands, t)
			}
			all = append(all, o)
		}
	}
	return all
}

func operations() (all []operation) {
	temporal := append(append(append([]arrow.DataType{}, calendars...), clocks...), durations...)
	all = each(all, []exprtree.Op{exprtree.Add, exprtree.Subtract, exprtree.Multiply, exprtree.Divide, exprtree.Remainder}, numbers, 2, nil)
	all = each(all, []exprtree.Op{exprtree.Negate, exprtree.Abs, exprtree.Sign}, numbers, 1, nil)
	all = each(all, []exprtree.Op{exprtree.Floor, exprtree.Ceil, exprtree.Truncate, exprtree.Round, exprtree.Sqrt}, floatTypes, 1, nil)
	for i := range function.Count() {
		f, types := function.At(i), floatTypes
		if f.OfIntegers() {
			types = integers
		}
		all = each(all, []exprtree.Op{exprtree.FirstFunction + exprtree.Op(i)}, types, f.Operands(), nil)
	}
	all = each(all, []exprtree.Op{exprtree.BitAnd, exprtree.BitOr, exprtree.BitXor, exprtree.ShiftLeft, exprtree.ShiftRight}, integers, 2, nil)
	all = each(all, []exprtree.Op{exprtree.BitNot}, integers, 1, nil)
	comparable := append(append(append([]arrow.DataType{bools}, numbers...), temporal...), decimals...)
	all = each(all, []exprtree.Op{exprtree.Equal, exprtree.NotEqual, exprtree.Less, exprtree.LessEqual, exprtree.Greater, exprtree.GreaterEqual}, comparable, 2, bools)
	all = each(all, []exprtree.Op{exprtree.Equal, exprtree.NotEqual, exprtree.Less, exprtree.LessEqual, exprtree.Greater, exprtree.GreaterEqual}, texts, 2, bools)
	all = each(all, []exprtree.Op{exprtree.AndStrict, exprtree.OrStrict, exprtree.Xor, exprtree.And, exprtree.Or}, []arrow.DataType{bools}, 2, nil)
	all = each(all, []exprtree.Op{exprtree.Not}, []arrow.DataType{bools}, 1, nil)
	all = each(all, []exprtree.Op{exprtree.IsNull, exprtree.IsValid}, append(comparable, texts...), 1, bools)
	all = each(all, []exprtree.Op{exprtree.IsNaN}, floatTypes, 1, bools)
	all = each(all, []exprtree.Op{exprtree.Coalesce}, comparable, 3, nil)
	all = each(all, []exprtree.Op{exprtree.Minimum, exprtree.Maximum}, comparable[1:], 3, nil)
	for _, t := range comparable {
		all = append(all, operation{op: exprtree.IfElse, operands: []arrow.DataType{bools, t, t}, result: t})
	}
	all = each(all, []exprtree.Op{exprtree.Hash}, append(comparable, texts...), 2, arrow.PrimitiveTypes.Uint64)
	all = each(all, []exprtree.Op{exprtree.Year, exprtree.Quarter, exprtree.Month, exprtree.Day, exprtree.DayOfYear, exprtree.Weekday}, calendars, 1, i64)
	for _, t := range calendars {
		all = append(all, operation{op: exprtree.AddMonths, operands: []arrow.DataType{t, i64}, result: t})
	}
	all = each(all, []exprtree.Op{exprtree.Hour, exprtree.Minute, exprtree.Second, exprtree.Subsecond}, append(clocks, calendars[2:]...), 1, i64)
	all = each(all, []exprtree.Op{exprtree.Add, exprtree.Subtract}, decimals, 2, nil)
	all = each(all, []exprtree.Op{exprtree.Negate, exprtree.Abs}, decimals, 1, nil)
	all = each(all, []exprtree.Op{exprtree.Sign}, decimals, 1, i64)
	for _, x := range decimals {
		for _, y := range decimals {
			scale := x.(*arrow.Decimal128Type).Scale + y.(*arrow.Decimal128Type).Scale
			if scale <= 38 {
				all = append(all, operation{op: exprtree.Multiply, operands: []arrow.DataType{x, y}, result: &arrow.Decimal128Type{Precision: 38, Scale: scale}})
			}
		}
	}
	for _, from := range comparable {
		for _, to := range comparable {
			for _, op := range []exprtree.Op{exprtree.Cast, exprtree.CastWrap} {
				if exprtree.CanCast(from, to, op == exprtree.CastWrap) && !arrow.TypeEqual(from, to) {
					all = append(all, operation{op: op, operands: []arrow.DataType{from}, result: to})
				}
			}
		}
	}
	return all
}

// TestOperations compares every operation of every type with the host, with nulls in
// all inputs, in none and in the first.
func TestOperations(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, o := range operations() {
			t.Run(fmt.Sprintf("%v/%v/%v", o.op, o.operands, o.result), func(t *testing.T) {
				v := newValues(uint64(i))
				// Enough that warps take chunks; fewer rows are taken 32 at a time.
				rows, offset := 4500, 13
				if testing.Short() {
					rows = 1300
				}
				arrays := make([]arrow.Array, len(o.operands))
				arguments := make([]*exprtree.Node, len(o.operands))
				for a, dt := range o.operands {
					arrays[a] = v.array(t, dt, rows, []int{0, 3, 5 * (a % 2)}[i%3])
					arguments[a] = input(a, dt)
				}
				check(t, mgr, program(o.operands, node(o.op, o.result, arguments...)), arrays, offset)
			})
		}
	})
}

// TestLiterals compares operations with a literal.
func TestLiterals(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, test := range []struct {
			op     exprtree.Op
			of     arrow.DataType
			value  any
			result arrow.DataType
		}{
			{exprtree.Add, f32, 0.5, f32}, {exprtree.Multiply, f64, -2.0, f64}, {exprtree.Add, arrow.PrimitiveTypes.Int8, int64(-100), arrow.PrimitiveTypes.Int8},
			{exprtree.Remainder, arrow.PrimitiveTypes.Uint64, uint64(10), arrow.PrimitiveTypes.Uint64}, {exprtree.Divide, i64, int64(0), i64},
			{exprtree.Divide, i64, int64(-1), i64}, {exprtree.AndStrict, bools, true, bools}, {exprtree.Or, bools, nil, bools}, {exprtree.Add, f32, nil, f32},
			{exprtree.Coalesce, i64, int64(7), i64}, {exprtree.Less, arrow.FixedWidthTypes.Date32, int64(1000), bools}, {exprtree.Less, decimals[2], decimal128.FromI64(-5), bools},
			{exprtree.Coalesce, decimals[0], nil, decimals[0]},
		} {
			t.Run(fmt.Sprintf("%v/%v/%v", test.op, test.of, test.value), func(t *testing.T) {
				arrays := []arrow.Array{newValues(uint64(i)).array(t, test.of, 300, 4)}
				check(t, mgr, program([]arrow.DataType{test.of}, node(test.op, test.result, input(0, test.of), literal(test.of, test.value))), arrays, 1)
			})
		}
		for _, of := range texts {
			for _, op := range []exprtree.Op{exprtree.Equal, exprtree.NotEqual, exprtree.Less, exprtree.GreaterEqual, exprtree.StartsWith, exprtree.EndsWith} {
				for _, value := range append(words, "\x00\x01\x02\x03\x04\x01", "d", "ed") {
					t.Run(fmt.Sprintf("%v/%v/%q", op, of, value), func(t *testing.T) {
						arrays := []arrow.Array{newValues(9).array(t, of, 200, 4)}
						check(t, mgr, program([]arrow.DataType{of}, node(op, bools, input(0, of), literal(arrow.BinaryTypes.String, value))), arrays, 3)
					})
				}
			}
		}
	})
}

// TestSizes has sizes around words, blocks and chunks, at several offsets.
func TestSizes(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		types := []arrow.DataType{f32, bools, arrow.PrimitiveTypes.Int8, decimals[0]}
		p := program(types,
			node(exprtree.Greater, bools, input(0, f32), literal(f32, 1.0)), node(exprtree.Not, bools, input(1, bools)),
			node(exprtree.Add, types[2], input(2, types[2]), input(2, types[2])), node(exprtree.Negate, types[3], input(3, types[3])))
		sizes := []int{0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 20_000}
		if !devicetest.Emulated(dev) {
			sizes = append(sizes, 10_000_003)
		}
		for i, rows := range sizes {
			for _, offset := range []int{0, 5, 32} {
				v := newValues(uint64(rows))
				arrays := make([]arrow.Array, len(types))
				for a, dt := range types {
					arrays[a] = v.array(t, dt, rows+offset, []int{0, 4}[(a+i)%2])
				}
				check(t, mgr, p, arrays, offset)
			}
		}
	})
}

// TestDateParts has several parts of one instant, and of the same number in another
// unit.
func TestDateParts(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		us, s := arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_s
		x := input(0, us)
		other := node(exprtree.CastWrap, s, node(exprtree.CastWrap, i64, x))
		check(t, mgr, program([]arrow.DataType{us}, node(exprtree.Year, i64, x), node(exprtree.Month, i64, x), node(exprtree.Year, i64, other),
			node(exprtree.Day, i64, other), node(exprtree.Weekday, i64, x)), []arrow.Array{newValues(8).array(t, us, 500, 4)}, 3)
	})
}
