package join_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

var kinds = []join.Kind{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.Cross}

// where is the condition of the model.
var where = expr.Col("v").Lt(expr.Col("v_right"))

// strategies are choices of a join. Those that are not possible for its keys force nothing.
func strategies() (all []strategy.Join) {
	for _, find := range []strategy.JoinStrategy{"", strategy.ListedPlaces, strategy.MeasuredPlaces, strategy.HashTable, strategy.SortedKeys} {
		all = append(all, strategy.Join{Find: find}, strategy.Join{Find: find, Pair: strategy.Counted}, strategy.Join{Find: find, Filter: strategy.Filtered},
			strategy.Join{Find: find, Pair: strategy.Counted, Filter: strategy.Filtered, Probe: strategy.ProbedRight})
	}
	return all
}

// anyStrategy returns a context that forces one of them, at random.
func anyStrategy(t *testing.T, r *rand.Rand) (context.Context, strategy.Join) {
	all := strategies()
	choices := all[r.IntN(len(all))]
	return strategy.WithJoin(t.Context(), choices), choices
}

// lengths draws numbers of rows of both sides.
func lengths(r *rand.Rand, dev *device.Device) (left, right int) {
	most := 60
	if devicetest.Emulated(dev) {
		most = 40
	}
	draw := func() int {
		if r.IntN(12) == 0 {
			return r.IntN(2)
		}
		return 1 + r.IntN(most)
	}
	return draw(), draw()
}

// chosen reports whether a short test on the emulator takes a case, at random one of a few.
func chosen(r *rand.Rand, dev *device.Device, of int) bool {
	return !testing.Short() || !devicetest.Emulated(dev) || r.IntN(of) == 0
}

func drawOptions(r *rand.Rand, kind join.Kind) join.Options {
	o := join.Options{Kind: kind, Order: join.Order(r.IntN(2)), NullsEqual: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		o.Where = where
	}
	return o
}

func keysOf(o join.Options, kinds []keyKind) []join.On {
	if o.Kind == join.Cross {
		return nil
	}
	var on []join.On
	for i := range kinds {
		name := fmt.Sprint("k", i)
		if i%2 == 0 {
			on = append(on, join.Using(name)...)
		} else {
			on = append(on, join.On{LeftExpr: expr.Col(name), Right: name})
		}
	}
	return on
}

// byRight reports whether pairs are in the order of the right table.
func byRight(a, b *side, o join.Options) bool {
	return o.Order == join.Unspecified && o.Kind != join.Semi && o.Kind != join.Anti && len(a.keys) < len(b.keys)
}

func TestRowsAgainstNestedLoops(t *testing.T) {
	for name, kind := range keyKinds {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				r := property.Random(t)
				mgr := devicetest.Manager(t, dev, memory.Options{})
				for _, each := range kinds {
					if !chosen(r, dev, 3) {
						continue
					}
					rounds := 3
					if devicetest.Emulated(dev) {
						rounds = 1
					}
					for range rounds {
						left, right := lengths(r, dev)
						nulls := []float64{0, 0.2, 1}[r.IntN(3)]
						a := drawSide(t, mgr, r, kind, false, left, nulls, "a")
						b := drawSide(t, mgr, r, kind, true, right, nulls, "b")
						checkRows(t, a, b, kind, drawOptions(r, each))
					}
				}
			})
		})
	}
}

func checkRows(t *testing.T, a, b *side, kinds []keyKind, o join.Options) {
	t.Helper()
	want := model(a, b, o, byRight(a, b, o))
	ctx, choices := anyStrategy(t, a.random)
	left, right, err := join.Rows(ctx, a.table, b.table, keysOf(o, kinds), o)
	require.NoError(t, err, "%+v, %+v", o, choices)
	got := pairsOf(t, left, right)
	require.NoError(t, left.Release())
	require.NoError(t, right.Release())
	require.Equal(t, want, got, "%+v of %d and %d rows, %+v", o, len(a.keys), len(b.keys), choices)
}

