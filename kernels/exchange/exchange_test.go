package exchange_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

var lengths = []int{0, 1, 7, 8, 31, 64, 70}

func TestCopyOfEveryType(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		for number, of := range arraytest.AllTypes() {
			t.Run(of.String(), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(number))
				for _, rows := range shorter([]int{0, 8, 70}, lengths) {
					table, want := columntest.DrawTable(t, managers[0], g, rows, of)
					made, err := exchange.Copy(t.Context(), table, managers[1], exchange.Options{RoundBytes: 100})
					require.NoError(t, err)
					require.True(t, made.Device().Same(managers[1].Device()))
					columntest.RequireRows(t, made, want)
				}
			})
		}
	})
}

// Parts of several devices come together in the order of the devices, with empty tables in the
// middle.
func TestGatherOfEveryType(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		for number, of := range arraytest.AllTypes() {
			t.Run(of.String(), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(number))
				some := [][]int{{5, 0, 70}, {0, 0, 0}}
				for _, rows := range shorter(some, append(some, []int{0, 9, 33}, []int{0, 0, 4}, []int{31, 0, 0})) {
					var tables []*buffer.Buffer
					var want [][]arrow.Array
					for i, n := range rows {
						table, arrays := columntest.DrawTable(t, managers[i], g, n, of)
						tables, want = append(tables, table), append(want, arrays)
					}
					made, err := exchange.Gather(t.Context(), tables, managers[2])
					require.NoError(t, err)
					require.Same(t, managers[2].Device(), made.Device())
					columntest.RequireRows(t, made, want...)
				}
			})
		}
	})
}

// Random tables of several columns, each part compared with the concatenation of the records by
// arrow-go.
func TestAllToAllAgainstArrow(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
		arrow.ListOf(arrow.BinaryTypes.String), arrow.StructOf(arrow.Field{Name: "x", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true}),
	}
	for _, n := range shorter([]int{2, 4}, []int{1, 2, 3, 4}) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachMachine(t, n, func(t *testing.T, managers []*memory.Manager) {
				for seed := range uint64(shorter([]int{1}, []int{6})[0]) {
					g := arraytest.NewGenerator(seed)
					parts := make([][]*buffer.Buffer, n)
					records := make([][][]arrow.Array, n)
					for i := range parts {
						for range n {
							table, arrays := columntest.DrawTable(t, managers[i], g, lengths[g.IntN(len(lengths))], types...)
							parts[i], records[i] = append(parts[i], table), append(records[i], arrays)
						}
					}
					var traffic exchange.Traffic
					made, err := exchange.AllToAll(t.Context(), parts, managers, exchange.Options{RoundBytes: 1 << 10, Tag: "parts", Traffic: &traffic})
					require.NoError(t, err)
					for j, table := range made {
						require.True(t, table.Device() == nil || table.Device().Same(managers[j].Device()))
						record, err := table.Record(t.Context())
						require.NoError(t, err)
						for c := range types {
							var chunks []arrow.Array
							for i := range parts {
								chunks = append(chunks, records[i][j][c])
							}
							want, err := array.Concatenate(chunks, arrowmemory.DefaultAllocator)
							require.NoError(t, err)
							require.True(t, array.Equal(want, record.Column(c)), "device %d, column %d: %v instead of %v", j, c, record.Column(c), want)
							want.Release()
						}
						record.Release()
						require.NoError(t, table.Release())
					}
				}
			})
		})
	}
}

func TestBroadcast(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		g := arraytest.NewGenerator(1)
		table, want := columntest.DrawTable(t, managers[0], g, 50, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
		to := []*memory.Manager{managers[1], managers[0], managers[1], managers[1], managers[0]}
		made, err := exchange.Broadcast(t.Context(), table, to)
		require.NoError(t, err)
		require.Len(t, made, len(to))
		require.Same(t, table, made[1], "it is there already")
		for j := range made {
			require.True(t, made[j].Device().Same(to[j].Device()))
			columntest.RequireRows(t, made[j], want)
		}
	})
}

// Every device has the rows of all tables in order: of devices with several tables and with none, and
// of tables without rows.
func TestAllGatherOfEveryType(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		for number, of := range arraytest.AllTypes() {
			t.Run(of.String(), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(number))
				owners := [][]int{{2, 0, 2, 0}, {1, 1}}
				for _, on := range shorter(owners[:1], append(owners, []int{0}, []int{0, 1, 2})) {
					var tables []*buffer.Buffer
					var want [][]arrow.Array
					for i, owner := range on {
						table, arrays := columntest.DrawTable(t, managers[owner], g, []int{9, 0, 31, 70}[i], of)
						tables, want = append(tables, table), append(want, arrays)
					}
					made, err := exchange.AllGather(t.Context(), tables, managers, exchange.Options{RoundBytes: 200})
					require.NoError(t, err)
					require.Len(t, made, len(managers))
					for j, table := range made {
						require.True(t, table.Device() == nil || table.Device().Same(managers[j].Device()))
						columntest.RequireRows(t, table, want...)
					}
				}
			})
		}
	})
}

