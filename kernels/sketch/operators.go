package sketch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// HLL is the HLL sketch, with 2^lgK registers, of the values of each list: integers, floats, bools, times, strings or
// binaries. Nulls are left out. The list is null for a null list.
func HLL(list expr.Expr, lgK int) expr.Expr { return expr.Apply(hllOf{LgK: lgK}, list) }

// MergeHLL is the sketch of all values of the sketches of each list. It is null if one of them is no HLL sketch.
func MergeHLL(list expr.Expr) expr.Expr { return expr.Apply(mergeHLL{}, list) }

// EstimateHLL is the number of distinct values of a sketch, as float64. It is null if the value is no HLL sketch.
func EstimateHLL(sketch expr.Expr) expr.Expr { return expr.Apply(estimateHLL{}, sketch) }

type (
	hllOf       struct{ LgK int }
	mergeHLL    struct{}
	estimateHLL struct{}
)

// Name implements expr.Operator.
func (hllOf) Name() string { return "hll_sketch" }

// Name implements expr.Operator.
func (mergeHLL) Name() string { return "hll_merge" }

// Name implements expr.Operator.
func (estimateHLL) Name() string { return "hll_estimate" }

// Result implements expr.Operator.
func (o hllOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.LgK < LeastLgK || o.LgK > MostLgK {
		return nil, fmt.Errorf("lg_k is %d, expected %d to %d: %w", o.LgK, LeastLgK, MostLgK, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil && !isHashed(elements) {
		err = fmt.Errorf("values of %v, expected numbers, bools, times or strings: %w", render.TypeName(elements), expr.ErrType)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (mergeHLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	elements, err := elementsOf(operands[0])
	if err == nil && elements.ID() != arrow.BINARY {
		err = fmt.Errorf("values of %v, expected sketches, which are binary: %w", render.TypeName(elements), expr.ErrType)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (estimateHLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if operands[0].ID() != arrow.BINARY {
		return nil, fmt.Errorf("values of %v, expected sketches, which are binary: %w", render.TypeName(operands[0]), expr.ErrType)
	}
	return arrow.PrimitiveTypes.Float64, nil
}

func elementsOf(t arrow.DataType) (arrow.DataType, error) {
	switch list := t.(type) {
	case *arrow.ListType:
		return list.Elem(), nil
	case *arrow.LargeListType:
		return list.Elem(), nil
	}
	return nil, fmt.Errorf("of %v, expected a list: %w", render.TypeName(t), expr.ErrType)
}

// Run implements expr.Operator.
func (o hllOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, arrow.BinaryTypes.Binary, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		values := list.ListValues()
		bytes := hashedBytes(values)
		return func(row int, to array.Builder) {
			h := newHLL(o.LgK)
			for begin, end := list.ValueOffsets(row); begin < end; begin++ {
				if values.IsValid(int(begin)) {
					h.add(couponOf(bytes(int(begin))))
				}
			}
			to.(*array.BinaryBuilder).Append(h.bytes())
		}, nil
	})
}

// Run implements expr.Operator.
func (mergeHLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, arrow.BinaryTypes.Binary, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		sketches := list.ListValues().(*array.Binary)
		return func(row int, to array.Builder) {
			begin, end := list.ValueOffsets(row)
			if merged := mergedHLL(sketches, int(begin), int(end)); merged != nil {
				to.(*array.BinaryBuilder).Append(merged.bytes())
				return
			}
			to.AppendNull()
		}, nil
	})
}

// mergedHLL returns nil without sketches and for a value that is no sketch.
func mergedHLL(sketches *array.Binary, begin, end int) (merged *hll) {
	for i := begin; i < end; i++ {
		if sketches.IsNull(i) {
			continue
		}
		h, err := parseHLL(sketches.Value(i))
		switch {
		case err != nil:
			return nil
		case merged == nil:
			merged = h
		default:
			if merged.lgK > h.lgK { // the result has the fewest registers
				merged, h = h, merged
			}
			merged.merge(h)
		}
	}
	return merged
}

// Run implements expr.Operator.
func (estimateHLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, arrow.PrimitiveTypes.Float64, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		sketches := operands[0].(*array.Binary)
		return func(row int, to array.Builder) {
			if h, err := parseHLL(sketches.Value(row)); err == nil {
				to.(*array.Float64Builder).Append(h.estimate())
				return
			}
			to.AppendNull()
		}, nil
	})
}

// isHashed reports whether values of a type have bytes to hash.
func isHashed(t arrow.DataType) bool {
	switch id := t.ID(); id {
	case arrow.BOOL, arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY,
		arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128:
		return true
	default:
		return arrow.IsInteger(id)
	}
}

// hashedBytes returns a function that returns the bytes that DataSketches hashes: those of a string, and of integers and times
// as 64 bits. Floats are float64 with one NaN and one zero. The next call overwrites them.
func hashedBytes(values arrow.Array) func(i int) []byte {
	word := make([]byte, 8)
	integer := func(v int64) []byte {
		binary.LittleEndian.PutUint64(word, uint64(v))
		return word
	}
	float := func(v float64) []byte {
		switch {
		case v == 0:
			v = 0
		case math.IsNaN(v):
			return integer(0x7ff8000000000000)
		}
		return integer(int64(math.Float64bits(v)))
	}
	switch a := values.(type) {
	case *array.Boolean:
		return func(i int) []byte {
			if a.Value(i) {
				return integer(1)
			}
			return integer(0)
		}
	case *array.Float32:
		return func(i int) []byte { return float(float64(a.Value(i))) }
	case *array.Float64:
		return func(i int) []byte { return float(a.Value(i)) }
	case *array.Decimal128:
		return func(i int) []byte {
			v := a.Value(i)
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v.LowBits()), uint64(v.HighBits()))
		}
	case interface{ Value(i int) string }:
		return func(i int) []byte { return []byte(a.Value(i)) }
	case interface{ Value(i int) []byte }:
		return a.Value
	}
	return func(i int) []byte { return integer(integerOf(values, i)) }
}
