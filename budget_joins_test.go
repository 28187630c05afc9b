package gpuframe_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// skewed returns records of which most rows have one key: a key with nulls, a place, a string.
func skewed(t *testing.T, seed uint64, batches, rows int) []arrow.Record {
	random := rand.New(rand.NewPCG(seed, 7))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "place", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var list []arrow.Record
	for batch := range batches {
		for i := range rows {
			switch key := b.Field(0).(*array.Int32Builder); random.IntN(20) {
			case 0:
				key.AppendNull()
			case 1:
				key.Append(random.Int32N(50))
			default:
				key.Append(7)
			}
			b.Field(1).(*array.Int64Builder).Append(int64(batch*rows + i))
			b.Field(2).(*array.StringBuilder).Append([]string{"", "Oslo", "a text of some length", "Zürich"}[random.IntN(4)])
		}
		list = append(list, b.NewRecord())
		t.Cleanup(list[batch].Release)
	}
	return list
}

// TestJoinsOfOneKey joins tables of which one key has most rows, more than the budget has room for,
// and tables without keys.
func TestJoinsOfOneKey(t *testing.T) {
	few, many := skewed(t, 1, 2, 20), skewed(t, 2, 13, 1000)
	key, place, text := gpuframe.Col("key"), gpuframe.Col("place"), gpuframe.Col("text")
	near := gpuframe.Matching(place.Mul(10).Sub(gpuframe.Col("place_right")).Abs().Lt(40).And(place.Mod(3).Lt(2)))
	queries := map[string]func(e *gpuframe.Engine) gpuframe.Query{}
	for _, kind := range []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Semi, gpuframe.Anti} {
		if testing.Short() && kind == gpuframe.Inner || race.Enabled && kind != gpuframe.Left {
			continue // the pairs of a left join are made in the same way
		}
		queries["few "+kind.String()] = func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, few...).Join(e.Records(nil, many...), kind, key, near)
		}
		if testing.Short() {
			continue
		}
		queries["pairs "+kind.String()] = func(e *gpuframe.Engine) gpuframe.Query {
			q := e.Records(nil, few[0]).Join(e.Records(nil, many...), kind, key, gpuframe.NullsMatch())
			return q.GroupBy(place).Agg(gpuframe.Count(), text.Max())
		}
	}
	queries["cross"] = func(e *gpuframe.Engine) gpuframe.Query {
		right := e.Records(nil, many...).Select(place.As("other"))
		return e.Records(nil, few[0]).Join(right, gpuframe.Cross).GroupBy(text).Agg(gpuframe.Count(), gpuframe.Col("other").Sum())
	}
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		large := engineOn(t, dev)
		small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(100_000))
		require.NoError(t, err)
		for name, query := range queries {
			t.Run(name, func(t *testing.T) {
				needs, err := query(small).Needs(t.Context())
				require.NoError(t, err)
				require.NoError(t, small.Manager().SetBudget(5*needs.Smallest/4))
				want := lines(t, query(large))
				got := lines(t, query(small))
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, len(want), len(got))
				require.True(t, slices.Equal(want, got))
				require.Zero(t, small.Manager().Stats().InUse)
			})
		}
		require.NoError(t, small.Close())
	})
}

// TestFailuresOfJoinsOfOneKey fails allocations and ends contexts while such joins run. Nothing is
// left.
func TestFailuresOfJoinsOfOneKey(t *testing.T) {
	dev := devicetest.Open(t, "host")
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault, Budget: 400_000})
	e := gpuframe.EngineOnSeveral(mgr)
	defer func() { require.NoError(t, e.Close()) }()
	few, many := skewed(t, 1, 1, 12), skewed(t, 2, 10, 1000)
	place := gpuframe.Col("place")
	near := gpuframe.Matching(place.Mul(500).Sub(gpuframe.Col("place_right")).Abs().Lt(100).And(place.Mod(3).Lt(2)))
	lost := errors.New("lost")
	for _, kind := range []gpuframe.JoinKind{gpuframe.Left, gpuframe.Semi} {
		if testing.Short() && kind == gpuframe.Left {
			continue
		}
		q := e.Records(nil, few...).Join(e.Records(nil, many...), kind, gpuframe.Col("key"), near)
		failed, stopped := 0, 0
		for nth := uint64(1); ; nth += 1 + 2*nth {
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}, AllocateError: lost})
			err := read(t.Context(), q)
			require.Zero(t, mgr.Stats().InUse)
			if err == nil {
				break
			}
			failed++
			require.ErrorIs(t, err, lost)
		}
		fault.Arm(adaptor.FaultOptions{})
		for step := int64(1); ; step += 1 + 2*step {
			ctx := newCountingContext(step)
			err := read(ctx, q)
			require.Zero(t, mgr.Stats().InUse)
			if ctx.asked.Load() < step {
				require.NoError(t, err)
				break
			}
			stopped++
			require.ErrorIs(t, err, errStopped)
		}
		require.Greater(t, failed, 5, kind)
		require.Greater(t, stopped, 5, kind)
	}
}