// A failure on one device names it, and no device has a table.
func TestAllGatherNamesTheDevice(t *testing.T) {
	devices := devicetest.Hosts(t, 3)
	managers := managersOf(t, devices, memory.Options{})
	g := arraytest.NewGenerator(1)
	var tables []*buffer.Buffer
	for _, m := range managers {
		table, _ := columntest.DrawTable(t, m, g, 500, arrow.PrimitiveTypes.Int64)
		tables = append(tables, table)
	}
	require.NoError(t, managers[2].SetBudget(managers[2].Stats().InUse+500))
	before := held(managers)
	_, err := exchange.AllGather(t.Context(), tables, managers)
	require.ErrorIs(t, err, memory.ErrBudget)
	require.ErrorContains(t, err, "exchange: all-gather: to "+devices[2].Name()+`: column "a": `)
	var to *exchange.DestinationError
	require.ErrorAs(t, err, &to)
	require.Equal(t, devices[2].Name(), to.Device)
	require.Equal(t, before, held(managers))
}

// The order of the tables is kept although neighbours are combined first.
func TestReduceKeepsTheOrder(t *testing.T) {
	eachMachine(t, 4, func(t *testing.T, managers []*memory.Manager) {
		for _, n := range shorter([]int{1, 7}, []int{1, 2, 3, 4, 5, 6, 7}) {
			g := arraytest.NewGenerator(uint64(n))
			var tables []*buffer.Buffer
			var want [][]arrow.Array
			for i := range n {
				table, arrays := columntest.DrawTable(t, managers[i%4], g, lengths[g.IntN(len(lengths))], arrow.BinaryTypes.String)
				tables, want = append(tables, table), append(want, arrays)
			}
			made, err := exchange.Reduce(t.Context(), tables, managers[3], func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error) {
				require.True(t, a.Device().Same(b.Device()))
				return selection.Concat(ctx, []*buffer.Buffer{a, b})
			})
			require.NoError(t, err)
			require.True(t, made.Device().Same(managers[3].Device()))
			columntest.RequireRows(t, made, want...)
		}
	})
}

func TestReduceReleasesAfterAnError(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		g := arraytest.NewGenerator(1)
		var tables []*buffer.Buffer
		for i := range 6 {
			table, _ := columntest.DrawTable(t, managers[i%3], g, 10, arrow.BinaryTypes.String)
			tables = append(tables, table)
		}
		calls := make(chan struct{}, 100)
		_, err := exchange.Reduce(t.Context(), tables, managers[0], func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error) {
			if calls <- struct{}{}; len(calls) == 3 {
				return nil, errInjected
			}
			return selection.Concat(ctx, []*buffer.Buffer{a, b})
		})
		require.ErrorIs(t, err, errInjected)
		require.ErrorContains(t, err, "exchange: reduce: ")
	})
}

// A table moves to every device and back, through random exchanges, and stays the same.
func TestRandomExchanges(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			types := arraytest.AllTypes()
			of := types[rapid.IntRange(0, len(types)-1).Draw(r, "type")]
			table, want := columntest.DrawTable(t, managers[0], g, rapid.IntRange(0, 60).Draw(r, "rows"), of)
			require.NoError(r, table.Retain())
			for range rapid.IntRange(1, 4).Draw(r, "moves") {
				to := managers[rapid.IntRange(0, 2).Draw(r, "to")]
				options := exchange.Options{RoundBytes: rapid.Uint64Range(1, 5000).Draw(r, "round")}
				rows, err := table.NumRows(t.Context())
				require.NoError(r, err)
				middle := rapid.Int64Range(0, rows).Draw(r, "middle")
				first, err := table.Slice(0, middle)
				require.NoError(r, err)
				second, err := table.Slice(middle, rows-middle)
				require.NoError(r, err)
				elsewhere, err := exchange.Copy(t.Context(), second, managers[rapid.IntRange(0, 2).Draw(r, "elsewhere")], options)
				require.NoError(r, err)
				made, err := exchange.Gather(t.Context(), []*buffer.Buffer{first, elsewhere}, to, options)
				require.NoError(r, err)
				for _, each := range []*buffer.Buffer{first, second, elsewhere, table} {
					require.NoError(r, each.Release())
				}
				table = made
			}
			columntest.RequireRows(t, table, want)
		})
	})
}

