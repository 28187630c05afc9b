//go:build !cgo || 386 || arm || mips || mipsle

package arrowdev_test

import (
	"context"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// nothing is a reader without tables.
type nothing struct{ closed int }

func (*nothing) Schema() *arrow.Schema                        { return arrow.NewSchema(nil, nil) }
func (*nothing) Next(context.Context) (*buffer.Buffer, error) { return nil, io.EOF }
func (n *nothing) Close() error                               { n.closed++; return nil }

func TestStreamsWithoutCgo(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	reader := &nothing{}
	require.ErrorIs(t, arrowdev.ExportStream(m, reader, nil), device.ErrNotAvailable)
	require.ErrorIs(t, arrowdev.ExportAsync(t.Context(), m, reader, nil), device.ErrNotAvailable)
	require.Equal(t, 2, reader.closed)
	_, err := arrowdev.ImportStream(m, nil)
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = arrowdev.ImportAsync(m, arrowdev.AsyncOptions{})
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = arrowdev.ImportRecordReader(nil)
	require.ErrorIs(t, err, device.ErrNotAvailable)
	records, err := array.NewRecordReader(reader.Schema(), nil)
	require.NoError(t, err)
	defer records.Release()
	require.ErrorIs(t, arrowdev.ExportRecordReader(records, nil), device.ErrNotAvailable)
	require.ErrorIs(t, arrowdev.ExportRecord(nil, nil, nil), device.ErrNotAvailable)
}
