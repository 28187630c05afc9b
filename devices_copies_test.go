package gpuframe_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// copiedJoin is a join in the order of the left rows. All devices have a part of the right side.
func copiedJoin(left, right gpuframe.Query) gpuframe.Query {
	key := gpuframe.Col("key")
	return left.Join(right.Filter(gpuframe.Col("few").Ne(2)), gpuframe.Left, key)
}

// TestCopiesUnderBudgets joins with right sides that are copied as one table to each device, as
// several or in pieces.
func TestCopiesUnderBudgets(t *testing.T) {
	left, right := drawn(t, 1, 3, 200), drawn(t, 2, 9, 300)
	one := engineOn(t, devicetest.Open(t, "host"))
	want := lines(t, copiedJoin(one.Records(nil, left...), one.Records(nil, right...)))
	slices.Sort(want)
	for _, budget := range []uint64{0, 32 << 20, 4 << 20, 2 << 20, 1 << 20} {
		for _, devices := range [][]*device.Device{devicetest.Hosts(t, 3), devicetest.HostsApart(t, 2)} {
			var options []gpuframe.Option
			if budget > 0 {
				options = append(options, gpuframe.Budget(budget*uint64(len(devices))))
			}
			e := openDevices(t, devices, options...)
			q := copiedJoin(e.Records(nil, left...), e.Records(nil, right...))
			text, err := q.Explain(t.Context())
			require.NoError(t, err)
			require.Contains(t, text, "all-gather among")
			got := lines(t, q)
			slices.Sort(got) // a join that divides its sides yields its rows in another order
			require.Equal(t, want, got, "%d bytes on each of %d devices", budget, len(devices))
		}
	}
}

// TestCopiesWhileMemoryIsShort lets one device lack memory for each allocation. The join works with
// less at a time, or fails with an error that names the device.
func TestCopiesWhileMemoryIsShort(t *testing.T) {
	left, right := drawn(t, 1, 3, 40), drawn(t, 2, 4, 300)
	one := engineOn(t, devicetest.Open(t, "host"))
	want := lines(t, copiedJoin(one.Records(nil, left...), one.Records(nil, right...)))
	slices.Sort(want)
	devices := devicetest.Hosts(t, 3)
	var managers []*memory.Manager
	var faults []*adaptor.Fault
	for _, dev := range devices {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		faults = append(faults, fault)
		managers = append(managers, devicetest.Manager(t, dev, memory.Options{Resource: fault}))
	}
	e := gpuframe.EngineOnSeveral(managers...)
	defer func() { require.NoError(t, e.Close()) }()
	q := copiedJoin(e.Records(nil, left...), e.Records(nil, right...))
	step := uint64(1)
	if testing.Short() {
		step = 7
	}
	for number, fault := range faults {
		survived := 0
		for nth := uint64(1); ; nth += step {
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}, AllocateError: device.ErrOutOfMemory})
			got, err := linesOf(t.Context(), q)
			failed := fault.Requests().Failed
			fault.Arm(adaptor.FaultOptions{})
			requireNothing(t, e, "the join")
			if err != nil {
				require.ErrorIs(t, err, device.ErrOutOfMemory)
				require.ErrorContains(t, err, " on "+devices[number].Name()+": ")
				continue
			}
			slices.Sort(got)
			require.Equal(t, want, got, "allocation %d on %v", nth, devices[number])
			if failed == 0 {
				break
			}
			survived++
		}
		require.Greater(t, survived, 3, "on %v", devices[number])
	}
}