// pairsOf fetches columns of row numbers; right may be nil.
func pairsOf(t *testing.T, left, right *column.Column) (pairs []pair) {
	t.Helper()
	for side, c := range []*column.Column{left, right} {
		if c == nil {
			for i := range pairs {
				pairs[i].right = -1
			}
			continue
		}
		numbers := columntest.Download(t, c).(*array.Int64)
		for i := range numbers.Len() {
			n := -1
			if numbers.IsValid(i) {
				n = int(numbers.Value(i))
			}
			if side == 0 {
				pairs = append(pairs, pair{left: n})
			} else {
				pairs[i].right = n
			}
		}
	}
	return pairs
}

// TestTables compares every column of results with the model.
func TestTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, name := range []string{"int32", "offsets", "dictionaries", "encoded", "widths", "two integers"} {
			for _, each := range kinds {
				if !chosen(r, dev, 4) {
					continue
				}
				kind := keyKinds[name]
				left, right := lengths(r, dev)
				a := drawSide(t, mgr, r, kind, false, left, 0.1, "a")
				b := drawSide(t, mgr, r, kind, true, right, 0.1, "b")
				checkTable(t, a, b, kind, drawOptions(r, each))
			}
		}
	})
}

// TestFewLeftRows makes inner joins in the order of the left rows that look up the right rows.
func TestFewLeftRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, name := range []string{"int32", "offsets", "dictionaries", "two integers"} {
			for range 3 {
				kind := keyKinds[name]
				_, right := lengths(r, dev)
				a, b := drawSide(t, mgr, r, kind, false, r.IntN(12), 0.1, "a"), drawSide(t, mgr, r, kind, true, right, 0.1, "b")
				ctx := strategy.WithJoin(t.Context(), strategy.Join{Probe: strategy.ProbedRight})
				requireTable(t, ctx, a, b, kind, join.Options{Kind: join.Inner, Order: join.LeftOrder, NullsEqual: r.IntN(2) == 0})
			}
		}
	})
}

func checkTable(t *testing.T, a, b *side, kinds []keyKind, o join.Options) {
	t.Helper()
	ctx, choices := anyStrategy(t, a.random)
	t.Logf("%+v, %+v", o, choices)
	requireTable(t, ctx, a, b, kinds, o)
}

func requireTable(t *testing.T, ctx context.Context, a, b *side, kinds []keyKind, o join.Options) {
	t.Helper()
	result, err := join.Tables(ctx, a.table, b.table, keysOf(o, kinds), o)
	require.NoError(t, err, "%+v", o)
	schema, err := join.Schema(a.table.Schema(), b.table.Schema(), keysOf(o, kinds), o)
	require.NoError(t, err)
	require.True(t, schema.Equal(result.Schema()), "planned %v, got %v", schema, result.Schema())
	record := columntest.Fetch(t, result)
	want := model(a, b, o, byRight(a, b, o))
	require.EqualValues(t, len(want), record.NumRows())
	left, right := textsOf(t, a), textsOf(t, b)
	names, columns := expectedColumns(a, b, kinds, o)
	require.Len(t, names, int(record.NumCols()))
	for i, name := range names {
		require.Equal(t, name, record.ColumnName(i))
		texts := columntest.Texts(record.Column(i))
		for row, p := range want {
			text := columntest.Null
			switch {
			case columns[i].left != "" && p.left >= 0:
				text = left[columns[i].left][p.left]
			case columns[i].right != "" && p.right >= 0:
				text = right[columns[i].right][p.right]
			}
			require.Equal(t, text, texts[row], "%s of row %d, %+v of %+v", name, row, p, o)
		}
	}
}

// origin is the columns that a column of a result has its values of: the first side that
// has a row.
type origin struct{ left, right string }

func expectedColumns(a, b *side, kinds []keyKind, o join.Options) (names []string, columns []origin) {
	for _, f := range a.table.Schema().Fields() {
		from := origin{left: f.Name}
		if o.Kind != join.Cross && f.Name[0] == 'k' {
			from.right = f.Name
		}
		names, columns = append(names, f.Name), append(columns, from)
	}
	if o.Kind == join.Semi || o.Kind == join.Anti {
		return names, columns
	}
	for _, f := range b.table.Schema().Fields() {
		name := f.Name
		if name[0] == 'k' {
			if o.Kind != join.Cross {
				continue
			}
			name += "_right"
		}
		if name == "v" {
			name = "v_right"
		}
		names, columns = append(names, name), append(columns, origin{right: f.Name})
	}
	return names, columns
}

