package buffer_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

func TestNewRetainsItsArguments(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 20)
	first, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, count.Upload(t.Context(), nil, []int64{20}))
	columns := columnsOf(first)
	table, err := buffer.New(record.Schema(), columns, buffer.Rows{Device: count})
	require.NoError(t, err)
	columns[0] = nil // the caller may change its list
	require.NoError(t, first.Release())
	require.NoError(t, count.Release())
	assert.EqualValues(t, 2, mgr.Stats().Blocks)
	requireRecord(t, record, table)
	require.NoError(t, table.Release())
	requireEmpty(t, mgr)
}

func TestNewRefuses(t *testing.T) {
	mgr := hostManager(t)
	table := upload(t, mgr, flights(t, 20))
	half, err := table.Slice(0, 10)
	require.NoError(t, err)
	shorter := half.Column(0)
	gone, err := table.Column(0).Slice(0, 20)
	require.NoError(t, err)
	require.NoError(t, gone.Release())
	freed, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, freed.Release())
	delay, distance := table.Column(0), table.Column(5)
	one := arrow.NewSchema(table.Schema().Fields()[:1], nil)
	two := arrow.NewSchema([]arrow.Field{table.Schema().Field(0), {Name: "later", Type: arrow.PrimitiveTypes.Int64}}, nil)

	for name, c := range map[string]struct {
		schema  *arrow.Schema
		columns []*column.Column
		rows    buffer.Rows
		want    error
		says    string
	}{
		"nil schema":                  {nil, nil, buffer.Rows{}, buffer.ErrSchema, "nil"},
		"no columns":                  {one, nil, buffer.Rows{}, buffer.ErrSchema, "1 fields, but 0 columns"},
		"too many columns":            {one, []*column.Column{delay, delay}, buffer.Rows{Count: 20}, buffer.ErrSchema, "1 fields, but 2 columns"},
		"wrong type":                  {one, []*column.Column{distance}, buffer.Rows{Count: 20}, buffer.ErrSchema, `"delay" is of type float64`},
		"unequal lengths":             {two, []*column.Column{delay, shorter}, buffer.Rows{Count: 20}, buffer.ErrRows, `"later" has 10 elements`},
		"unequal lengths on a device": {two, []*column.Column{shorter, delay}, buffer.Rows{Device: onDevice(t, mgr, 5)}, buffer.ErrRows, `"later" has 20 elements`},
		"fewer rows than elements":    {one, []*column.Column{delay}, buffer.Rows{Count: 19}, buffer.ErrRows, "for 19 rows"},
		"negative rows":               {arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: -1}, buffer.ErrRows, "-1 rows"},
		"nil column":                  {one, []*column.Column{nil}, buffer.Rows{}, memory.ErrReleased, `"delay"`},
		"released column":             {two, []*column.Column{delay, gone}, buffer.Rows{Count: 20}, memory.ErrReleased, `"later"`},
		"released row count":          {one, []*column.Column{delay}, buffer.Rows{Device: freed}, memory.ErrReleased, "row count"},
		"two row counts":              {one, []*column.Column{delay}, buffer.Rows{Device: onDevice(t, mgr, 1, 2)}, buffer.ErrRows, "2 elements"},
	} {
		t.Run(name, func(t *testing.T) {
			before := mgr.Stats()
			made, err := buffer.New(c.schema, c.columns, c.rows)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			require.Nil(t, made)
			assert.Equal(t, before.InUse, mgr.Stats().InUse)
			assert.Equal(t, before.DoubleReleases, mgr.Stats().DoubleReleases)
		})
	}
	require.NoError(t, half.Release())
}
