package window_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// courses are functions from a row to its value, from −100 to 100. Kernels skip the
// rows of a warp if none of them changes the result, which depends on the course.
var courses = map[string]func(row, rows int) int{
	"ascending":  func(row, rows int) int { return 200*row/rows - 100 },
	"descending": func(row, rows int) int { return 100 - 200*row/rows },
	"constant":   func(int, int) int { return 7 },
	"saw":        func(row, rows int) int { return row%1000*row/rows/10 - 50 },
	"one peak": func(row, rows int) int {
		if row == rows*2/3 {
			return 100
		}
		return -row % 3
	},
	"one valley": func(row, rows int) int {
		if row == rows/2 {
			return -100
		}
		return row % 3
	},
}

// alongCourse is a column of a course's values; every null-th row is null.
func alongCourse(t *testing.T, of arrow.DataType, rows, null int, value func(row, rows int) int) arrow.Array {
	b := array.NewBuilder(arrowmemory, of)
	defer b.Release()
	for row := range rows {
		if null > 0 && row%null == 0 {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendValueFromString(fmt.Sprint(value(row, rows))))
		}
	}
	return b.NewArray()
}

// longCourses are the types with long columns in short tests: one of each method of the
// kernels.
var longCourses = map[arrow.Type]bool{arrow.INT64: true, arrow.FLOAT32: true}

// TestCourses compares the minima and maxima of columns that rise, fall and stay
// constant.
func TestCourses(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{
			arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, decimalType,
			arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		} {
			for name, value := range courses {
				rows := 17_000
				if race.Enabled || testing.Short() && !longCourses[of.ID()] {
					rows = 500
				}
				for _, null := range []int{0, 5} {
					in := alongCourse(t, of, rows, null, value)
					for _, skip := range []bool{true, false} {
						checkCourse(t, mgr, fmt.Sprintf("%v, %s, nulls every %d, skip %v", of, name, null, skip), in, skip)
					}
					in.Release()
				}
			}
		}
	})
}

func checkCourse(t *testing.T, mgr *memory.Manager, name string, in arrow.Array, skip bool) {
	t.Helper()
	least := onDevice(t, mgr, window.CumulativeMin, in, window.Options{SkipNulls: skip})
	most := onDevice(t, mgr, window.CumulativeMax, in, window.Options{SkipNulls: skip})
	// All values are small integers, which float64 represents exactly for every type.
	at := func(row int) float64 { return float(in, row) }
	if id := in.DataType().ID(); id < arrow.FLOAT16 || id > arrow.FLOAT64 {
		at = func(row int) float64 { return float64(integer(in, row).Int64()) }
	}
	for result, want := range map[arrow.Array][]*float64{least: cumulated(in, skip, at, lessFloat), most: cumulated(in, skip, at, moreFloat)} {
		got := func(row int) float64 { return float(result, row) }
		if id := in.DataType().ID(); id < arrow.FLOAT16 || id > arrow.FLOAT64 {
			got = func(row int) float64 { return float64(integer(result, row).Int64()) }
		}
		for row, x := range want {
			if result.IsNull(row) != (x == nil) || x != nil && got(row) != *x {
				t.Fatalf("%s: row %d is %v, the row of the input %v", name, row, result.ValueStr(row), in.ValueStr(row))
			}
		}
	}
}
