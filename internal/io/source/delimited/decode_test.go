package delimited_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
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
		for i, want := range []string{"[1, -7, null]", "[0.5, 1000, null]", "[abc, x\"y\n,, ]", "[2024-05-01, null, null]", "[true, false, true]", "[null, null, null]"} {
			text, err := columns[i].Preview(t.Context(), 3)
			require.NoError(t, err)
			require.Contains(t, text, want)
		}
		require.NoError(t, release.All(columns))
	})
}

// Texts of another layout are faults, and layouts that make no sense are refused.
func TestFaults(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		numbers := delimited.Layout{Delimiter: ',', Width: 2, Columns: []delimited.Column{{Type: arrow.PrimitiveTypes.Int64, Place: 1}}}
		decode := func(layout delimited.Layout, text string, rows int64) error {
			columns, err := delimited.Decode(t.Context(), m, layout, []delimited.Text{{Bytes: []byte(text), Rows: rows}}, delimited.Options{})
			return errors.Join(err, release.All(columns))
		}
		require.NoError(t, decode(numbers, "a,1\n\"\"\"\",2\n", 2))
		require.NoError(t, decode(numbers, "", 0))
		for text, rows := range map[string]int64{
			"a,1\nb,2\n": 3, "a,1\nb,2,3\n": 2, "a,1\nb\nc,2,3\n": 3, "a,x\n": 1, "a,\n": 1, "a\"b,1\n": 1, "\"a\"b,1\n": 1, "\"a,1\n": 1, "a\"\",1\n": 1, "\"a\" ,1\n": 1, "a,1\n\n": 2, "": 1, "a,\"1\"\r\r\n": 1,
		} {
			require.ErrorIs(t, decode(numbers, text, rows), delimited.ErrFault, "%q", text)
		}
		for _, layout := range []delimited.Layout{
			{Delimiter: ',', Width: 0}, {Delimiter: '"', Width: 1}, {Width: 1}, {Delimiter: ',', Width: 1, Nulls: []string{strings.Repeat("x", 64)}},
			{Delimiter: ',', Width: 1, Columns: []delimited.Column{{Type: arrow.PrimitiveTypes.Int64, Place: 1}}},
		} {
			require.ErrorIs(t, decode(layout, "1\n", 1), device.ErrInvalidValue, "%+v", layout)
		}
		require.ErrorIs(t, decode(delimited.Layout{Delimiter: ',', Width: 1, Columns: []delimited.Column{{Type: arrow.FixedWidthTypes.MonthInterval}}}, "1\n", 1), device.ErrNotSupported)
		require.Zero(t, m.Stats().InUse)
	})
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	_, err := delimited.Copy(t.Context(), host, delimited.Layout{Delimiter: ',', Width: 1}, nil, delimited.Options{})
	require.ErrorIs(t, err, device.ErrNotSupported)
}
