//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/hostread"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// eachKernel runs f on the host, on the emulator and on a GPU if the machine has one:
// the emulator's driver distinguishes its memory from host memory and runs the
// checks.
func eachKernel(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		f(t, devicetest.Manager(t, dev, memory.Options{}))
	})
}

// viewTypes are types with views in different places.
func viewTypes() []arrow.DataType {
	views := arrow.BinaryTypes.StringView
	return []arrow.DataType{
		views, arrow.BinaryTypes.BinaryView, arrow.ListOf(views), arrow.FixedSizeListOf(2, views),
		arrow.StructOf(arrow.Field{Name: "a", Type: views, Nullable: true}, arrow.Field{Name: "b", Type: views, Nullable: true}),
	}
}

// viewNodes returns the structs of an array whose last buffer holds lengths of
// others.
func viewNodes(a *cabi.Array, t arrow.DataType) []*cabi.Array {
	var found []*cabi.Array
	if l, _ := layoutOf(t); l.Kind == layout.View {
		if a.NumBuffers > 3 {
			found = append(found, a)
		}
		return found
	} else {
		for i := range l.Children() {
			child, _ := l.Child(i)
			found = append(found, viewNodes(childOf(a, i), child)...)
		}
	}
	return found
}

// moveLengths moves the lengths of views' data buffers into device memory, as
// nanoarrow's copy does.
func moveLengths(t testing.TB, m *memory.Manager, a *cabi.Array) {
	t.Helper()
	buffers := buffersOf(a)
	last := len(buffers) - 1
	lengths := make([]int64, last-2)
	hostread.Trusted(lengths, buffers[last])
	var bytes []byte
	for _, length := range lengths {
		bytes = binary.NativeEndian.AppendUint64(bytes, uint64(length))
	}
	buffers[last] = uintptr(devicetest.Foreign(t, m.Device(), bytes))
}

// The lengths of views' data buffers may be in device or in host memory.
func TestMemoryOfDataBufferLengths(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		for number, dataType := range viewTypes() {
			for _, inDevice := range []bool{true, false} {
				for _, unchecked := range []bool{false, true} {
					g := arraytest.NewGenerator(uint64(number))
					record := recordOf(g.Array(dataType, 40), g.Array(arrow.BinaryTypes.StringView, 40))
					p, a := foreignTable(t, m, record)
					moved := 0
					for k, t2 := range []arrow.DataType{dataType, arrow.BinaryTypes.StringView} {
						for _, each := range viewNodes(childOf(&p.Device.Array, k), t2) {
							if moved++; inDevice {
								moveLengths(t, m, each)
							}
						}
					}
					require.Positive(t, moved)
					table, err := Import(m, pointerTo(p.Device), a.Schema(), ImportOptions{Unchecked: unchecked})
					require.NoError(t, err, "%v, lengths in memory of the device: %t", dataType, inDevice)
					requireRecord(t, record, download(t, table))
					requireReleasedOnce(t, p)
					require.NoError(t, a.Release())
				}
			}
		}
		requireNothingHeld(t, m)
	})
}

// Wrong lengths, and lengths at invalid addresses, give an error that names their
// buffer.
func TestMalformedLengthsOfDataBuffers(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		record := recordOf(arraytest.NewGenerator(1).Array(arrow.BinaryTypes.StringView, 40))
		for name, spoil := range map[string]func(t *testing.T, a *cabi.Array) error{
			"negative": func(t *testing.T, a *cabi.Array) error {
				last := len(buffersOf(a)) - 1
				lengths := make([]byte, 8*(last-2))
				binary.NativeEndian.PutUint64(lengths, ^uint64(0))
				buffersOf(a)[last] = uintptr(devicetest.Foreign(t, m.Device(), lengths))
				return ErrInvalid
			},
			"at an unmapped address": func(_ *testing.T, a *cabi.Array) error {
				buffersOf(a)[len(buffersOf(a))-1] = 0xdead0000
				return ErrInvalid
			},
			"past the end of their allocation": func(t *testing.T, a *cabi.Array) error {
				last := len(buffersOf(a)) - 1
				require.Greater(t, last-2, 1)
				buffersOf(a)[last] = uintptr(devicetest.Foreign(t, m.Device(), make([]byte, 8)))
				return device.ErrInvalidValue
			},
			"misaligned": func(_ *testing.T, a *cabi.Array) error {
				buffersOf(a)[len(buffersOf(a))-1] += 4
				return ErrInvalid
			},
		} {
			t.Run(name, func(t *testing.T) {
				if m.Device().Kind() == device.Host && name != "negative" && name != "misaligned" {
					t.Skip("host memory: no driver knows its address ranges")
				}
				p, a := foreignTable(t, m, record)
				child := childOf(&p.Device.Array, 0)
				is := spoil(t, child)
				_, err := Import(m, pointerTo(p.Device), a.Schema())
				requireFault(t, err, "import", fmt.Sprintf("ArrowDeviceArray.array.children[0].buffers[%d]", len(buffersOf(child))-1), is)
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
			})
		}
		requireNothingHeld(t, m)
	})
}

// Lengths in device memory are fetched after the producer's work.
func TestLengthsOfPendingWork(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "cuda:0"), memory.Options{})
	record := recordOf(arraytest.NewGenerator(1).Array(arrow.BinaryTypes.StringView, 40))
	p, a := foreignTable(t, m, record)
	child := childOf(&p.Device.Array, 0)
	moveLengths(t, m, child)
	buffers := buffersOf(child)
	last := len(buffers) - 1
	right := device.Pointer(buffers[last])
	bytes := uint64(8 * (last - 2))
	late := devicetest.Foreign(t, m.Device(), make([]byte, bytes))
	buffers[last] = uintptr(late)

	producer := newStream(t, m.Device())
	held := stall.New(t, m.Device()).Hold(producer)
	enqueueCopy(t, late, right, bytes, producer)
	ready(t, p, producer)
	imported := make(chan error)
	go func() {
		table, err := Import(m, pointerTo(p.Device), a.Schema())
		if err == nil {
			requireRecord(t, record, download(t, table))
		}
		imported <- err
	}()
	require.NoError(t, held.Finish(t.Context()))
	require.NoError(t, <-imported)
	requireReleasedOnce(t, p)
	require.NoError(t, a.Release())
	require.NoError(t, producer.Close())
	requireNothingHeld(t, m)
}

// The address of the event is checked with the driver too.
func TestEventsAtWrongAddresses(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		if m.Device().Kind() == device.Host {
			t.Skip("the host device exports no events")
		}
		inDevice := uintptr(devicetest.Foreign(t, m.Device(), make([]byte, 8)))
		for _, at := range []uintptr{0xdead0000, inDevice, 12} {
			p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3)))
			p.Device.SyncEvent = at
			_, err := Import(m, pointerTo(p.Device), a.Schema())
			requireFault(t, err, "import", "ArrowDeviceArray.sync_event", ErrInvalid)
			requireReleasedOnce(t, p)
			require.NoError(t, a.Release())
		}
		requireNothingHeld(t, m)
	})
}
