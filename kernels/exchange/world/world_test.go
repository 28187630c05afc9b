package world_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// Parts of all ranks come together in the order of the ranks, for every type.
func TestAllToAllOfEveryType(t *testing.T) {
	for _, size := range []int{1, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := openHosts(t, size)
			size := len(r.worlds)
			for number, of := range arraytest.AllTypes() {
				t.Run(of.String(), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(number))
					for _, lengths := range [][]int{{5, 0, 70, 8, 1}, {0}} {
						parts := make([][]*buffer.Buffer, size)
						want := make([][][]arrow.Array, size)
						for i := range size {
							for j := range size {
								table, arrays := columntest.DrawTable(t, r.managers[i], g, lengths[(i*size+j)%len(lengths)], of, arrow.BinaryTypes.String)
								parts[i], want[j] = append(parts[i], table), append(want[j], arrays)
							}
						}
						for j, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
							return w.AllToAll(ctx, parts[w.Rank()])
						}) {
							require.Same(t, r.managers[j], made.Manager())
							columntest.RequireRows(t, made, want[j]...)
						}
					}
				})
			}
		})
	}
}

var types = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
	arrow.ListOf(arrow.BinaryTypes.String),
}

// The other operations, on hosts and on emulated GPUs.
func TestOperations(t *testing.T) {
	worlds := map[string]ranks{"hosts": openHosts(t, 4)}
	if !onGPUs() {
		worlds["emulated"] = open(t, devicetest.Emulators(t, 2), memory.Options{}, nil)
	}
	for name, r := range worlds {
		t.Run(name, func(t *testing.T) {
			size := len(r.worlds)
			g := arraytest.NewGenerator(1)
			tables, want := make([]*buffer.Buffer, size), make([][]arrow.Array, size)
			for i := range size {
				tables[i], want[i] = columntest.DrawTable(t, r.managers[i], g, 10*i+3, types...)
			}
			only := func(w *world.World, rank int) *buffer.Buffer {
				if w.Rank() == rank {
					return tables[rank]
				}
				return nil
			}
			for root := range size {
				for _, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
					return w.Broadcast(ctx, only(w, root), root)
				}) {
					columntest.RequireRows(t, made, want[root])
				}
				for rank, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
					return w.Gather(ctx, tables[w.Rank()], root)
				}) {
					if rank != root {
						require.Nil(t, made)
						continue
					}
					columntest.RequireRows(t, made, want...)
				}
				for to := range size {
					for rank, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
						return w.Copy(ctx, only(w, root), root, to)
					}) {
						if rank != to {
							require.Nil(t, made)
							continue
						}
						columntest.RequireRows(t, made, want[root])
					}
				}
			}
			require.NotZero(t, r.worlds[1].Traffic().SentBytes)
			require.NotZero(t, r.worlds[1].Traffic().Rounds)
		})
	}
}

// A field of the result is nullable if it is nullable in the table of any rank.
func TestNullableOnOneRank(t *testing.T) {
	r := openHosts(t, 2)
	tables := make([]*buffer.Buffer, 2)
	for rank, m := range r.managers {
		a, err := column.FromArray(t.Context(), m, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, 30), column.UploadOptions{})
		require.NoError(t, err)
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.Type(), Nullable: rank == 1}}, nil)
		tables[rank], err = buffer.New(schema, []*column.Column{a}, buffer.Rows{Count: 30})
		require.NoError(t, errors.Join(err, a.Release()))
	}
	for _, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		return w.AllToAll(ctx, slices.Repeat(tables[w.Rank():w.Rank()+1], w.Size()))
	}) {
		require.True(t, made.Schema().Field(0).Nullable)
		require.NoError(t, made.Release())
	}
	require.NoError(t, release.All(tables))
}

// A table without columns has its row count.
func TestNoColumns(t *testing.T) {
	r := openHosts(t, 2)
	made := r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		table, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: int64(w.Rank() + 3), Manager: r.managers[w.Rank()]})
		if err != nil {
			return nil, err
		}
		defer table.Release()
		return w.Gather(ctx, table, 0)
	})
	rows, err := made[0].NumRows(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(7), rows)
	require.NoError(t, made[0].Release())
}

// Under a small budget the columns move one at a time, and fit.
func TestRoundsWithinBudgets(t *testing.T) {
	const rows, columns = 4096, 6
	for _, budget := range []uint64{0, 4 * rows * 8 * columns} {
		r := open(t, devicesFor(t, 2), memory.Options{Budget: budget}, nil)
		of := make([]arrow.DataType, columns)
		for i := range of {
			of[i] = arrow.PrimitiveTypes.Float64
		}
		g := arraytest.NewGenerator(7)
		tables, want := make([]*buffer.Buffer, 2), make([][]arrow.Array, 2)
		for i := range tables {
			tables[i], want[i] = columntest.DrawTable(t, r.managers[i], g, rows, of...)
		}
		made := r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
			return w.Gather(ctx, tables[w.Rank()], 0)
		})
		rounds := uint64(1)
		if budget > 0 {
			rounds = columns
			require.LessOrEqual(t, r.managers[0].Stats().Peak, budget)
		}
		require.Equal(t, rounds, r.worlds[0].Traffic().Rounds)
		require.Equal(t, rounds, r.worlds[1].Traffic().Rounds)
		columntest.RequireRows(t, made[0], want...)
	}
}

