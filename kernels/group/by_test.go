package group_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// keyTypes are the types of keys, valueTypes those of values.
var keyTypes = [][]arrow.DataType{
	{arrow.PrimitiveTypes.Int32},
	{arrow.BinaryTypes.String},
	{arrow.PrimitiveTypes.Float64},
	{&arrow.Decimal128Type{Precision: 38, Scale: 3}},
	{arrow.PrimitiveTypes.Int8, arrow.FixedWidthTypes.Boolean},
	{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Float32},
	{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int8, arrow.FixedWidthTypes.Date32},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int16, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true})},
	{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}), arrow.FixedWidthTypes.Date32},
}

var valueTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32,
	arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
	&arrow.Decimal128Type{Precision: 38, Scale: 3}, arrow.FixedWidthTypes.Timestamp_us,
}

// drawn is a table of keys, a value and a condition.
type drawn struct {
	keys  []arrow.Array
	value modelColumn
	where *array.Boolean
	table *buffer.Buffer
	// random selects what is tested, and choice how it is computed.
	random *rand.Rand
	choice strategy.Group
}

func (d *drawn) names() (names []string) {
	for i := range d.keys {
		names = append(names, fmt.Sprint("k", i))
	}
	return names
}

func draw(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, keys []arrow.DataType, value arrow.DataType, few, n int) *drawn {
	t.Helper()
	d := &drawn{random: g.Rand}
	var fields []arrow.Field
	var arrays []arrow.Array
	add := func(name string, of arrow.DataType, distinct int) arrow.Array {
		if of.ID() == arrow.DICTIONARY {
			a := g.Array(of, n)
			t.Cleanup(a.Release)
			fields, arrays = append(fields, arrow.Field{Name: name, Type: of, Nullable: true}), append(arrays, a)
			return a
		}
		a := columntest.Repeated(t, g, of, distinct, n)
		fields, arrays = append(fields, arrow.Field{Name: name, Type: of, Nullable: true}), append(arrays, a)
		return a
	}
	for i, of := range keys {
		d.keys = append(d.keys, add(fmt.Sprint("k", i), of, few))
	}
	d.value.values = add("v", value, 7)
	d.value.texts = columntest.Texts(d.value.values)
	d.where = add("w", arrow.FixedWidthTypes.Boolean, 5).(*array.Boolean)
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(n))
	defer record.Release()
	var err error
	d.table, err = buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.table.Release()) })
	return d
}

// keyTexts returns a text for the keys of each row.
func keyTexts(keys []arrow.Array) []string {
	texts := make([]string, keys[0].Len())
	for _, key := range keys {
		for row, text := range columntest.Texts(key) {
			if s, ok := key.(*array.Struct); ok && s.IsValid(row) { // −0 in fields
				text = ""
				for i := range s.NumField() {
					text += columntest.Texts(s.Field(i))[row] + ","
				}
			}
			texts[row] += text + "|"
		}
	}
	return texts
}

// rowsOf returns the groups in the order of their first rows, and the rows of each.
func rowsOf(keys []string, takes func(row int) bool) (order []string, rows map[string][]int) {
	rows = map[string][]int{}
	for row, key := range keys {
		if !takes(row) {
			continue
		}
		if rows[key] == nil {
			order = append(order, key)
		}
		rows[key] = append(rows[key], row)
	}
	return order, rows
}

// check compares the result of a query with the model. taken are the rows of the query.
func (d *drawn) check(t *testing.T, query group.Query, options group.ByOptions, takes func(row int) bool) {
	t.Helper()
	models := d.choose(modelAggregates)
	aggregates := make([]group.Aggregate, len(models))
	for i, m := range models {
		aggregates[i] = m.made()
	}
	result, err := query.Aggregate(strategy.WithGroup(t.Context(), d.choice), aggregates, options)
	require.NoError(t, err)
	schema, err := group.Schema(d.table.Schema(), group.Columns(d.names()[:result.NumColumns()-len(aggregates)]...), aggregates)
	require.NoError(t, err)
	for i, f := range result.Schema().Fields() {
		require.Equal(t, f.Name, schema.Field(i).Name)
		require.True(t, arrow.TypeEqual(f.Type, schema.Field(i).Type), "column %d is %v, Schema has %v", i, f.Type, schema.Field(i).Type)
	}
	record := columntest.Fetch(t, result)
	d.compare(t, record, models, takes)
}

// requested is an aggregate of the values, with or without a condition.
type requested struct {
	modelled
	conditional bool
}

func (m requested) made() group.Aggregate {
	if m.conditional {
		return m.aggregate(expr.Col("v")).Where(expr.Col("w"))
	}
	return m.aggregate(expr.Col("v"))
}

// choose returns the aggregates that take the values, with and without a condition. With
// -short it draws some of them, fewer for the emulator.
func (d *drawn) choose(from []modelled) (models []requested) {
	for _, m := range from {
		if !m.accepts(d.value.values.DataType()) {
			continue
		}
		for _, conditional := range []bool{false, true} {
			if !testing.Short() || d.random.IntN(4) == 0 || !brief(d.table.Manager()) && d.random.IntN(3) == 0 {
				models = append(models, requested{m, conditional})
			}
		}
	}
	if len(models) == 0 {
		models = []requested{{from[0], true}}
	}
	return models
}

