package join_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// operations are calls with different paths. TestPairOperators has others.
var operations = map[string]struct {
	keys string
	run  func(ctx context.Context, a, b *buffer.Buffer) (interface{ Release() error }, error)
}{
	"search":    {"dictionaries", tables(join.Options{Kind: join.Full, NullsEqual: true})},
	"unify":     {"offsets", tables(join.Options{Kind: join.Left})},
	"condition": {"two integers", tables(join.Options{Kind: join.Right, Where: where})},
	"semi":      {"mixed", tables(join.Options{Kind: join.Semi})},
	"index": {"mixed", func(ctx context.Context, a, b *buffer.Buffer) (interface{ Release() error }, error) {
		ix, err := join.Build(ctx, a.Schema(), b, join.Using("k0", "k1"), join.Options{Kind: join.Left})
		if err != nil {
			return nil, err
		}
		made, err := ix.Probe(ctx, a)
		return made, errors.Join(err, ix.Release())
	}},
	"spilled index": {"int32", func(ctx context.Context, a, b *buffer.Buffer) (made interface{ Release() error }, err error) {
		made = (*buffer.Buffer)(nil)
		spiller, err := spill.NewSpiller(b.Manager(), spill.Options{})
		if err != nil {
			return made, err
		}
		defer func() { err = errors.Join(err, spiller.Close()) }()
		ix, err := join.Build(ctx, a.Schema(), b, join.Using("k0"), join.Options{})
		if err != nil {
			return made, err
		}
		defer func() { err = errors.Join(err, ix.Release()) }()
		if err := ix.Spill(spiller); err != nil {
			return made, err
		}
		if _, err := spiller.Reclaim(ctx, 1<<40); err != nil {
			return made, err
		}
		return ix.Probe(ctx, a)
	}},
	"batches": {"int64", func(ctx context.Context, a, b *buffer.Buffer) (last interface{ Release() error }, err error) {
		last = (*buffer.Buffer)(nil)
		for part, err := range join.Batches(ctx, a, b, join.Using("k0"), join.Options{Kind: join.Full, MaxRows: 9}) {
			if err = errors.Join(err, last.Release()); err != nil {
				return nil, errors.Join(err, part.Release())
			}
			last = part
		}
		return last, nil
	}},
	"rows": {"int64", func(ctx context.Context, a, b *buffer.Buffer) (interface{ Release() error }, error) {
		left, right, err := join.Rows(ctx, a, b, join.Using("k0"), join.Options{Kind: join.Full})
		return left, errors.Join(err, right.Release())
	}},
}

func tables(o join.Options) func(ctx context.Context, a, b *buffer.Buffer) (interface{ Release() error }, error) {
	return func(ctx context.Context, a, b *buffer.Buffer) (interface{ Release() error }, error) {
		on := join.Using("k0")
		if _, err := a.ColumnByName("k1"); err == nil {
			on = join.Using("k0", "k1")
		}
		return join.Tables(ctx, a, b, on, o)
	}
}

// TestEveryAllocationFails fails each allocation, one in each run. Closing the manager
// reports the memory that an error path leaks.
func TestEveryAllocationFails(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				choices := property.Random(t)
				ctx, _ := anyStrategy(t, choices)
				// The first two allocations are those of the tables.
				for failing := uint64(3); ; failing++ {
					if !chosen(choices, dev, 4) {
						continue
					}
					faults := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: failing}})
					mgr := devicetest.Manager(t, dev, memory.Options{Resource: faults})
					r := rand.New(rand.NewPCG(1, 1))
					kind := keyKinds[operation.keys]
					a, b := drawSide(t, mgr, r, kind, false, 12, 0.2, "a"), drawSide(t, mgr, r, kind, true, 12, 0.2, "b")
					result, err := operation.run(ctx, a.table, b.table)
					if err == nil {
						require.NoError(t, result.Release())
						require.Greater(t, failing, uint64(4))
						return
					}
					require.ErrorIs(t, err, adaptor.ErrInjected)
					require.ErrorContains(t, err, "join: ")
				}
			})
		})
	}
}