func textsOf(t *testing.T, s *side) map[string][]string {
	t.Helper()
	record, err := s.table.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	texts := map[string][]string{}
	for i, f := range record.Schema().Fields() {
		texts[f.Name] = columntest.Texts(record.Column(i))
	}
	return texts
}

// TestRefusals names the arguments that are at fault.
func TestRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	r := rand.New(rand.NewPCG(1, 1))
	a := drawSide(t, mgr, r, keyKinds["mixed"], false, 20, 0, "a")
	b := drawSide(t, mgr, r, keyKinds["mixed"], true, 20, 0, "b")
	for name, c := range map[string]struct {
		on   []join.On
		o    join.Options
		is   error
		says string
	}{
		"unknown column": {join.Using("k9"), join.Options{}, nil, `key 0, "k9" = "k9": left table: `},
		"types":          {[]join.On{{Left: "k0", Right: "k1"}}, join.Options{}, device.ErrNotSupported, "left key has type int64, the right one utf8"},
		"both":           {[]join.On{{Left: "k0", LeftExpr: expr.Col("k0"), Right: "k0"}}, join.Options{}, device.ErrInvalidValue, "both a column and an expression"},
		"no keys":        {nil, join.Options{Kind: join.Left}, device.ErrInvalidValue, "kind left has no keys"},
		"cross keys":     {join.Using("k0"), join.Options{Kind: join.Cross}, device.ErrInvalidValue, "choose Inner"},
		"kind":           {join.Using("k0"), join.Options{Kind: 9}, device.ErrInvalidValue, "Kind is 9"},
		"order":          {join.Using("k0"), join.Options{Order: 9}, device.ErrInvalidValue, "Order is 9"},
		"bound":          {join.Using("k0"), join.Options{MaxRows: -1}, device.ErrInvalidValue, "MaxRows is -1"},
		"too many":       {nil, join.Options{Kind: join.Cross, MaxRows: 399}, join.ErrTooManyRows, "400 rows, at most 399"},
		"condition":      {join.Using("k0"), join.Options{Where: expr.Col("v")}, device.ErrInvalidValue, "expected bool"},
		"columns":        {join.Using("k0"), join.Options{LeftColumns: []string{"x"}}, nil, "LeftColumns"},
		"right columns":  {join.Using("k0"), join.Options{Kind: join.Semi, RightColumns: []string{"v"}}, device.ErrInvalidValue, "left columns only"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := join.Tables(t.Context(), a.table, b.table, c.on, c.o)
			require.ErrorContains(t, err, "join: ")
			if c.is != join.ErrTooManyRows {
				_, planned := join.Schema(a.table.Schema(), b.table.Schema(), c.on, c.o)
				require.ErrorContains(t, planned, "join: schema: ")
			}
			require.ErrorContains(t, err, c.says)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

// TestColumns selects columns of a result, and has names that collide twice.
func TestColumns(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	r := rand.New(rand.NewPCG(1, 1))
	a := drawSide(t, mgr, r, keyKinds["int32"], false, 20, 0, "v_2")
	b := drawSide(t, mgr, r, keyKinds["int32"], true, 20, 0, "b")
	for _, c := range []struct {
		o     join.Options
		names []string
	}{
		{join.Options{Suffix: "_2"}, []string{"k0", "v", "v_2", "v_2_2", "b"}},
		{join.Options{Suffix: "_2", RightColumns: []string{"v"}, LeftColumns: []string{}}, []string{"v_2_2"}},
		{join.Options{LeftColumns: []string{"v"}}, []string{"v", "v_right", "b"}},
		{join.Options{LeftColumns: []string{}, RightColumns: []string{}}, nil},
	} {
		result, err := join.Tables(t.Context(), a.table, b.table, join.Using("k0"), c.o)
		require.NoError(t, err)
		require.EqualValues(t, len(model(a, b, c.o, false)), result.Capacity())
		var names []string
		for _, f := range result.Schema().Fields() {
			names = append(names, f.Name)
		}
		require.Equal(t, c.names, names)
		require.NoError(t, result.Release())
	}
	require.Equal(t, "full", join.Full.String())
	require.Equal(t, arrow.INT32, a.table.Column(0).Type().ID())
}