func TestRefusals(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		g := arraytest.NewGenerator(1)
		numbers, _ := columntest.DrawTable(t, managers[0], g, 8, arrow.PrimitiveTypes.Int32)
		texts, _ := columntest.DrawTable(t, managers[1], g, 8, arrow.BinaryTypes.String)
		both, _ := columntest.DrawTable(t, managers[1], g, 8, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
		ctx := t.Context()
		_, err := exchange.Gather(ctx, []*buffer.Buffer{numbers, texts}, managers[0])
		require.ErrorIs(t, err, buffer.ErrSchema)
		require.ErrorContains(t, err, "column \"a\" of table 1 on "+managers[1].Device().Name()+" has type utf8")
		_, err = exchange.Gather(ctx, []*buffer.Buffer{numbers, both}, managers[0])
		require.ErrorIs(t, err, buffer.ErrSchema)
		_, err = exchange.AllGather(ctx, []*buffer.Buffer{numbers, texts}, managers)
		require.ErrorIs(t, err, buffer.ErrSchema)
		_, err = exchange.AllToAll(ctx, [][]*buffer.Buffer{{numbers}}, managers)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "device 0 has 1 parts, expected one for each of the 2 managers")
		for name, call := range map[string]func() error{
			"no tables":   func() error { _, err := exchange.Gather(ctx, nil, managers[0]); return err },
			"no manager":  func() error { _, err := exchange.Gather(ctx, []*buffer.Buffer{numbers}, nil); return err },
			"to nobody":   func() error { _, err := exchange.Copy(ctx, numbers, nil); return err },
			"to none":     func() error { _, err := exchange.Broadcast(ctx, numbers, nil); return err },
			"nil manager": func() error { _, err := exchange.Broadcast(ctx, numbers, []*memory.Manager{nil}); return err },
			"none to all": func() error { _, err := exchange.AllGather(ctx, nil, managers); return err },
			"all to none": func() error { _, err := exchange.AllGather(ctx, []*buffer.Buffer{numbers}, nil); return err },
			"no parts":    func() error { _, err := exchange.AllToAll(ctx, nil, managers); return err },
			"nothing":     func() error { _, err := exchange.Reduce(ctx, nil, managers[0], nil); return err },
			"options": func() error {
				_, err := exchange.Copy(ctx, numbers, managers[1], exchange.Options{}, exchange.Options{})
				return err
			},
		} {
			require.ErrorIs(t, call(), device.ErrInvalidValue, name)
		}
		_, err = exchange.Copy(ctx, nil, managers[0])
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

// The bytes that move are counted, and the route is described.
func TestRoutesAndTraffic(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		g := arraytest.NewGenerator(2)
		table, want := columntest.DrawTable(t, managers[0], g, 64, arrow.PrimitiveTypes.Int64)
		from, to := managers[0].Device(), managers[1].Device()
		route, err := exchange.RouteBetween(from, to)
		require.NoError(t, err)
		var traffic exchange.Traffic
		made, err := exchange.Copy(t.Context(), table, managers[1], exchange.Options{Traffic: &traffic, RoundBytes: 200})
		require.NoError(t, err)
		columntest.RequireRows(t, made, want)
		if route.Means == exchange.PeerCopy {
			require.Equal(t, from.Name()+" to "+to.Name()+": peer copy", route.String())
			require.GreaterOrEqual(t, traffic.PeerBytes(), uint64(64*8))
			require.Zero(t, traffic.PinnedBytes())
		} else {
			require.Equal(t, fmt.Sprintf("%v to %v: pinned memory (%v cannot access the memory of %v)", from, to, to, from), route.String())
			require.GreaterOrEqual(t, traffic.PinnedBytes(), uint64(64*8))
			require.GreaterOrEqual(t, traffic.Rounds(), uint64(3))
			require.Zero(t, traffic.PeerBytes())
		}
		require.Contains(t, traffic.String(), "rounds")
		same, err := exchange.RouteBetween(from, from)
		require.NoError(t, err)
		require.Equal(t, exchange.Shared, same.Means)
		_, err = exchange.RouteBetween(nil, to)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}

// Devices of different kinds exchange through pinned memory.
func TestBetweenDevicesOfDifferentKinds(t *testing.T) {
	pairs := 0
	eachMachine(t, 1, func(t *testing.T, from []*memory.Manager) {
		eachMachine(t, 1, func(t *testing.T, to []*memory.Manager) {
			if from[0].Device().Kind() == to[0].Device().Kind() {
				return // other tests have them
			}
			pairs++
			route, err := exchange.RouteBetween(from[0].Device(), to[0].Device())
			require.NoError(t, err)
			require.Equal(t, exchange.Pinned, route.Means)
			require.Equal(t, "the devices are of different kinds", route.Reason)
			g := arraytest.NewGenerator(3)
			table, want := columntest.DrawTable(t, from[0], g, 70, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int16)
			made, err := exchange.Copy(t.Context(), table, to[0])
			require.NoError(t, err)
			columntest.RequireRows(t, made, want)
		})
	})
	require.GreaterOrEqual(t, pairs, 2, "both directions between the host and another kind")
}
