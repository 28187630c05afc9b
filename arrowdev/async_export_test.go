//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// produce starts an export to a consumer in C.
func produce(m *memory.Manager, source buffer.Reader, r *cabitest.Receiver) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- arrowdev.ExportAsync(context.Background(), m, source, pointerTo(r.Handler()))
	}()
	return done
}

// A consumer requests, extracts and cancels in any order, and a model checks it: the
// number of tasks is the number of requests, and no task comes after a cancel.
func TestBackPressure(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			count := rapid.IntRange(0, 12).Draw(r, "batches")
			source := newTables(m, count, 2)
			failAt := rapid.IntRange(-1, 12).Draw(r, "fails at")
			end := count
			if failAt >= 0 && failAt <= count {
				source.fail(failAt, errBroken)
				end = failAt
			}
			consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: rapid.IntRange(0, 3).Draw(r, "first")})
			defer consumer.Free()
			done := produce(m, source, consumer)
			consumer.Wait(0)
			out := cabitest.New[cabi.DeviceArray]()
			defer cabitest.Free(out)
			taken, cancelled := 0, false
			requested := consumer.Counts().Requested
			finished := func() int {
				if requested > end {
					consumer.WaitEnd() // one request was for the end
				} else {
					consumer.Wait(requested)
				}
				return min(requested, end)
			}
			for step := range rapid.IntRange(0, 15).Draw(r, "steps") {
				_ = step
				if requested > end || cancelled {
					break // the producer may be gone
				}
				switch rapid.IntRange(0, 9).Draw(r, "action") {
				case 0:
					consumer.Cancel(rapid.Bool().Draw(r, "on a thread"))
					cancelled = true
				case 1, 2, 3, 4:
					n := rapid.IntRange(1, 4).Draw(r, "n")
					consumer.Request(n, rapid.Bool().Draw(r, "on a thread"))
					requested += n
				default:
					tasks := finished()
					require.Equal(r, tasks, consumer.Counts().Tasks)
					require.LessOrEqual(r, source.made.Load(), int64(requested))
					if taken < tasks {
						extractOne(r, consumer, out, taken)
						taken++
					}
				}
			}
			ended := requested > end
			if !ended && !cancelled {
				require.Equal(r, finished(), consumer.Counts().Tasks)
				consumer.Cancel(true)
			}
			consumer.WaitEnd()
			err := <-done
			counts := consumer.Counts()
			require.Zero(r, counts.Violations)
			require.Equal(r, 1, counts.Released)
			require.LessOrEqual(r, counts.AfterCancel, 1, "one call may have been under way")
			require.LessOrEqual(r, counts.Tasks, min(requested, end))
			if ended && !cancelled {
				require.Equal(r, end, counts.Tasks)
				failed := failAt >= 0 && failAt <= count
				require.Equal(r, failed, err != nil)
				require.Equal(r, failed, counts.Errors == 1)
				require.Equal(r, failed, counts.Ends == 0)
				if failed {
					require.Equal(r, cabi.EIO, counts.Code)
					require.Contains(r, counts.Message, errBroken.Error())
				}
			}
			for ; taken < counts.Tasks; taken++ { // tasks may be extracted after the release
				extractOne(r, consumer, out, taken)
			}
			require.EqualValues(r, 1, source.closed.Load())
			require.Zero(r, m.Stats().InUse)
			consumer.Request(1, false) // too late, without effect
			consumer.Cancel(false)
		})
	})
}

// extractOne extracts or drops the next task of a consumer.
func extractOne(r *rapid.T, consumer *cabitest.Receiver, out *cabi.DeviceArray, batch int) {
	onThread := rapid.Bool().Draw(r, "on a thread")
	if rapid.Bool().Draw(r, "drop") {
		require.Zero(r, consumer.Extract(nil, onThread))
		require.Equal(r, cabi.EINVAL, consumer.ExtractAgain(nil))
		return
	}
	require.Zero(r, consumer.Extract(out, onThread))
	require.NotZero(r, out.Array.Release)
	require.EqualValues(r, 2, out.Array.Length)
	cabi.ReleaseArray(&out.Array)
	require.Equal(r, cabi.EINVAL, consumer.ExtractAgain(out), "only once")
	require.Zero(r, out.Array.Release)
}

