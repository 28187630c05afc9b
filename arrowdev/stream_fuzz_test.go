//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// FuzzStream changes the struct of a foreign stream, its failures, and the order of
// the calls. In every case the stream is released once, if it has a release, and all
// its arrays are released.
func FuzzStream(f *testing.F) {
	f.Add(byte(0), byte(3), byte(0), byte(0), []byte{0, 0, 0, 0})
	f.Add(byte(1), byte(3), byte(2), byte(0), []byte{0, 1, 0})
	f.Add(byte(0), byte(2), byte(0), byte(1), []byte{0, 0, 2, 0})
	f.Add(byte(6), byte(1), byte(0), byte(0), []byte{0})
	f.Fuzz(func(t *testing.T, change, count, failAt, elsewhereAt byte, steps []byte) {
		const rows = 2
		m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		foreign := foreignBatches(t, m, int(count%8), rows)
		foreign.FailAt, foreign.FailCode, foreign.ElsewhereAt = int(failAt%8), 28, int(elsewhereAt%8)
		foreign.Lying = change%8 == 6
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		release := stream.Release
		switch change % 8 {
		case 1:
			stream.GetSchema = 0
		case 2:
			stream.GetNext = 0
		case 3:
			stream.GetLastError = 0
		case 4:
			stream.Release = 0
		case 5:
			stream.DeviceType = int32(change)
		}
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.Zero(t, stream.Release)
		if err == nil {
			readFuzzed(t, m, reader, steps)
		} else {
			require.Nil(t, reader)
		}
		if change%8 == 4 {
			require.ErrorIs(t, err, arrowdev.ErrMoved)
			stream.Release = release
			stream.CallRelease()
		}
		requireGivenBack(t, foreign)
		require.Zero(t, m.Stats().ExternalBlocks)
	})
}

// readFuzzed follows the steps: it reads and keeps tables, closes the reader, or
// exports the reader as another stream.
func readFuzzed(t *testing.T, m *memory.Manager, reader *arrowdev.StreamReader, steps []byte) {
	good, ended := 0, error(nil)
	for _, step := range steps {
		switch step % 4 {
		case 1:
			require.NoError(t, reader.Close())
			ended = memory.ErrReleased
		case 2:
			stopped, stop := context.WithCancel(context.Background())
			stop()
			if _, err := reader.Next(stopped); ended == nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		case 3:
			stream := newStruct[cabi.DeviceStream](t)
			require.NoError(t, arrowdev.ExportStream(m, reader, pointerTo(stream)))
			_, err := cabitest.ReadDeviceStream(stream, int(step/4), false)
			require.NoError(t, err)
			ended = memory.ErrReleased
		default:
			table, err := reader.Next(context.Background())
			if ended != nil {
				require.ErrorIs(t, err, ended)
				continue
			}
			if ended = err; err == nil {
				requireNumbers(t, table, good, 2)
				good++
			} else if err != io.EOF {
				var typed *arrowdev.Error
				require.ErrorAs(t, err, &typed)
			}
		}
	}
	require.NoError(t, reader.Close())
}
