package adaptor_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
)

func TestLoggingIsReadByTrace(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		now := time.Date(2026, 1, 2, 23, 59, 59, 123456000, time.UTC)
		var log bytes.Buffer
		fault := adaptor.NewFault(adaptor.NewBorrowed(foot), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: 2}})
		logging := adaptor.NewLogging(fault, adaptor.LoggingOptions{CSV: &log, Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		}})
		first, err := logging.Allocate(100, stream)
		require.NoError(t, err)
		_, err = logging.Allocate(200, dev.DefaultStream())
		require.ErrorIs(t, err, adaptor.ErrInjected)
		require.NoError(t, logging.Free(first, nil))
		second, err := logging.Allocate(300, dev.DefaultStream())
		require.NoError(t, err)
		assert.Empty(t, log.String(), "it is in the buffer")
		require.NoError(t, logging.Flush())
		assert.Equal(t, 5, strings.Count(log.String(), "\n"))
		require.NoError(t, logging.Close())
		require.NoError(t, logging.Free(second, nil))

		start := 24*time.Hour + 123456*time.Microsecond
		handle := uint64(stream.Handle())
		want := []trace.Event{
			{Line: 2, Thread: 1, Time: start - 24*time.Hour, Action: trace.Allocate, Pointer: uint64(first.Pointer), Size: 100, Stream: handle},
			{Line: 3, Thread: 2, Action: trace.AllocateFailure, Size: 200},
			{Line: 4, Thread: 1, Action: trace.Free, Pointer: uint64(first.Pointer), Size: 100, Stream: handle},
			{Line: 5, Thread: 2, Action: trace.Allocate, Pointer: uint64(second.Pointer), Size: 300},
			{Line: 6, Thread: 2, Action: trace.Free, Pointer: uint64(second.Pointer), Size: 300},
		}
		var got []trace.Event
		for event, err := range trace.Read(&log) {
			require.NoError(t, err)
			got = append(got, event)
		}
		for i := range want {
			want[i].Time = want[0].Time + time.Duration(i)*time.Second
		}
		assert.Equal(t, want, got)
	})
}

// full fails every write.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestLoggingToAWriterThatFails(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		disk := full{errors.New("disk full")}
		logging := adaptor.NewLogging(adaptor.NewBorrowed(foot), adaptor.LoggingOptions{
			CSV: disk, FlushLines: true, Thread: func(*device.Stream) uint64 { return 0 },
		})
		allocation, err := logging.Allocate(1, dev.DefaultStream())
		require.NoError(t, err, "requests go on")
		require.NoError(t, logging.Free(allocation, nil))
		require.ErrorIs(t, logging.Flush(), disk.err)
		require.ErrorIs(t, logging.Close(), disk.err)
	})
}

func TestLoggingThreadsAndLines(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		var log bytes.Buffer
		logging := adaptor.NewLogging(foot, adaptor.LoggingOptions{
			CSV: &log, FlushLines: true, Thread: func(*device.Stream) uint64 { return 42 },
		})
		allocation, err := logging.Allocate(1, dev.DefaultStream())
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(log.String(), "\n"), "written at once")
		assert.Contains(t, log.String(), "\n42,")
		require.NoError(t, logging.Free(allocation, nil))
	})
}

func TestLoggingStructured(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		var log bytes.Buffer
		handler := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "pointer" || a.Key == "stream" {
				return slog.Attr{}
			}
			return a
		}})
		fault := adaptor.NewFault(foot, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: 2}, Free: adaptor.FaultRule{Nth: 1}})
		logging := adaptor.NewLogging(fault, adaptor.LoggingOptions{Logger: slog.New(handler), Level: slog.LevelDebug})
		allocation, err := logging.Allocate(5, dev.DefaultStream())
		require.NoError(t, err)
		_, err = logging.Allocate(6, dev.DefaultStream())
		require.Error(t, err)
		require.Error(t, logging.Free(allocation, nil))
		require.NoError(t, logging.Flush(), "there is no CSV")
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.Len(t, lines, 4)
		assert.Equal(t, "level=DEBUG msg=allocate bytes=5", lines[0])
		assert.Contains(t, lines[1], `level=WARN msg="allocate failure" bytes=6 error=`)
		assert.Equal(t, "level=DEBUG msg=free bytes=5", lines[2])
		assert.Contains(t, lines[3], `level=WARN msg="free failure" bytes=5 error=`)

		log.Reset()
		quiet := adaptor.NewLogging(foot, adaptor.LoggingOptions{Logger: slog.New(handler), Level: slog.LevelDebug - 1})
		allocation, err = quiet.Allocate(5, dev.DefaultStream())
		require.NoError(t, err)
		require.NoError(t, quiet.Free(allocation, nil))
		assert.Empty(t, log.String())
	})
}