// The consumer requests and cancels inside the callbacks.
func TestReentrantConsumers(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		for _, c := range []struct {
			habits cabitest.Habits
			tasks  int
			ends   int
		}{
			{cabitest.Habits{RequestFirst: 1, RequestEach: 1}, 10, 1},
			{cabitest.Habits{RequestFirst: 3, RequestEach: 2, KeepSchema: true}, 10, 1},
			{cabitest.Habits{RequestFirst: 1, RequestEach: 1, CancelAt: 4}, 4, 0},
			{cabitest.Habits{RequestFirst: 100, CancelAt: 10}, 10, 0},
		} {
			consumer := cabitest.NewReceiver(c.habits)
			require.NoError(t, <-produce(m, newTables(m, 10, 3), consumer))
			counts := consumer.Counts()
			require.Equal(t, c.tasks, counts.Tasks)
			require.Equal(t, c.ends, counts.Ends)
			require.Zero(t, counts.Errors)
			require.Zero(t, counts.Violations)
			for consumer.Extract(nil, true) == 0 {
			}
			consumer.Free()
		}
	})
}

func TestConsumersThatRefuse(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		consumer := cabitest.NewReceiver(cabitest.Habits{RefuseSchema: 22, RequestFirst: 5})
		source := newTables(m, 3, 3)
		require.ErrorContains(t, <-produce(m, source, consumer), "on_schema: the consumer returned code 22")
		counts := consumer.Counts()
		require.Equal(t, [4]int{0, 0, 0, 1}, [4]int{counts.Tasks, counts.Errors, counts.Violations, counts.Released})
		require.Zero(t, source.made.Load())
		consumer.Free()

		consumer = cabitest.NewReceiver(cabitest.Habits{RequestFirst: 5, RefuseTask: 12, RefuseAt: 2})
		source = newTables(m, 5, 3)
		require.ErrorContains(t, <-produce(m, source, consumer), "on_next_task: the consumer returned code 12")
		counts = consumer.Counts()
		require.Equal(t, [4]int{2, 0, 0, 1}, [4]int{counts.Tasks, counts.Errors, counts.Violations, counts.Released})
		for consumer.Extract(nil, false) == 0 {
		}
		consumer.Free()
	})
}

func TestRequestsForNothing(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		for _, n := range []int{0, -1, -1 << 63} {
			for _, inside := range []bool{false, true} {
				habits := cabitest.Habits{}
				if inside && n != 0 {
					habits.RequestFirst = n
				}
				consumer := cabitest.NewReceiver(habits)
				source := newTables(m, 3, 3)
				done := produce(m, source, consumer)
				if habits.RequestFirst == 0 {
					consumer.Wait(0)
					consumer.Request(n, true)
				}
				require.ErrorIs(t, <-done, arrowdev.ErrInvalid)
				counts := consumer.Counts()
				require.Equal(t, [4]int{1, cabi.EINVAL, 0, 0}, [4]int{counts.Errors, counts.Code, counts.Violations, counts.Tasks})
				require.Zero(t, source.made.Load())
				consumer.Free()
			}
		}
	})
}

// The sum of the requests exceeds an int64.
func TestRequestsForEverything(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: 1<<63 - 1, RequestEach: 1 << 62})
		require.NoError(t, <-produce(m, newTables(m, 5, 3), consumer))
		require.Equal(t, 5, consumer.Counts().Tasks)
		for consumer.Extract(nil, false) == 0 {
		}
		consumer.Free()
	})
}

