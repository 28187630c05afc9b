package codegen_test

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// running computes two outputs, on a device with kernels that do nothing.
func running() faulttest.Operation {
	return faulttest.Operation{
		Name: "Run", Requests: 1, Kernels: map[string]launchtest.Kernel{codegen.KernelName: {}},
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if m.Device().Kind() == device.Host {
				return nil
			}
			columns := upload(t, m, []arrow.Array{newValues(3).array(t, f64, 100, 3)}, 0)
			t.Cleanup(func() { release(t, columns) })
			p := program([]arrow.DataType{f64}, node(exprtree.Negate, f64, input(0, f64)), node(exprtree.IsNaN, bools, input(0, f64)))
			return func(ctx context.Context) (func(testing.TB), error) {
				call, err := op.Begin(ctx, kernels.Options{Manager: m}, columns...)
				if err != nil {
					return nil, err
				}
				results, err := codegen.Run(call, p, columns, memory.Slice[int64]{}, 100)
				if err != nil {
					require.Nil(t, results)
					return nil, err
				}
				for _, c := range results {
					err = errors.Join(err, c.Release())
				}
				if err != nil {
					return nil, err
				}
				return func(testing.TB) {}, nil
			}
		},
	}
}

// making makes strings, with a sum of 100 bytes.
func making() faulttest.Operation {
	o := running()
	o.Name, o.Requests, o.Cancellable, o.Waits = "Run with strings", 4, true, true
	o.Kernels = map[string]launchtest.Kernel{codegen.KernelName: {}, "text_sizes": {}, "text_offsets_4": {}, "text_copy_4": {}, "text_add_sums": {Run: func(l launchtest.Launch) {
		address := l.Uint64(0) // of memory of the host
		(*(**[2]uint64)(unsafe.Pointer(&address)))[1] = 100
	}}}
	prepared := o.Prepare
	o.Prepare = func(t testing.TB, m *memory.Manager) faulttest.Run {
		if prepared(t, m) == nil {
			return nil
		}
		of := arrow.BinaryTypes.String
		columns := upload(t, m, []arrow.Array{newValues(3).array(t, of, 100, 3)}, 0)
		t.Cleanup(func() { release(t, columns) })
		p := program([]arrow.DataType{of}, node(exprtree.Join, of, input(0, of), input(0, of)))
		return func(ctx context.Context) (func(testing.TB), error) {
			call, err := op.Begin(ctx, kernels.Options{Manager: m}, columns...)
			if err != nil {
				return nil, err
			}
			results, err := codegen.Run(call, p, columns, memory.Slice[int64]{}, 100)
			if err != nil {
				require.Nil(t, results)
				return nil, err
			}
			return nil, results[0].Release()
		}
	}
	return o
}

func TestEveryDriverCallFailsWithStrings(t *testing.T) { faulttest.EachCall(t, making()) }
func TestEveryAllocationFailsWithStrings(t *testing.T) { faulttest.EachAllocation(t, making()) }

func TestEveryDriverCallFails(t *testing.T)             { faulttest.EachCall(t, running()) }
func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, running()) }
func TestTheContextEndsAtEveryDriverCall(t *testing.T)  { faulttest.EachCallCancelled(t, running()) }
func TestEveryAllocationFails(t *testing.T)             { faulttest.EachAllocation(t, running()) }
