package vector

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// vectorsOf returns the lists of an array as float64, nil for null ones and those with a null.
func vectorsOf(t *testing.T, a arrow.Array) [][]float64 {
	list := make([][]float64, a.Len())
	vectors := a.(array.ListLike)
	for i := range list {
		if a.IsNull(i) {
			continue
		}
		begin, end := vectors.ValueOffsets(i)
		list[i] = make([]float64, 0, end-begin)
		for j := begin; j < end; j++ {
			if vectors.ListValues().IsNull(int(j)) {
				list[i] = nil
				break
			}
			list[i] = append(list[i], numberAt(t, vectors.ListValues(), int(j)))
		}
	}
	return list
}

func numberAt(t *testing.T, a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Int8:
		return float64(a.Value(i))
	case *array.Int64:
		return float64(a.Value(i))
	case *array.Uint16:
		return float64(a.Value(i))
	case *array.Uint64:
		return float64(a.Value(i))
	}
	t.Fatalf("no number: %v", a.DataType())
	return 0
}

// folding is the sum of a function of the elements of two vectors, in the documented order.
func folding(x, y []float64, f func(x, y float64) float64) float64 {
	var sums [8]float64
	for i := range x {
		sums[i%8] += f(x[i], y[i])
	}
	for n := 4; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}

// modelOf is the model of a function of vectors: nil is null.
func modelOf(o operation, x, y []float64) (float64, bool) {
	times := func(x, y float64) float64 { return float64(x * y) }
	if x == nil || y == nil || len(x) != len(y) {
		return 0, false
	}
	switch o {
	case l2Distance:
		return math.Sqrt(folding(x, y, func(x, y float64) float64 { return times(x-y, x-y) })), true
	case norm:
		return math.Sqrt(folding(x, x, times)), true
	case cosineSimilarity:
		lengths := math.Sqrt(folding(x, x, times) * folding(y, y, times))
		if lengths < 0x1p-450 || lengths > 0x1p450 {
			lengths = math.Sqrt(folding(x, x, times)) * math.Sqrt(folding(y, y, times))
		}
		return math.Max(-1, math.Min(1, folding(x, y, times)/lengths)), lengths != 0
	}
	return folding(x, y, times), true
}

var elementTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64,
}

// listTypes are lists of all kinds.
func listTypes(element arrow.DataType, dim int) []arrow.DataType {
	return []arrow.DataType{arrow.FixedSizeListOf(int32(dim), element), arrow.ListOf(element), arrow.LargeListOf(element), arrow.ListViewOf(element)}
}

// check compares the functions of a table of two columns with the model.
func check(t *testing.T, table *buffer.Buffer, x, y [][]float64, constant []float64) {
	a, b := expr.Col("x"), expr.Col("y")
	type computed struct {
		e    expr.Expr
		o    operation
		y    func(row int) []float64
		name string
	}
	column := func(row int) []float64 { return y[row] }
	fixed := func(int) []float64 { return constant }
	literal := Literal(constant)
	list := []computed{
		{DotProduct(a, b), dotProduct, column, "dot"}, {CosineSimilarity(a, b), cosineSimilarity, column, "cosine"}, {L2Distance(a, b), l2Distance, column, "l2"},
		{Norm(a), norm, func(row int) []float64 { return x[row] }, "norm"}, {DotProduct(a, literal), dotProduct, fixed, "dot of a literal"},
		{CosineSimilarity(literal, a), cosineSimilarity, fixed, "cosine of a literal"}, {L2Distance(a, literal), l2Distance, fixed, "l2 of a literal"},
	}
	expressions := make([]expr.Expr, len(list))
	for i, c := range list {
		expressions[i] = c.e
	}
	columns, err := expr.Evaluate(t.Context(), table, expressions)
	require.NoError(t, err)
	for i, c := range list {
		values, err := columns[i].Array(t.Context())
		require.NoError(t, err)
		require.NoError(t, columns[i].Release())
		require.Equal(t, len(x), values.Len())
		for row := range x {
			want, ok := modelOf(c.o, x[row], c.y(row))
			require.Equalf(t, ok, values.IsValid(row), "%s of row %d: %v, %v", c.name, row, x[row], c.y(row))
			if got := values.(*array.Float64).Value(row); ok && !(want != want && got != got) {
				require.Equalf(t, want, got, "%s of row %d: %v, %v", c.name, row, x[row], c.y(row))
			}
		}
		values.Release()
	}
}