// If an extraction fails, the stream ends with its error.
func TestAnExtractionThatFails(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 5, 3)
		source.at[1] = func(context.Context) (*buffer.Buffer, error) { return otherTable(m) }
		consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: 2})
		done := produce(m, source, consumer)
		consumer.Wait(2)
		out := newStruct[cabi.DeviceArray](t)
		require.Zero(t, consumer.Extract(out, true))
		cabi.ReleaseArray(&out.Array)
		require.Equal(t, cabi.EINVAL, consumer.Extract(out, true))
		require.Zero(t, out.Array.Release)
		require.ErrorIs(t, <-done, buffer.ErrSchema)
		counts := consumer.Counts()
		require.Equal(t, [3]int{1, cabi.EINVAL, 0}, [3]int{counts.Errors, counts.Code, counts.Violations})
		require.Contains(t, counts.Message, "extract_data")
		consumer.Free()
	})
}

func TestTheContextOfAnAsyncExport(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		ctx, cancel := context.WithCancelCause(context.Background())
		consumer := cabitest.NewReceiver(cabitest.Habits{})
		done := make(chan error)
		go func() { done <- arrowdev.ExportAsync(ctx, m, newTables(m, 3, 3), pointerTo(consumer.Handler())) }()
		consumer.Wait(0)
		cancel(io.ErrClosedPipe)
		err := <-done
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		counts := consumer.Counts()
		require.Equal(t, [3]int{1, cabi.ECANCELED, 0}, [3]int{counts.Errors, counts.Code, counts.Violations})
		consumer.Free()
	})
}

func TestAsyncExportsThatCannotBegin(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 3, 3)
		require.ErrorIs(t, arrowdev.ExportAsync(t.Context(), m, source, nil), arrowdev.ErrInvalid)
		require.EqualValues(t, 1, source.closed.Load(), "taken over in every case")

		refused := func(code int, export func(h *cabi.AsyncHandler) error) {
			consumer := cabitest.NewReceiver(cabitest.Habits{})
			defer consumer.Free()
			require.Error(t, export(consumer.Handler()))
			counts := consumer.Counts()
			require.Equal(t, [5]int{0, 1, code, 1, 0},
				[5]int{counts.Schemas, counts.Errors, counts.Code, counts.Released, counts.Violations})
		}
		refused(cabi.EINVAL, func(h *cabi.AsyncHandler) error {
			return arrowdev.ExportAsync(t.Context(), nil, newTables(m, 3, 3), pointerTo(h))
		})
		refused(cabi.EINVAL, func(h *cabi.AsyncHandler) error {
			return arrowdev.ExportAsync(t.Context(), m, nil, pointerTo(h))
		})
		refused(cabi.EINVAL, func(h *cabi.AsyncHandler) error {
			return arrowdev.ExportAsync(t.Context(), m, unschooled{newTables(m, 3, 3)}, pointerTo(h))
		})
		refused(cabi.EINVAL, func(h *cabi.AsyncHandler) error {
			return arrowdev.ExportAsync(t.Context(), m, newTables(m, 3, 3), pointerTo(h), arrowdev.ExportOptions{}, arrowdev.ExportOptions{})
		})
		refused(cabi.EINVAL, func(h *cabi.AsyncHandler) error {
			h.OnNextTask = 0
			return arrowdev.ExportAsync(t.Context(), m, newTables(m, 3, 3), pointerTo(h))
		})
		consumer := cabitest.NewReceiver(cabitest.Habits{})
		consumer.Handler().Release = 0
		require.ErrorIs(t, arrowdev.ExportAsync(t.Context(), m, newTables(m, 3, 3), pointerTo(consumer.Handler())), arrowdev.ErrMoved)
		consumer.Free()
	})
}

// The consumer cancels on a C thread while batches are delivered.
func TestCancelsAtAnyMoment(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		for i := range 100 {
			consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: 50})
			done := produce(m, newTables(m, 20, 1), consumer)
			consumer.Wait(0)
			for range i {
				runtime.Gosched()
			}
			consumer.Cancel(true)
			consumer.Cancel(true)
			require.NoError(t, <-done)
			counts := consumer.Counts()
			require.Zero(t, counts.Errors)
			require.Zero(t, counts.Violations)
			for consumer.Extract(nil, true) == 0 {
			}
			consumer.Free()
		}
	})
}