// A budget of the manager's parent, of which others use a part, counts like one of its own.
func TestRoundsWithinTheBudgetOfAParent(t *testing.T) {
	const rows, columns = 4096, 6
	const size = rows * 8 * columns
	for _, budget := range []uint64{0, 16 * size} { // of the child
		r := open(t, devicesFor(t, 2), memory.Options{Budget: 8 * size}, func(c *world.Config) {
			if c.Rank > 0 {
				return
			}
			child, err := c.Manager.Child("rank", budget)
			assert.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, child.Close()) })
			c.Manager = child
		})
		others, err := r.managers[0].Allocate(4*size, memory.AllocateOptions{})
		require.NoError(t, err)
		g, of := arraytest.NewGenerator(7), slices.Repeat([]arrow.DataType{arrow.PrimitiveTypes.Float64}, columns)
		tables, want := make([]*buffer.Buffer, 2), make([][]arrow.Array, 2)
		for i := range tables {
			tables[i], want[i] = columntest.DrawTable(t, r.managers[i], g, rows, of...)
		}
		made := r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
			return w.Gather(ctx, tables[w.Rank()], 0)
		})
		require.EqualValues(t, columns, r.worlds[0].Traffic().Rounds)
		columntest.RequireRows(t, made[0], want...)
		require.NoError(t, others.Release())
	}
}

// numbers makes a table of a column of the numbers from first on, and of one of their lowest bytes.
func numbers(t testing.TB, mgr *memory.Manager, rows, first int) *buffer.Buffer {
	wide, narrow := make([]int64, rows), make([]uint8, rows)
	for i := range rows {
		wide[i], narrow[i] = int64(first+i), uint8(first+i)
	}
	a, err := column.FromSlice(t.Context(), mgr, wide, column.SliceOptions{})
	require.NoError(t, err)
	b, err := column.FromSlice(t.Context(), mgr, narrow, column.SliceOptions{})
	require.NoError(t, err)
	fields := []arrow.Field{{Name: "a", Type: a.Type()}, {Name: "b", Type: b.Type()}}
	table, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{a, b}, buffer.Rows{Count: int64(rows)})
	require.NoError(t, err)
	require.NoError(t, errors.Join(a.Release(), b.Release()))
	return table
}

// divided returns consecutive slices of a table, which begin at any row.
func divided(t testing.TB, table *buffer.Buffer, n int) (parts []*buffer.Buffer) {
	rows, err := table.NumRows(t.Context())
	require.NoError(t, err)
	for i := range int64(n) {
		begin, end := i*rows/int64(n), (i+1)*rows/int64(n)
		part, err := table.Slice(begin, end-begin)
		require.NoError(t, err)
		parts = append(parts, part)
	}
	return parts
}

// Slices of MiB, which begin at any address, arrive. On GPUs they are larger.
func TestLargeTables(t *testing.T) {
	rows := 200_001
	if onGPUs() {
		rows *= 16
	}
	r := openHosts(t, 3)
	size := len(r.worlds)
	parts := make([][]*buffer.Buffer, size)
	for i, m := range r.managers {
		table := numbers(t, m, rows, i*rows)
		parts[i] = divided(t, table, size)
		require.NoError(t, table.Release())
	}
	for rank, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		return w.AllToAll(ctx, parts[w.Rank()])
	}) {
		wide, narrow := columntest.Download(t, made.Column(0)), columntest.Download(t, made.Column(1))
		var want []int64
		var bytes []uint8
		for i := range size {
			for n := rank * rows / size; n < (rank+1)*rows/size; n++ {
				want, bytes = append(want, int64(i*rows+n)), append(bytes, uint8(i*rows+n))
			}
		}
		require.True(t, slices.Equal(want, wide.(*array.Int64).Int64Values()), "rank %d", rank)
		require.True(t, slices.Equal(bytes, narrow.(*array.Uint8).Uint8Values()), "rank %d", rank)
		wide.Release()
		narrow.Release()
		require.NoError(t, made.Release())
	}
	for _, of := range parts {
		require.NoError(t, release.All(of))
	}
}

// A table on another device than that of the rank moves, too.
func TestTablesOfAnotherDevice(t *testing.T) {
	r := openHosts(t, 2)
	other := devicetest.Manager(t, devicetest.HostsApart(t, 1)[0], memory.Options{})
	table, want := columntest.DrawTable(t, other, arraytest.NewGenerator(3), 90, types...)
	for _, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		if w.Rank() == 1 {
			return w.Broadcast(ctx, table, 1)
		}
		return w.Broadcast(ctx, nil, 1)
	}) {
		columntest.RequireRows(t, made, want)
	}
}
