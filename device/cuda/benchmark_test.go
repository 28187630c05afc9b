package cuda

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// BenchmarkCalls times operations with almost no device work on every device. On every
// device except the first they also restore the thread's context.
func BenchmarkCalls(b *testing.B) {
	devices, err := Driver{}.Devices()
	if errors.Is(err, backend.ErrNotAvailable) {
		b.Skip(err)
	}
	require.NoError(b, err)
	for ordinal := range devices {
		d, err := Driver{}.Open(ordinal)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("device=%d", ordinal), func(b *testing.B) { benchmarkCalls(b, d) })
		require.NoError(b, d.Close())
	}
}

func benchmarkCalls(b *testing.B, d backend.Device) {
	const empty = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty(.param .u64 p, .param .u32 n) { ret; }\n"
	module, err := d.ModuleLoad([]byte(empty))
	require.NoError(b, err)
	function, err := d.ModuleFunction(module, "empty")
	require.NoError(b, err)
	s, err := d.StreamCreate()
	require.NoError(b, err)
	e, err := d.EventCreate(false)
	require.NoError(b, err)
	require.NoError(b, d.EventRecord(e, s))
	slots, starts := []uint64{0, 0}, []uint32{0, 1}

	for _, benchmark := range []struct {
		name string
		call func() error
	}{
		{"EventQuery", func() error { _, err := d.EventQuery(e); return err }},
		{"EventRecord", func() error { return d.EventRecord(e, s) }},
		{"StreamWaitEvent", func() error { return d.StreamWaitEvent(s, e) }},
		{"Launch", func() error { return d.Launch(function, backend.LaunchConfig{Stream: s}, slots, starts) }},
		{"AllocFree", func() error {
			p, err := d.AllocAsync(1<<20, 0, s)
			if err != nil {
				return err
			}
			return d.FreeAsync(p, s)
		}},
	} {
		b.Run(benchmark.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := benchmark.call(); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, d.StreamSynchronize(s))
		})
	}
	require.NoError(b, d.EventDestroy(e))
	require.NoError(b, d.StreamDestroy(s))
	require.NoError(b, d.ModuleUnload(module))
}
