package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// unify returns two keys as columns of one type, in which values are equal exactly if the
// keys' values are. The caller releases them.
func unify(ctx context.Context, a, b *column.Column, options kernels.Options) (x, y *column.Column, err error) {
	common, err := commonType(a.Type(), b.Type())
	if err != nil {
		return nil, nil, err
	}
	if x, err = convert(ctx, a, common, options); err != nil {
		return nil, nil, err
	}
	if y, err = convert(ctx, b, common, options); err != nil {
		return nil, nil, errors.Join(err, x.Release())
	}
	return x, y, nil
}

// family is a set of types with values that can be equal across the types.
type family uint8

const (
	noFamily family = iota
	integers
	floats
	decimals
	texts
	binaries
	instants
	clocks
	durations
)

func familyOf(t arrow.DataType) family {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return integers
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return floats
	case arrow.DECIMAL128:
		return decimals
	case arrow.STRING, arrow.LARGE_STRING:
		return texts
	case arrow.BINARY, arrow.LARGE_BINARY:
		return binaries
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return instants
	case arrow.TIME32, arrow.TIME64:
		return clocks
	case arrow.DURATION:
		return durations
	}
	return noFamily
}

// unifiedType returns the type of the columns that [unify] returns. It is the first one for
// types that do not compare.
func unifiedType(a, b arrow.DataType) arrow.DataType {
	if common, err := commonType(a, b); err == nil {
		return common
	}
	return a
}

// commonType returns a type that two types are converted to. It has all values of both that the other
// type can equal: a date of the year 9999 is no timestamp in nanoseconds, and equals none.
func commonType(a, b arrow.DataType) (arrow.DataType, error) {
	if arrow.TypeEqual(a, b) {
		return a, nil
	}
	if a, b = decodedType(a), decodedType(b); arrow.TypeEqual(a, b) {
		return a, nil
	}
	family, other := familyOf(a), familyOf(b)
	refused := fmt.Errorf("the left key has type %v, the right one %v, expected types that compare: cast one of them: %w", a, b, device.ErrNotSupported)
	if family != other || family == noFamily {
		return nil, refused
	}
	switch family {
	case integers:
		return commonInteger(a, b), nil
	case floats:
		return arrow.PrimitiveTypes.Float64, nil
	case texts:
		return arrow.BinaryTypes.LargeString, nil
	case binaries:
		return arrow.BinaryTypes.LargeBinary, nil
	case decimals:
		x, y := a.(*arrow.Decimal128Type), b.(*arrow.Decimal128Type)
		scale := max(x.Scale, y.Scale)
		precision := max(x.Precision-x.Scale, y.Precision-y.Scale) + scale
		if precision > 38 {
			return nil, refused
		}
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
	}
	common, ok := exprtree.CommonTime(a, b)
	if !ok {
		return nil, refused
	}
	return common, nil
}

// decodedType returns the type of the values of a dictionary, or the type itself.
func decodedType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// commonInteger returns int64, or for uint64 with a signed type a decimal.
func commonInteger(a, b arrow.DataType) arrow.DataType {
	switch {
	case a.ID() != arrow.UINT64 && b.ID() != arrow.UINT64:
		return arrow.PrimitiveTypes.Int64
	case arrow.IsUnsignedInteger(a.ID()) && arrow.IsUnsignedInteger(b.ID()):
		return arrow.PrimitiveTypes.Uint64
	}
	return &arrow.Decimal128Type{Precision: 20}
}

// convert returns a column in a type of its family, or of the values of its dictionary. The
// caller releases it.
func convert(ctx context.Context, c *column.Column, to arrow.DataType, options kernels.Options) (*column.Column, error) {
	options.Tag = op.ScratchTag
	if arrow.TypeEqual(c.Type(), to) {
		return c, c.Retain()
	}
	plain, err := dictionary.Decode(ctx, c, options)
	if err != nil {
		return nil, err
	}
	converted := plain
	switch {
	case arrow.TypeEqual(plain.Type(), to):
		return plain, nil
	case familyOf(to) == texts || familyOf(to) == binaries:
		converted, err = selection.WithOffsetsOf(ctx, plain, to, options)
	default:
		converted, err = cast(ctx, plain, to, options)
	}
	return release.OnError(converted, err, plain.Release())
}

func cast(ctx context.Context, c *column.Column, to arrow.DataType, options kernels.Options) (*column.Column, error) {
	table, err := tableOf([]string{"key"}, []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if err != nil {
		return nil, err
	}
	converted, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col("key").Cast(to)}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(converted))
	}
	return converted[0], nil
}

// tableOf returns a table of columns, which it borrows.
func tableOf(names []string, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: c.Type(), Nullable: true}
	}
	return buffer.New(arrow.NewSchema(fields, nil), columns, rows)
}
