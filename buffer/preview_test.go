package buffer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestPreview(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := counted(t, mgr, flights(t, 40), 4)
		schema := "buffer of at most 40 rows × 6 columns\n" +
			"  delay      int64                                                  nullable\n" +
			"  origin     utf8                                                   nullable\n" +
			"  cancelled  bool                                                   nullable\n" +
			"  stops      list<item: int32, nullable>                            nullable\n" +
			"  carrier    dictionary<values=utf8, indices=int8, ordered=false>   nullable\n" +
			"  distance   float64"
		assert.Equal(t, strings.ReplaceAll(schema, "   nullable", "  nullable"), table.String())
		_, known := table.HostRows()
		assert.False(t, known, "to print a table fetches nothing")

		text, err := table.Preview(t.Context(), 3)
		require.NoError(t, err)
		assert.Equal(t, `shape: (4, 6)
┌───────┬───────────┬───────────┬─────────────┬──────────────────┬──────────┐
│ delay ┆ origin    ┆ cancelled ┆ stops       ┆ carrier          ┆ distance │
│ int64 ┆ utf8      ┆ bool      ┆ list[int32] ┆ dictionary[utf8] ┆  float64 │
╞═══════╪═══════════╪═══════════╪═════════════╪══════════════════╪══════════╡
│     0 ┆ airport 0 ┆ true      ┆ []          ┆ carrier 0        ┆      0.0 │
│  1000 ┆ airport 1 ┆ false     ┆ [1]         ┆ carrier 1        ┆     0.25 │
│  2000 ┆ airport 2 ┆ false     ┆ [2, 3]      ┆ carrier 2        ┆      0.5 │
│     … ┆ …         ┆ …         ┆ …           ┆ …                ┆        … │
└───────┴───────────┴───────────┴─────────────┴──────────────────┴──────────┘`, text)
		text, err = table.PreviewWith(t.Context(), buffer.PreviewOptions{Rows: 3, Tail: true, Width: 30})
		require.NoError(t, err)
		assert.Equal(t, `shape: (4, 6)
┌───────┬───┬──────────┐
│ delay ┆ … ┆ distance │
│ int64 ┆   ┆  float64 │
╞═══════╪═══╪══════════╡
│     0 ┆ … ┆      0.0 │
│  1000 ┆ … ┆     0.25 │
│     … ┆ … ┆        … │
│  null ┆ … ┆     0.75 │
└───────┴───┴──────────┘`, text)
		text, err = table.PreviewWith(t.Context(), buffer.PreviewOptions{HTML: true})
		require.NoError(t, err)
		assert.Equal(t, 2+4, strings.Count(text, "<tr>"))
		text, err = table.Preview(t.Context(), 100)
		require.NoError(t, err)
		assert.Contains(t, text, "│  null ┆ null      ┆ null      ┆ null  ")
		assert.NotContains(t, text, "…")

		text, err = table.Column(0).Preview(t.Context(), 2)
		require.NoError(t, err)
		assert.Equal(t, "int64 column of 4, unknown nulls: [0, 1000, …]", text)

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errInjected)
		_, err = table.Preview(ctx, 3)
		require.ErrorIs(t, err, errInjected)
		_, err = table.Column(0).Preview(ctx, 3)
		require.ErrorIs(t, err, errInjected)
	})
}

// Values of every type are shown on one line, and wide tables are cut.
func TestPreviewOfEveryType(t *testing.T) {
	mgr := hostManager(t)
	g := arraytest.NewGenerator(3)
	var fields []arrow.Field
	var columns []arrow.Array
	for _, dataType := range arraytest.AllTypes() {
		fields = append(fields, arrow.Field{Name: "line\nbreak", Type: dataType, Nullable: true})
		columns = append(columns, g.Array(dataType, 5))
	}
	table := upload(t, mgr, array.NewRecord(arrow.NewSchema(fields, nil), columns, 5))
	text, err := table.Preview(t.Context(), 4)
	require.NoError(t, err)
	assert.Equal(t, 1+4+4+1+1, strings.Count(text, "\n")+1, text)
	assert.Contains(t, text, "┆ … ┆")
	for i := range table.NumColumns() {
		_, err := table.Column(i).Preview(t.Context(), 5)
		require.NoError(t, err)
	}

	var none *buffer.Buffer
	assert.Equal(t, "nil buffer", none.String())
	_, err = none.Preview(t.Context(), 1)
	require.ErrorIs(t, err, memory.ErrReleased)
	text, err = upload(t, mgr, emptyOf(3)).Preview(t.Context(), 5)
	require.NoError(t, err)
	assert.Equal(t, "shape: (3, 0)", text)
}

func TestUnknownColumnsListTheOthers(t *testing.T) {
	table := upload(t, hostManager(t), flights(t, 2))
	_, err := table.ColumnByName("dely")
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, `no column is called "dely": there are "delay", `)
	_, err = table.Select("distance", "Orign")
	require.ErrorContains(t, err, `there are "origin", `)
	bare := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(nil, nil)).NewRecord()
	_, err = upload(t, hostManager(t), bare).ColumnByName("x")
	require.ErrorContains(t, err, "there are none")
}
