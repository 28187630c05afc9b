package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

var errInjected = errors.New("injected")

var faultTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
	arrow.ListOf(arrow.BinaryTypes.String),
}

// operation is an exchange that is to fail at each point.
type operation struct {
	name string
	run  func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error)
}

func operations() []operation {
	options := exchange.Options{RoundBytes: 2000}
	return []operation{
		{"copy", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return one(exchange.Copy(ctx, tables[0], managers[1], options))
		}},
		{"gather", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return one(exchange.Gather(ctx, tables, managers[1], options))
		}},
		{"broadcast", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return exchange.Broadcast(ctx, tables[0], managers, options)
		}},
		{"all-gather", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return exchange.AllGather(ctx, tables, managers, options)
		}},
		{"all to all", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return exchange.AllToAll(ctx, [][]*buffer.Buffer{{tables[0], tables[0]}, {tables[1], tables[1]}}, managers, options)
		}},
		{"scatter", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return exchange.Scatter(ctx, []*buffer.Buffer{tables[1], tables[0]}, managers, options)
		}},
		{"reduce", func(ctx context.Context, tables []*buffer.Buffer, managers []*memory.Manager) ([]*buffer.Buffer, error) {
			return one(exchange.Reduce(ctx, tables, managers[1], func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error) {
				return selection.Concat(ctx, []*buffer.Buffer{a, b})
			}, options))
		}},
		{"partition by hash", func(ctx context.Context, tables []*buffer.Buffer, _ []*memory.Manager) ([]*buffer.Buffer, error) {
			return exchange.PartitionByHash(ctx, tables[0], []expr.Expr{expr.Col("a"), expr.Col("b")}, 3)
		}},
		{"partition by range", func(ctx context.Context, tables []*buffer.Buffer, _ []*memory.Manager) ([]*buffer.Buffer, error) {
			bounds, err := order.TopK(ctx, tables[0], 2, []order.Key{{Column: "a"}})
			if err != nil {
				return nil, fmt.Errorf("exchange: partition by range: make bounds: %w", err)
			}
			parts, err := exchange.PartitionByRange(ctx, tables[0], bounds, []order.Key{{Column: "a"}})
			return parts, errors.Join(err, bounds.Release())
		}},
	}
}

func one(table *buffer.Buffer, err error) ([]*buffer.Buffer, error) {
	return []*buffer.Buffer{table}, err
}

// operands makes a table on each device: strings and lists of the first one are slices.
func operands(t testing.TB, managers []*memory.Manager) (tables []*buffer.Buffer) {
	for i, m := range managers {
		g := arraytest.NewGenerator(uint64(i))
		table, _ := columntest.DrawTable(t, m, g, 330, faultTypes...)
		if i == 0 {
			slice, err := table.Slice(10, 50)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, slice.Release()) })
			table = slice
		}
		tables = append(tables, table)
	}
	return tables
}

func held(managers []*memory.Manager) (figures []uint64) {
	for _, m := range managers {
		s := m.Stats()
		figures = append(figures, s.InUse, s.Blocks, s.Leaks, s.DoubleReleases)
	}
	return figures
}

// succeed runs an operation and releases its results.
func (o operation) succeed(t *testing.T, tables []*buffer.Buffer, managers []*memory.Manager) {
	t.Helper()
	made, err := o.run(t.Context(), tables, managers)
	require.NoError(t, err)
	for _, table := range made {
		require.NoError(t, table.Release())
	}
}

// After any allocation that fails, on any of the devices, nothing is held and the operation works
// again.
func TestEveryAllocationFails(t *testing.T) {
	for name, open := range machines() {
		t.Run(name, func(t *testing.T) {
			var managers []*memory.Manager
			var faults []*adaptor.Fault
			for _, dev := range open(t, 2) {
				fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
				managers = append(managers, devicetest.Manager(t, dev, memory.Options{Resource: fault}))
				faults = append(faults, fault)
			}
			tables := operands(t, managers)
			before := held(managers)
			tried := operations()
			if name != "apart" && testing.Short() {
				tried = tried[1:2]
			}
			for _, o := range tried {
				t.Run(o.name, func(t *testing.T) {
					for at, fault := range faults {
						fault.Arm(adaptor.FaultOptions{})
						o.succeed(t, tables, managers)
						requests := fault.Requests().Seen
						for nth := uint64(1); nth <= requests; nth++ {
							fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
							made, err := o.run(t.Context(), tables, managers)
							failed := fault.Requests().Failed
							fault.Arm(adaptor.FaultOptions{})
							if failed > 0 && err == nil {
								// A slice is then copied in two parts.
								for _, table := range made {
									require.NoError(t, table.Release())
								}
								continue
							}
							require.ErrorIs(t, err, adaptor.ErrInjected, "device %d, request %d of %d", at, nth, requests)
							require.ErrorContains(t, err, "exchange: "+o.name+": ")
							require.Equal(t, before, held(managers))
						}
					}
					o.succeed(t, tables, managers)
					require.Equal(t, before, held(managers))
				})
			}
		})
	}
}

