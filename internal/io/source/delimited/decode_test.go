package delimited_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestDecode(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		layout := delimited.Layout{Delimiter: ',', Width: 5, Nulls: []string{"", "NULL"}, Columns: []delimited.Column{
			{Type: arrow.PrimitiveTypes.Int64, Place: 0}, {Type: arrow.PrimitiveTypes.Float64, Place: 1}, {Type: arrow.BinaryTypes.String, Place: 2},
			{Type: arrow.FixedWidthTypes.Date32, Place: 3}, {Type: arrow.FixedWidthTypes.Boolean, Place: 4}, {Type: arrow.PrimitiveTypes.Int8, Place: -1},
		}}
		texts := []delimited.Text{{Bytes: []byte("1,0.5,abc,2024-05-01,true\n\n-7,1e3,\"x\"\"y\n,\",NULL,False\r\n"), Rows: 2}, {Bytes: []byte(",\"\",\"\",,true"), Rows: 1}}
		columns, err := delimited.Decode(t.Context(), m, layout, texts, delimited.Options{})
		require.NoError(t, err)
		for _, c := range columns {
			text, err := c.Preview(t.Context(), 3)
			require.NoError(t, err)
			t.Log(text)
			require.NoError(t, c.Release())
		}
	})
}
