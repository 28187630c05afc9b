package column_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// rowsOf returns rows 3 to 20 of a column of 30 rows.
func rowsOf(t *testing.T, mgr *memory.Manager, seed uint64, dataType arrow.DataType) *column.Column {
	t.Helper()
	whole, err := column.FromArray(t.Context(), mgr, arraytest.NewGenerator(seed).Array(dataType, 30), column.UploadOptions{})
	require.NoError(t, err)
	c, err := whole.Slice(3, 20)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	return c
}

// Columns of every type, and their slices, equal the columns that are made of their
// descriptions.
func TestColumnsAreMadeOfDescriptions(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for seed, dataType := range arraytest.AllTypes() {
			c := rowsOf(t, mgr, uint64(seed), dataType)
			var blocks []*memory.Block
			described, err := c.Describe(func(block *memory.Block) int {
				blocks = []*memory.Block{block}
				return 0
			})
			require.NoError(t, err)
			text, err := json.Marshal(described)
			require.NoError(t, err)
			var read column.Description
			require.NoError(t, json.Unmarshal(text, &read))
			require.Equal(t, described, read)
			made, err := read.Column(dataType, blocks)
			require.NoError(t, err, dataType)
			want, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
			require.NoError(t, err)
			got, err := column.ToArrays(t.Context(), []*column.Column{made}, column.DownloadOptions{})
			require.NoError(t, err)
			require.Equal(t, plains(want[0]), plains(got[0]), "%v", dataType)
			want[0].Release()
			got[0].Release()
			require.NoError(t, made.Release())
			require.NoError(t, c.Release())
			_, err = c.Describe(nil)
			require.ErrorIs(t, err, memory.ErrReleased)
		}
	})
}

// Invalid descriptions are refused.
func TestDescriptionsAreChecked(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	block, err := mgr.Allocate(100, memory.AllocateOptions{})
	require.NoError(t, err)
	blocks := []*memory.Block{block, nil}
	number, list := arrow.PrimitiveTypes.Int64, arrow.ListOf(arrow.PrimitiveTypes.Int64)
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: number}
	absent := column.Place{Block: -1}
	of := func(length int, places ...column.Place) column.Description {
		return column.Description{Length: length, Buffers: places}
	}
	good := of(2, absent, column.Place{Block: 0, Offset: 8, Bytes: 16})
	with := func(change func(*column.Description)) column.Description {
		d := of(2, append([]column.Place(nil), good.Buffers...)...)
		change(&d)
		return d
	}
	for name, test := range map[string]struct {
		described column.Description
		dataType  arrow.DataType
		err       error
	}{
		"past the block":     {of(2, absent, column.Place{Block: 0, Offset: 90, Bytes: 16}), number, memory.ErrRange},
		"far past the block": {of(2, absent, column.Place{Block: 0, Offset: math.MaxUint64 - 7, Bytes: 16}), number, memory.ErrRange},
		"fewer than none":    {of(2, absent, column.Place{Block: 0, Bytes: -16}), number, memory.ErrRange},
		"no such block":      {of(2, absent, column.Place{Block: 2, Bytes: 16}), number, memory.ErrRange},
		"a missing block":    {of(2, absent, column.Place{Block: 1, Bytes: 16}), number, memory.ErrReleased},
		"too short":          {of(3, absent, good.Buffers[1]), number, column.ErrInvalid},
		"too few buffers":    {of(2, absent), number, column.ErrInvalid},
		"negative length":    {of(-1, absent, absent), number, column.ErrInvalid},
		"endless":            {with(func(d *column.Description) { d.Offset = math.MaxInt }), number, column.ErrInvalid},
		"nulls":              {with(func(d *column.Description) { d.NullCount = 3 }), number, column.ErrInvalid},
		"nulls, no bitmap":   {with(func(d *column.Description) { d.NullCount = 1 }), number, column.ErrInvalid},
		"a child":            {with(func(d *column.Description) { d.Children = []column.Description{good} }), number, column.ErrInvalid},
		"a dictionary":       {with(func(d *column.Description) { d.Dictionary = &good }), number, column.ErrInvalid},
		"no dictionary":      {good, words, column.ErrInvalid},
		"no child":           {good, list, column.ErrInvalid},
		"a bad child":        {column.Description{Length: 0, Buffers: []column.Place{absent, absent}, Children: []column.Description{of(9, absent, absent)}}, list, column.ErrInvalid},
		"no type":            {good, nil, column.ErrInvalid},
	} {
		_, err := test.described.Column(test.dataType, blocks)
		assert.ErrorIs(t, err, test.err, name)
		require.Equal(t, 1, block.References(), name)
	}
	c, err := good.Column(number, blocks)
	require.NoError(t, err)
	require.NoError(t, c.Release())
	require.NoError(t, block.Release())

	places := 0
	nested := column.Description{Buffers: good.Buffers, Children: []column.Description{good}, Dictionary: &good}
	for range nested.Places {
		if places++; places == 5 {
			break
		}
	}
	require.Equal(t, 5, places)
}