// scaledType is a type of keys: the key n is the number n times scale, or the text of n.
type scaledType struct {
	of    arrow.DataType
	scale int64
}

// joinableTypes has types of which each joins with the others of its list.
var joinableTypes = map[string][]scaledType{
	"integers": {{arrow.PrimitiveTypes.Int32, 1}, {arrow.PrimitiveTypes.Int64, 1}, {arrow.PrimitiveTypes.Uint32, 1}, {arrow.PrimitiveTypes.Uint64, 1}},
	"decimals": {
		{&arrow.Decimal128Type{Precision: 10}, 1}, {&arrow.Decimal128Type{Precision: 12, Scale: 2}, 100}, {&arrow.Decimal128Type{Precision: 30, Scale: 7}, 1e7},
	},
	"instants": {
		{arrow.FixedWidthTypes.Date32, 1}, {arrow.FixedWidthTypes.Date64, 86400e3}, {&arrow.TimestampType{Unit: arrow.Second}, 86400},
		{&arrow.TimestampType{Unit: arrow.Millisecond}, 86400e3}, {&arrow.TimestampType{Unit: arrow.Nanosecond}, 86400e9},
	},
	"clocks": {
		{arrow.FixedWidthTypes.Time32s, 1}, {arrow.FixedWidthTypes.Time32ms, 1e3}, {arrow.FixedWidthTypes.Time64us, 1e6}, {arrow.FixedWidthTypes.Time64ns, 1e9},
	},
	"durations": {{arrow.FixedWidthTypes.Duration_s, 1}, {arrow.FixedWidthTypes.Duration_ms, 1e3}, {arrow.FixedWidthTypes.Duration_ns, 1e9}},
	"texts": {
		{arrow.BinaryTypes.String, 0}, {arrow.BinaryTypes.LargeString, 0},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, 0},
	},
}