// TestFunctions compares with a model, to the bit, for lists of all kinds and elements of several types.
func TestFunctions(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(3)
		for i, element := range elementTypes {
			for _, dim := range []int{1, 3, 8, 33, 300} {
				if (testing.Short() || i > 1) && dim > 33 && element != elementTypes[0] {
					continue
				}
				for j, list := range listTypes(element, dim) {
					for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull} {
						if testing.Short() && i > 1 && j != i%4 {
							continue
						}
						g.Nulls = nulls
						rows := 150
						x := g.Array(list, rows)
						y := g.Array(listTypes(elementTypes[(i+j)%len(elementTypes)], dim)[j], rows)
						if j > 0 && nulls == arraytest.NoneNull { // lists of the same lengths
							y.Release()
							y = x
							y.Retain()
						}
						t.Run(fmt.Sprintf("%v, %v", x.DataType(), y.DataType()), func(t *testing.T) { checkArrays(t, m, x, y, dim) })
					}
				}
			}
		}
	})
}

// checkArrays checks slices of two arrays, also with a row count on the device.
func checkArrays(t *testing.T, m *memory.Manager, x, y arrow.Array, dim int) {
	defer x.Release()
	defer y.Release()
	a, in := columntest.UploadRows(t, m, x, 3, x.Len()-5)
	b, other := columntest.UploadRows(t, m, y, 3, y.Len()-5)
	xs, ys := vectorsOf(t, in), vectorsOf(t, other)
	constant := make([]float64, dim)
	for i := range constant {
		constant[i] = float64(i) - 0.5
	}
	if dim == 8 {
		constant[1] = 0.1 // float64, others are float32
	}
	fields := []arrow.Field{{Name: "x", Type: a.Type(), Nullable: true}, {Name: "y", Type: b.Type(), Nullable: true}}
	table, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{a, b}, buffer.Rows{Count: int64(a.Len())})
	require.NoError(t, err)
	check(t, table, xs, ys, constant)
	require.NoError(t, table.Release())

	d, err := DenseOf(t.Context(), a, dim, kernels.Options{})
	require.NoError(t, err)
	requireDense(t, xs, d)
	require.NoError(t, d.Release())
}

func requireDense(t *testing.T, want [][]float64, d *Dense) {
	require.Equal(t, len(want), d.Rows)
	values := fetch[float32](t, d.Values)
	var valid arrow.Array
	if d.Valid != nil {
		var err error
		valid, err = d.Valid.Array(t.Context())
		require.NoError(t, err)
		defer valid.Release()
	}
	for row, vector := range want {
		isValid := valid == nil || valid.(*array.Boolean).Value(row)
		require.Equal(t, len(vector) == d.Dim, isValid, "row %d", row)
		if !isValid {
			continue
		}
		for i, v := range vector {
			got := values[row*d.Dim+i]
			require.True(t, float32(v) == got || v != v && got != got, "row %d: %v, expected %v", row, got, v)
		}
	}
}

// TestLengthsOfAllSizes compares the cosine of vectors with large and small elements: the square of the product of two lengths
// may be infinite or 0.
func TestLengthsOfAllSizes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		list := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)
		b := array.NewFixedSizeListBuilder(arrowmemory.DefaultAllocator, 2, arrow.PrimitiveTypes.Float64)
		defer b.Release()
		for _, x := range []float64{1, 3, 1e100, 1e-100, 1e150, 1e160, 1e-160, 5e-324, math.Inf(1), math.NaN(), 0} {
			b.Append(true)
			b.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{x, 2 * x}, nil)
		}
		x := b.NewArray()
		c, in := columntest.UploadRows(t, m, x, 0, x.Len())
		x.Release()
		fields := []arrow.Field{{Name: "x", Type: list, Nullable: true}, {Name: "y", Type: list, Nullable: true}}
		table, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{c, c}, buffer.Rows{Count: int64(c.Len())})
		require.NoError(t, err)
		check(t, table, vectorsOf(t, in), vectorsOf(t, in), []float64{1e160, 1})
		require.NoError(t, table.Release())
	})
}
