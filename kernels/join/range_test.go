package join_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// inRange reports whether a key is between two others.
func inRange(low, key, high float64, bounds join.Bounds) bool {
	switch bounds {
	case join.LowClosed:
		return low <= key && key < high
	case join.HighClosed:
		return low < key && key <= high
	case join.Closed:
		return low <= key && key <= high
	}
	return low < key && key < high
}

func TestRangeAgainstNestedLoops(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, name := range []string{"int32", "float64", "date32"} {
			for _, kind := range []join.Kind{join.Inner, join.Left, join.Semi, join.Anti} {
				for bounds := range join.Open + 1 {
					if !chosen(r, dev, 12) {
						continue
					}
					left, right := lengths(r, dev)
					a := drawTimed(t, mgr, r, asOfKinds[name], false, left, false)
					b := drawTimed(t, mgr, r, asOfKinds[name], true, right, false)
					checkRange(t, a, b, name, bounds, join.Options{Kind: kind}, r.IntN(2) == 0)
				}
			}
		}
	})
}

func checkRange(t *testing.T, a, b *timed, name string, bounds join.Bounds, o join.Options, symbols bool) {
	t.Helper()
	// The range ends three units behind its begin.
	three := expr.Lit(int32(3)).Cast(arrow.PrimitiveTypes.Int32)
	end := expr.Col("t").Add(three.Cast(asOfKinds[name].left))
	if name == "date32" {
		end = expr.Col("t").CastWrap(arrow.PrimitiveTypes.Int32).Add(three).CastWrap(arrow.FixedWidthTypes.Date32)
	}
	left, err := expr.Project(t.Context(), a.table, []expr.Expr{expr.Col("t").As("low"), end.As("high"), expr.Col("s"), expr.Col("row")})
	require.NoError(t, err)
	defer func() { require.NoError(t, left.Release()) }()
	var on []join.On
	if symbols {
		on = join.Using("s")
	}
	result, err := join.Range(t.Context(), left, b.table, join.Between{Low: "low", High: "high", Right: "t", Bounds: bounds}, on, o)
	require.NoError(t, err)
	schema, err := join.RangeSchema(left.Schema(), b.table.Schema(), on, o)
	require.NoError(t, err)
	require.True(t, schema.Equal(result.Schema()))
	record := columntest.Fetch(t, result)
	var want, got [][2]string
	for i, low := range a.keys {
		matched := false
		for _, j := range byKey(b) {
			if !inRange(low, b.keys[j], low+3, bounds) || symbols && (a.symbols[i] != b.symbols[j] || a.symbols[i] == null) {
				continue
			}
			matched = true
			if o.Kind == join.Inner || o.Kind == join.Left {
				want = append(want, [2]string{fmt.Sprint(i), fmt.Sprint(j)})
			}
		}
		switch {
		case !matched && o.Kind == join.Left:
			want = append(want, [2]string{fmt.Sprint(i), columntest.Null})
		case matched && o.Kind == join.Semi, !matched && o.Kind == join.Anti:
			want = append(want, [2]string{fmt.Sprint(i), fmt.Sprint(i)})
		}
	}
	lefts, rights := columntest.Texts(record.Column(3)), columntest.Texts(record.Column(int(record.NumCols())-1))
	for i, text := range lefts {
		got = append(got, [2]string{text, rights[i]})
	}
	require.Equal(t, want, got, "%+v", o)
}

// byKey returns the rows with a key in the order of their keys.
func byKey(b *timed) (rows []int) {
	for i, key := range b.keys {
		if math.IsNaN(key) {
			continue
		}
		at := len(rows)
		for at > 0 && b.keys[rows[at-1]] > key {
			at--
		}
		rows = append(rows[:at], append([]int{i}, rows[at:]...)...)
	}
	return rows
}

func TestRangeRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	a := drawTimed(t, mgr, rand.New(rand.NewPCG(1, 1)), asOfKinds["int32"], false, 5, false)
	for _, c := range []struct {
		between join.Between
		o       join.Options
		is      error
		says    string
	}{
		{join.Between{Low: "t", High: "t", Right: "t", Bounds: 7}, join.Options{}, device.ErrInvalidValue, "Bounds is 7"},
		{join.Between{Low: "t", High: "t", Right: "t"}, join.Options{Kind: join.Full}, device.ErrInvalidValue, "Kind is full"},
		{join.Between{Low: "t", High: "t", Right: "t"}, join.Options{NullsEqual: true}, device.ErrInvalidValue, "NullsEqual"},
		{join.Between{Low: "t", High: "x", Right: "t"}, join.Options{}, buffer.ErrSchema, `key 1, "x" = "t"`},
		{join.Between{Low: "t", High: "s", Right: "t"}, join.Options{}, device.ErrNotSupported, "left key has type utf8"},
	} {
		_, err := join.Range(t.Context(), a.table, a.table, c.between, nil, c.o)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, "join: range: ")
		require.ErrorContains(t, err, c.says)
	}
}