// givesBack holds the calls after a failure of which memory cannot be reused.
var givesBack = []string{"Free", "FreeAsync", "HostFree", "PhysicalRelease", "AddressFree", "Unmap"}

// After any driver call that fails, on any of the devices, nothing is held and the operation works
// again.
func TestEveryDriverCallFails(t *testing.T) {
	for name, driver := range map[string]host.Driver{"peers": {Count: 2}, "apart": {Count: 2, NoPeers: true}} {
		t.Run(name, func(t *testing.T) {
			var managers []*memory.Manager
			var drivers []*faulttest.Driver
			for i := range 2 {
				below, err := driver.Open(i)
				require.NoError(t, err)
				dev, faults := faulttest.OpenOver(t, below)
				managers = append(managers, devicetest.Manager(t, dev, memory.Options{}))
				drivers = append(drivers, faults)
			}
			tables := operands(t, managers)
			before := held(managers)
			for _, o := range operations() {
				t.Run(o.name, func(t *testing.T) {
					for _, d := range drivers {
						failEachCall(t, o, d, tables, managers, before)
					}
				})
			}
		})
	}
}

func failEachCall(t *testing.T, o operation, d *faulttest.Driver, tables []*buffer.Buffer, managers []*memory.Manager, before []uint64) {
	o.succeed(t, tables, managers)
	d.Arm(func(faulttest.Call) error { return nil })
	o.succeed(t, tables, managers)
	for name, calls := range d.Counts() {
		if slices.Contains(givesBack, name) {
			continue
		}
		for nth := 1; nth <= min(calls, shorter([]int{3}, []int{8})[0]); nth++ {
			d.Arm(func(c faulttest.Call) error {
				if c.Operation == name && c.Nth == nth {
					return faulttest.ErrDriver
				}
				return nil
			})
			made, err := o.run(t.Context(), tables, managers)
			d.Arm(nil)
			if err == nil {
				for _, table := range made {
					require.NoError(t, table.Release())
				}
			} else {
				require.ErrorIs(t, err, faulttest.ErrDriver, "%s %d", name, nth)
				require.ErrorContains(t, err, "exchange: "+o.name+": ")
			}
			require.Equal(t, before, held(managers), "%s %d", name, nth)
		}
	}
	o.succeed(t, tables, managers)
}

// countdown is a context that ends at a given call of Err.
type countdown struct {
	context.Context
	cancel context.CancelCauseFunc
	left   int
}

func (c *countdown) Err() error {
	if c.left--; c.left == 0 {
		c.cancel(errInjected)
	}
	return c.Context.Err()
}

// The context is checked between columns and rounds. Nothing is held when it ends.
func TestTheContextEnds(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		tables := operands(t, managers)
		before := held(managers)
		for _, o := range operations()[:2] { // those of one goroutine
			failures := 0
			for checks := 1; ; checks += 1 + checks/8 {
				inner, cancel := context.WithCancelCause(t.Context())
				made, err := o.run(&countdown{inner, cancel, checks}, tables, managers)
				ended := inner.Err() != nil
				cancel(nil)
				if err == nil {
					require.NoError(t, made[0].Release())
				} else {
					require.ErrorIs(t, err, context.Canceled)
					require.ErrorIs(t, err, errInjected)
					failures++
				}
				require.Equal(t, before, held(managers))
				if !ended {
					break
				}
			}
			require.Greater(t, failures, len(faultTypes), "at least once for each column")
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errInjected)
		for _, o := range operations()[:6] {
			made, err := o.run(ended, tables, managers)
			if err == nil && o.name == "partition by hash" {
				require.NoError(t, made[0].Release())
				continue
			}
			require.ErrorIs(t, err, errInjected, o.name)
			require.Equal(t, before, held(managers))
		}
	})
}