func (d *drawn) compare(t *testing.T, record arrow.Record, models []requested, takes func(row int) bool) {
	t.Helper()
	order, groups := rowsOf(keyTexts(d.keys), takes)
	keys := make([]arrow.Array, len(d.keys))
	for i := range keys {
		keys[i] = record.Column(i)
	}
	if len(order) > 0 {
		require.Equal(t, order, keyTexts(keys))
	}
	require.EqualValues(t, len(order), record.NumRows())
	for i, m := range models {
		got := resultTexts(t, record.Column(len(keys)+i))
		for j, key := range order {
			var rows, all []int
			for _, row := range groups[key] {
				if m.conditional && !(d.where.IsValid(row) && d.where.Value(row)) {
					continue
				}
				all = append(all, row)
				if d.value.has(row) {
					rows = append(rows, row)
				}
			}
			require.Equal(t, m.of(d.value, rows, all), got[j], "%s of %v, group %s of rows %v", record.ColumnName(len(keys)+i), d.value.values.DataType(), key, rows)
		}
	}
}

// eachDevice runs a test on the devices that the aggregates run on.
func eachDevice(t *testing.T, f func(t *testing.T, mgr *memory.Manager)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		f(t, devicetest.Manager(t, dev, memory.Options{}))
	})
}

// brief reports whether the device is the emulator, which is slow, and tests are to be short.
func brief(mgr *memory.Manager) bool { return testing.Short() && devicetest.Emulated(mgr.Device()) }

// ofTurn reports whether a case runs on a device: all do, but on the emulator one of every n cases. Its number
// includes the turn of the test's seed.
func ofTurn(mgr *memory.Manager, number, n int) bool {
	return !devicetest.Emulated(mgr.Device()) || number%n == 0
}

// nullsFor returns fewer cases for the emulator, which is slow.
func nullsFor(mgr *memory.Manager) []arraytest.Nulls {
	all := []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}
	if devicetest.Emulated(mgr.Device()) {
		return all[:1]
	}
	return all
}

func TestAggregatesOfKeys(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, keys := range keyTypes {
			for j, nulls := range nullsFor(mgr) {
				t.Run(fmt.Sprint(keys, nulls), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(i))
					g.Nulls = nulls
					d := draw(t, mgr, g, keys, valueTypes[(i+j)%len(valueTypes)], 5, 100)
					query := group.By(d.table, group.Columns(d.names()...)...)
					if !brief(mgr) || i%2 == 0 {
						d.check(t, query, group.ByOptions{Order: group.FirstAppearance}, func(int) bool { return true })
					}
					if brief(mgr) && i%2 == 0 {
						return
					}
					d.check(t, query, group.ByOptions{Nulls: group.DropNulls, Order: group.FirstAppearance}, func(row int) bool {
						for _, key := range d.keys {
							if columntest.Texts(key)[row] == columntest.Null {
								return false
							}
						}
						return true
					})
				})
			}
		}
	})
}

func TestAggregatesOfValues(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, of := range valueTypes {
			for _, nulls := range nullsFor(mgr) {
				t.Run(fmt.Sprint(of, nulls), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(100 + i))
					g.Nulls = nulls
					lengths := []int{0, 1, 33, 400}
					if brief(mgr) {
						lengths = []int{[]int{33, 270, 0, 100, 1}[i%5]}
					}
					for _, n := range lengths {
						d := draw(t, mgr, g, []arrow.DataType{arrow.PrimitiveTypes.Int32}, of, 6, n)
						query := group.By(d.table, group.Columns("k0")...).Where(expr.Col("w"))
						d.check(t, query, group.ByOptions{Order: group.FirstAppearance}, func(row int) bool { return d.where.IsValid(row) && d.where.Value(row) })
					}
				})
			}
		}
	})
}

// TestCountedTable groups tables with a row count on the device.
func TestCountedTable(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		g := arraytest.NewGenerator(9)
		d := draw(t, mgr, g, []arrow.DataType{arrow.PrimitiveTypes.Int32}, arrow.PrimitiveTypes.Int64, 6, 100)
		for _, rows := range []int64{0, 1, 64, 100} {
			columns := make([]*column.Column, d.table.NumColumns())
			count := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int64, []int64{rows})
			word, err := column.Elements[int64](count)
			require.NoError(t, err)
			for i := range columns {
				columns[i] = d.table.Column(i)
			}
			counted, err := buffer.New(d.table.Schema(), columns, buffer.Rows{Device: word})
			require.NoError(t, err)
			for i, options := range []group.ByOptions{{}, {MaxGroups: 50}} {
				if brief(mgr) && (rows == 0) != (i == 0) {
					continue
				}
				options.Order = group.FirstAppearance
				d.check(t, group.By(counted, group.Columns("k0")...), options, func(row int) bool { return int64(row) < rows })
			}
			require.NoError(t, counted.Release())
		}
	})
}

func TestOrderByKey(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		g := arraytest.NewGenerator(3)
		d := draw(t, mgr, g, []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8}, arrow.PrimitiveTypes.Int64, 6, 200)
		result, err := group.By(d.table, group.Columns("k0", "k1")...).Aggregate(t.Context(), []group.Aggregate{group.CountAll().As("n")}, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		record := columntest.Fetch(t, result)
		require.Equal(t, []string{"k0", "k1", "n"}, []string{record.ColumnName(0), record.ColumnName(1), record.ColumnName(2)})
		total := int64(0)
		for i := range int(record.NumRows()) {
			total += record.Column(2).(*array.Int64).Value(i)
			if i > 0 {
				require.LessOrEqual(t, place(record, i-1), place(record, i))
			}
		}
		require.EqualValues(t, 200, total)
	})
}

// place returns a text of the order of a row's keys, nulls last.
func place(record arrow.Record, row int) string {
	var s strings.Builder
	for i := range 2 {
		if record.Column(i).IsNull(row) {
			s.WriteString("~|")
			continue
		}
		fmt.Fprintf(&s, "%012d|", columntest.Integer(record.Column(i), row)+1<<33)
	}
	return s.String()
}