// keys returns an array of keys, of which -1 is null.
func (k scaledType) keys(numbers []int64) arrow.Array {
	of, width := k.of, 0
	if fixed, ok := k.of.(arrow.FixedWidthDataType); ok && k.scale != 0 {
		width = fixed.Bytes()
		of = map[int]arrow.DataType{4: arrow.PrimitiveTypes.Int32, 8: arrow.PrimitiveTypes.Int64, 16: k.of}[width]
	}
	b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer b.Release()
	for _, n := range numbers {
		if n < 0 {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int32Builder:
			b.Append(int32(n * k.scale))
		case *array.Int64Builder:
			b.Append(n * k.scale)
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(n * k.scale))
		default:
			if err := b.AppendValueFromString(fmt.Sprint("key ", n)); err != nil {
				panic(err) // a type without a case
			}
		}
	}
	made := b.NewArray()
	if width == 0 || width == 16 {
		return made
	}
	defer made.Release()
	data := array.NewData(k.of, made.Len(), made.Data().Buffers(), nil, made.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// keyed returns records of random keys of a type, and the keys of all rows, of which -1 is null. Their
// columns are the key and the number of the row.
func keyed(t *testing.T, random *rand.Rand, of scaledType, prefix string, batches, rows int) (list []arrow.Record, keys []int64) {
	schema := arrow.NewSchema([]arrow.Field{{Name: prefix + "key", Type: of.of, Nullable: true}, {Name: prefix + "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for range batches {
		numbers, places := make([]int64, rows), make([]int64, rows)
		for i := range numbers {
			numbers[i], places[i] = random.Int64N(int64(batches*rows)+1)-1, int64(len(keys)+i)
		}
		keys = append(keys, numbers...)
		columns := []arrow.Array{of.keys(numbers), scaledType{arrow.PrimitiveTypes.Int64, 1}.keys(places)}
		list = append(list, array.NewRecord(schema, columns, int64(rows)))
		t.Cleanup(list[len(list)-1].Release)
		for _, c := range columns {
			c.Release()
		}
	}
	return list, keys
}

// joinedRows returns the numbers of the rows of a join of two sides of keys, sorted.
func joinedRows(left, right []int64, kind gpuframe.JoinKind, nullsMatch bool) (list []string) {
	places, matched := map[int64][]int{}, map[int]bool{}
	for i, key := range right {
		if key >= 0 || nullsMatch {
			places[key] = append(places[key], i)
		}
	}
	for i, key := range left {
		for _, at := range places[key] {
			matched[at] = true
			if kind != gpuframe.Semi && kind != gpuframe.Anti {
				list = append(list, fmt.Sprintf("%d|%d|", i, at))
			}
		}
		switch found := len(places[key]) > 0; {
		case kind == gpuframe.Semi && found, kind == gpuframe.Anti && !found:
			list = append(list, fmt.Sprintf("%d|", i))
		case !found && (kind == gpuframe.Left || kind == gpuframe.Full):
			list = append(list, fmt.Sprintf("%d|(null)|", i))
		}
	}
	if kind == gpuframe.Right || kind == gpuframe.Full {
		for i := range right {
			if !matched[i] {
				list = append(list, fmt.Sprintf("(null)|%d|", i))
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestJoinsOfTwoTypes joins keys of two types, with ample memory and with so little that the rows are
// divided.
func TestJoinsOfTwoTypes(t *testing.T) {
	kinds := []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Right, gpuframe.Full, gpuframe.Semi, gpuframe.Anti}
	batches, rows, rounds := 6, 500, 4
	if testing.Short() {
		rounds = 2
	}
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		random := property.Random(t)
		e, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(ample))
		require.NoError(t, err)
		for name, types := range property.InOrder(joinableTypes) {
			for range rounds {
				first := random.IntN(len(types))
				a, b := types[first], types[(first+1+random.IntN(len(types)-1))%len(types)]
				left, leftKeys := keyed(t, random, a, "left ", batches, rows)
				right, rightKeys := keyed(t, random, b, "right ", batches, rows)
				kind, terms := kinds[random.IntN(len(kinds))], []gpuframe.JoinTerm{gpuframe.On(gpuframe.Col("left key"), gpuframe.Col("right key"))}
				nullsMatch := random.IntN(2) == 0
				if nullsMatch {
					terms = append(terms, gpuframe.NullsMatch())
				}
				columns := []gpuframe.Expression{gpuframe.Col("left row"), gpuframe.Col("right row")}
				if kind == gpuframe.Semi || kind == gpuframe.Anti {
					columns = columns[:1]
				}
				q := e.Records(nil, left...).Join(e.Records(nil, right...), kind, terms...).Select(columns)
				want := joinedRows(leftKeys, rightKeys, kind, nullsMatch)
				needs, err := q.Needs(t.Context())
				require.NoError(t, err)
				for _, budget := range []uint64{ample, 5 * needs.Smallest / 4} {
					require.NoError(t, e.Manager().SetBudget(budget))
					got := lines(t, q)
					slices.Sort(got)
					require.Equal(t, len(want), len(got), "%s: %v of %v and %v with %d bytes", name, kind, a.of, b.of, budget)
					require.True(t, slices.Equal(want, got))
				}
				require.NoError(t, e.Manager().SetBudget(ample))
			}
		}
		require.NoError(t, e.Close())
	})
}

// TestBoundsOfKeysOfTwoTypes joins a file of timestamps in nanoseconds with dates that nanoseconds do
// not reach: such a bound of the dates leaves out no rows of the file.
func TestBoundsOfKeysOfTwoTypes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		day, old := int64(86400), int64(-400*365)
		nanoseconds := scaledType{&arrow.TimestampType{Unit: arrow.Nanosecond}, day * 1e9}
		times, dates := nanoseconds.keys([]int64{3, 5, 9}), array.NewDate32Builder(arrowmemory.DefaultAllocator)
		defer times.Release()
		defer dates.Release()
		dates.AppendValues([]arrow.Date32{arrow.Date32(old), 5, 7}, nil)
		days := dates.NewArray()
		defer days.Release()
		record := func(name string, values arrow.Array) arrow.Record {
			r := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: name, Type: values.DataType()}}, nil), []arrow.Array{values}, int64(values.Len()))
			t.Cleanup(r.Release)
			return r
		}
		path := filepath.Join(t.TempDir(), "times.parquet")
		_, err := e.Records(nil, record("time", times)).WriteFile(t.Context(), path, gpuframe.Parquet())
		require.NoError(t, err)
		q := e.Parquet(path).Join(e.Records(nil, record("day", days)), gpuframe.Inner, gpuframe.On(gpuframe.Col("time"), gpuframe.Col("day")))
		require.Len(t, lines(t, q), 1)
	})
}

