package source_test

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// restOf returns the values of the column n that a reader has left.
func restOf(t *testing.T, reader buffer.Reader) (values []int64) {
	for {
		table, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return values
		}
		require.NoError(t, err)
		record, err := table.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		values = append(values, numbers(t, []arrow.Record{record})...)
		record.Release()
	}
}

// A reader that learns conditions after it has begun returns the rows of one that has them from the beginning, and counts the same.
func TestEarlyReaders(t *testing.T) {
	data := parquetOf(t, 100, numbered(0, 1000))
	for name, where := range map[string][]expr.Expr{
		"none":     nil,
		"some":     {expr.Col("n").Ge(expr.Lit(450)), expr.Col("n").Lt(expr.Lit(700))},
		"no row":   {expr.Col("n").Gt(expr.Lit(5000))},
		"no bound": {expr.Col("text").IsNull()},
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
				m := devicetest.Manager(t, dev, memory.Options{})
				s := openedData(t, data)
				require.True(t, source.ReadsEarly(t.Context(), s, m))
				open := func(request source.Request) source.EarlyReader {
					reader, err := s.Open(t.Context(), m, request)
					require.NoError(t, err)
					return reader.(source.EarlyReader)
				}
				var want, counters source.Counters
				known := open(source.Request{Where: where, Counters: &want})
				rows := restOf(t, known)
				require.NoError(t, known.Close())

				readahead := source.NewReadahead(m)
				other := open(source.Request{Readahead: readahead})
				other.Begin()
				reader := open(source.Request{Counters: &counters, Readahead: readahead})
				reader.Begin()
				require.NoError(t, reader.Narrow(t.Context(), where))
				require.Equal(t, rows, restOf(t, reader))
				require.NoError(t, reader.Narrow(t.Context(), []expr.Expr{expr.Col("n").Lt(expr.Lit(0))})) // too late
				require.NoError(t, reader.Close())
				require.NoError(t, other.Close())
				require.Equal(t, want.RowGroups.Load(), counters.RowGroups.Load())
				require.Equal(t, want.SkippedRowGroups.Load(), counters.SkippedRowGroups.Load())
				require.Equal(t, want.Files.Load(), counters.Files.Load())
				require.Equal(t, want.SkippedFiles.Load(), counters.SkippedFiles.Load())
			})
		})
	}
}

// An error of a row group that was read early and is left out is none.
func TestEarlyReadersDoNotNeedWhatIsLeftOut(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		data := parquetOf(t, 100, numbered(0, 300))
		s := openedData(t, data)
		_, err := s.Schema(t.Context())
		require.NoError(t, err)
		clear(data[4:200]) // of the first row group
		for _, late := range []bool{false, true} {
			reader, err := s.Open(t.Context(), m, source.Request{})
			require.NoError(t, err)
			early := reader.(source.EarlyReader)
			early.Begin()
			if late {
				require.NoError(t, early.Narrow(t.Context(), []expr.Expr{expr.Col("n").Ge(expr.Lit(100))}))
				require.Len(t, restOf(t, early), 200)
			} else {
				_, err := early.Next(t.Context())
				require.ErrorIs(t, err, source.ErrContents)
			}
			require.NoError(t, early.Close())
		}
	})
}
