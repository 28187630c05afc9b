//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// If the first batch fits the budget and the second does not, the consumer receives
// ENOMEM.
func TestStreamBeyondTheBudget(t *testing.T) {
	balanced(t, devicetest.Open(t, "host"), memory.Options{Budget: 4096}, func(t *testing.T, m *memory.Manager) {
		small, large := numbersRecord(0, 10), numbersRecord(1, 5000)
		defer small.Release()
		defer large.Release()
		open := func() *buffer.RecordReader {
			records, err := array.NewRecordReader(numbersSchema(), []arrow.Record{small, large})
			require.NoError(t, err)
			defer records.Release()
			return buffer.NewReader(m, records, buffer.LoadOptions{})
		}
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, open(), pointerTo(stream)))
		seen, err := cabitest.ReadDeviceStream(stream, -1, true)
		require.NoError(t, err)
		require.Equal(t, 1, seen.Batches)
		require.Equal(t, cabi.ENOMEM, seen.Code)
		require.Contains(t, seen.Message, "budget")

		reader, done := connect(t, m, open(), arrowdev.AsyncOptions{})
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		require.ErrorIs(t, <-done, memory.ErrBudget)
		require.NoError(t, reader.Close())
	})
}

// For a failure of any driver call, both ends of the stream finish and hold nothing.
func TestStreamsWhereTheDriverFails(t *testing.T) {
	for name, through := range map[string]func(t *testing.T, m *memory.Manager) error{
		"stream": func(t *testing.T, m *memory.Manager) error {
			stream := newStruct[cabi.DeviceStream](t)
			require.NoError(t, arrowdev.ExportStream(m, newTables(m, 3, 3), pointerTo(stream)))
			reader, err := arrowdev.ImportStream(m, pointerTo(stream))
			require.NoError(t, err)
			return drain(reader)
		},
		"async": func(t *testing.T, m *memory.Manager) error {
			reader, done := connect(t, m, newTables(m, 3, 3), arrowdev.AsyncOptions{Ahead: 1})
			err := drain(reader)
			<-done
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dev, driver := faulttest.OpenGPU(t, nil)
			balanced(t, dev, memory.Options{Resource: memory.NewDriverResource(dev)}, func(t *testing.T, m *memory.Manager) {
				failures := 0
				for fail := int64(1); ; fail++ {
					var calls atomic.Int64 // both ends make driver calls
					driver.Arm(func(call faulttest.Call) error {
						if gives(call.Operation) {
							return nil
						}
						if calls.Add(1) == fail {
							return faulttest.ErrDriver
						}
						return nil
					})
					err := through(t, m)
					driver.Arm(nil)
					if err != nil {
						failures++
					}
					require.Zero(t, m.Stats().Blocks, "call %d", fail)
					if calls.Load() < fail {
						require.NoError(t, err)
						break
					}
				}
				require.Positive(t, failures)
			})
		})
	}
}

// gives reports whether an operation releases a resource.
func gives(operation string) bool {
	return strings.Contains(operation, "Free") || strings.Contains(operation, "Destroy") || strings.Contains(operation, "Unregister")
}

// drain reads to the end or the first error, and closes.
func drain(reader buffer.Reader) error {
	for {
		table, err := reader.Next(context.Background())
		if err != nil {
			if closing := reader.Close(); closing != nil {
				return closing
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := table.Release(); err != nil {
			return err
		}
	}
}