// TestTimesThatTheOtherTypeDoesNotHold joins a date that nanoseconds do not reach: it equals no time, and
// not the null that nulls match.
func TestTimesThatTheOtherTypeDoesNotHold(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		nanoseconds, dates := scaledType{&arrow.TimestampType{Unit: arrow.Nanosecond}, 86400e9}, scaledType{arrow.FixedWidthTypes.Date32, 1}
		record := func(name string, of scaledType, numbers ...int64) arrow.Record {
			values := of.keys(numbers)
			defer values.Release()
			r := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: name, Type: of.of, Nullable: true}}, nil), []arrow.Array{values}, int64(len(numbers)))
			t.Cleanup(r.Release)
			return r
		}
		times, days := record("time", nanoseconds, 3, -1, 5, 9), record("day", dates, 3_000_000, 5, -1, 7)
		on := gpuframe.On(gpuframe.Col("time"), gpuframe.Col("day"))
		for _, kind := range []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Right, gpuframe.Full, gpuframe.Semi, gpuframe.Anti} {
			rows := map[gpuframe.JoinKind][2]int{gpuframe.Inner: {1, 2}, gpuframe.Left: {4, 4}, gpuframe.Right: {4, 4}, gpuframe.Full: {7, 6}, gpuframe.Semi: {1, 2}, gpuframe.Anti: {3, 2}}[kind]
			require.Len(t, lines(t, e.Records(nil, times).Join(e.Records(nil, days), kind, on)), rows[0], "%v", kind)
			require.Len(t, lines(t, e.Records(nil, times).Join(e.Records(nil, days), kind, on, gpuframe.NullsMatch())), rows[1], "%v of nulls that match", kind)
		}
	})
}

// withDictionary returns records of random keys of a dictionary that all of them share, and the keys of
// all rows.
func withDictionary(t *testing.T, random *rand.Rand, values arrow.Array, index arrow.DataType, prefix string, batches, rows int) (list []arrow.Record, keys []int64) {
	of := &arrow.DictionaryType{IndexType: index, ValueType: values.DataType()}
	schema := arrow.NewSchema([]arrow.Field{{Name: prefix + "key", Type: of, Nullable: true}, {Name: prefix + "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for range batches {
		numbers, places := array.NewBuilder(arrowmemory.DefaultAllocator, index), make([]int64, rows)
		for i := range places {
			places[i] = int64(len(keys))
			keys = append(keys, random.Int64N(int64(values.Len())))
			require.NoError(t, numbers.AppendValueFromString(fmt.Sprint(keys[len(keys)-1])))
		}
		indices := numbers.NewArray()
		columns := []arrow.Array{array.NewDictionaryArray(of, indices, values), scaledType{arrow.PrimitiveTypes.Int64, 1}.keys(places)}
		list = append(list, array.NewRecord(schema, columns, int64(rows)))
		t.Cleanup(list[len(list)-1].Release)
		for _, c := range append(columns, indices) {
			c.Release()
		}
		numbers.Release()
	}
	return list, keys
}

// TestJoinsOfDictionaries joins keys of a large dictionary, with memory for few copies of it.
func TestJoinsOfDictionaries(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		random := property.Random(t)
		const distinct, batches, rows = 6000, 6, 1000
		numbers := make([]int64, distinct)
		for i := range numbers {
			numbers[i] = int64(i)
		}
		for _, of := range []scaledType{{arrow.BinaryTypes.String, 0}, {arrow.PrimitiveTypes.Int64, 1}, {&arrow.Decimal128Type{Precision: 20}, 1}} {
			values := of.keys(numbers)
			left, leftKeys := withDictionary(t, random, values, arrow.PrimitiveTypes.Int32, "left ", batches, rows)
			right, rightKeys := withDictionary(t, random, values, arrow.PrimitiveTypes.Uint16, "right ", batches, rows)
			values.Release()
			for _, kind := range []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Full} {
				e, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(ample))
				require.NoError(t, err)
				q := e.Records(nil, left...).Join(e.Records(nil, right...), kind, gpuframe.On(gpuframe.Col("left key"), gpuframe.Col("right key"))).
					Select(gpuframe.Col("left row"), gpuframe.Col("right row"))
				needs, err := q.Needs(t.Context())
				require.NoError(t, err)
				require.NoError(t, e.Manager().SetBudget(2*needs.Smallest))
				got := lines(t, q)
				slices.Sort(got)
				require.True(t, slices.Equal(joinedRows(leftKeys, rightKeys, kind, false), got), "%v join of %v", kind, of.of)
				require.NoError(t, e.Close())
			}
		}
	})
}
