package host

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestOrderAgainstModel runs random programs of fills, copies, records and waits on
// several streams, and compares the memory with that of the same steps run in sequence.
//
// The two must be equal if no two steps touch the same bytes without an order between
// them. The model computes the order of streams, events and host waits by vector
// clocks, and adds a record and a wait exactly where the order is missing. The test
// therefore depends on each added pair, and on each earlier one that made another
// unnecessary. The memory is Go's, so the race detector checks it too.
func TestOrderAgainstModel(t *testing.T) {
	d := open(t)
	property.Check(t, func(t *rapid.T) {
		m := newOrderModel(t, d)
		t.Repeat(map[string]func(*rapid.T){
			"fill":              m.fill,
			"copy":              m.copy,
			"record":            m.record,
			"wait":              m.wait,
			"delay":             m.delay,
			"synchronizeStream": m.synchronizeStream,
			"synchronizeEvent":  m.synchronizeEvent,
			"copyNow":           m.copyNow,
		})
		m.finish()
	})
}

const (
	modelStreams = 4 // the first is the default stream
	modelEvents  = 3
	modelBuffers = 3
	bufferBytes  = 256
	hostThread   = modelStreams // the host's place in a clock
)

// clock holds, for each stream and for the host, the number of earlier steps.
type clock [modelStreams + 1]int

func (c *clock) join(other clock) {
	for i := range c {
		c[i] = max(c[i], other[i])
	}
}

// access is a step that touched a buffer.
type access struct{ thread, tick int }

func (a access) before(c clock) bool { return a.tick <= c[a.thread] }

type orderModel struct {
	t       *rapid.T
	d       *device
	streams [modelStreams]backend.Stream
	events  [modelEvents]backend.Event
	actual  [modelBuffers][]byte

	clocks   [modelStreams + 1]clock
	recorded [modelEvents]clock // zero, which orders nothing, until recorded
	expected [modelBuffers]byte
	writes   [modelBuffers]access
	reads    [modelBuffers][]access
}

func newOrderModel(t *rapid.T, d *device) *orderModel {
	m := &orderModel{t: t, d: d}
	for i := 1; i < modelStreams; i++ {
		s, err := d.StreamCreate()
		require.NoError(t, err)
		m.streams[i] = s
	}
	for i := range m.events {
		e, err := d.EventCreate(false)
		require.NoError(t, err)
		m.events[i] = e
	}
	for i := range m.actual {
		m.actual[i] = make([]byte, bufferBytes)
	}
	return m
}

func drawIndex(t *rapid.T, length int, label string) int {
	return rapid.IntRange(0, length-1).Draw(t, label)
}

// order orders the thread's next step after the given earlier ones.
func (m *orderModel) order(t *rapid.T, thread int, earlier []access) {
	for _, a := range earlier {
		switch {
		case a.before(m.clocks[thread]):
		case thread == hostThread:
			require.NoError(t, m.d.StreamSynchronize(m.streams[a.thread]))
			m.clocks[hostThread].join(m.clocks[a.thread])
		default:
			e := drawIndex(t, modelEvents, "event")
			m.recordOn(t, e, a.thread)
			m.waitFor(t, thread, e)
		}
	}
}

// touch orders and counts a step that writes one buffer and may read another.
func (m *orderModel) touch(t *rapid.T, thread, written, read int) {
	m.enqueued(thread)
	m.order(t, thread, append([]access{m.writes[written]}, m.reads[written]...))
	if read >= 0 {
		m.order(t, thread, []access{m.writes[read]})
	}
	m.clocks[thread][thread]++
	step := access{thread, m.clocks[thread][thread]}
	m.writes[written], m.reads[written] = step, nil
	if read >= 0 && read != written {
		m.reads[read] = append(m.reads[read], step)
	}
}

// enqueued records that steps for which the host has waited precede a step that it
// enqueues.
func (m *orderModel) enqueued(thread int) {
	m.clocks[thread].join(m.clocks[hostThread])
}

func (m *orderModel) recordOn(t *rapid.T, e, thread int) {
	m.enqueued(thread)
	require.NoError(t, m.d.EventRecord(m.events[e], m.streams[thread]))
	m.recorded[e] = m.clocks[thread]
}

func (m *orderModel) waitFor(t *rapid.T, thread, e int) {
	m.enqueued(thread)
	require.NoError(t, m.d.StreamWaitEvent(m.streams[thread], m.events[e]))
	m.clocks[thread].join(m.recorded[e])
}

func (m *orderModel) fill(t *rapid.T) {
	thread, buffer := drawIndex(t, modelStreams, "stream"), drawIndex(t, modelBuffers, "buffer")
	value := rapid.Byte().Draw(t, "value")
	m.touch(t, thread, buffer, -1)
	require.NoError(t, m.d.MemsetAsync(at(m.actual[buffer]), uint32(value), 1, bufferBytes, m.streams[thread]))
	m.expected[buffer] = value
}

func (m *orderModel) copy(t *rapid.T) {
	thread := drawIndex(t, modelStreams, "stream")
	to, from := drawIndex(t, modelBuffers, "to"), drawIndex(t, modelBuffers, "from")
	m.touch(t, thread, to, from)
	require.NoError(t, m.d.CopyOnDeviceAsync(at(m.actual[to]), at(m.actual[from]), bufferBytes, m.streams[thread]))
	m.expected[to] = m.expected[from]
}

// copyNow copies without a stream, which waits for the default stream.
func (m *orderModel) copyNow(t *rapid.T) {
	to, from := drawIndex(t, modelBuffers, "to"), drawIndex(t, modelBuffers, "from")
	m.clocks[hostThread].join(m.clocks[0])
	m.touch(t, hostThread, to, from)
	require.NoError(t, m.d.CopyOnDevice(at(m.actual[to]), at(m.actual[from]), bufferBytes))
	m.expected[to] = m.expected[from]
}

func (m *orderModel) record(t *rapid.T) {
	m.recordOn(t, drawIndex(t, modelEvents, "event"), drawIndex(t, modelStreams, "stream"))
}

func (m *orderModel) wait(t *rapid.T) {
	m.waitFor(t, drawIndex(t, modelStreams, "stream"), drawIndex(t, modelEvents, "event"))
}

// delay lets other streams run ahead.
func (m *orderModel) delay(t *rapid.T) {
	thread, yields := drawIndex(t, modelStreams, "stream"), rapid.IntRange(1, 200).Draw(t, "yields")
	s, err := m.d.stream("delay", m.streams[thread])
	require.NoError(t, err)
	require.True(t, s.enqueue(&step{run: func() {
		for range yields {
			runtime.Gosched()
		}
	}}))
}

func (m *orderModel) synchronizeStream(t *rapid.T) {
	thread := drawIndex(t, modelStreams, "stream")
	require.NoError(t, m.d.StreamSynchronize(m.streams[thread]))
	m.clocks[hostThread].join(m.clocks[thread])
}

func (m *orderModel) synchronizeEvent(t *rapid.T) {
	e := drawIndex(t, modelEvents, "event")
	require.NoError(t, m.d.EventSynchronize(m.events[e]))
	m.clocks[hostThread].join(m.recorded[e])
}

func (m *orderModel) finish() {
	require.NoError(m.t, m.d.Synchronize())
	for i, buffer := range m.actual {
		for _, got := range buffer {
			require.Equal(m.t, m.expected[i], got, "buffer %d", i)
		}
	}
	for _, s := range m.streams[1:] {
		require.NoError(m.t, m.d.StreamDestroy(s))
	}
	for _, e := range m.events {
		require.NoError(m.t, m.d.EventDestroy(e))
	}
}
