package world_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

var errInjected = errors.New("injected")

// fail runs an operation on all ranks and requires an error on each that names the rank. Nothing
// stays allocated: the managers check it at the end of the test.
func (r ranks) fail(t *testing.T, rank int, cause error, f func(ctx context.Context, w *world.World) (*buffer.Buffer, error)) {
	t.Helper()
	before := r.held()
	for i, err := range each(len(r.worlds), func(i int) error {
		made, err := f(t.Context(), r.worlds[i])
		if made != nil {
			err = errors.Join(err, made.Release())
		}
		return err
	}) {
		require.Error(t, err, "rank %d", i)
		require.ErrorContains(t, err, "exchange: world: ")
		if i == rank {
			require.ErrorIs(t, err, cause)
			continue
		}
		var failure *world.RankError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, rank, failure.Rank, "%v", err)
	}
	require.Equal(t, before, r.held())
}

func (r ranks) held() (figures []uint64) {
	for _, m := range r.managers {
		s := m.Stats()
		figures = append(figures, s.InUse, s.Blocks, s.Leaks)
	}
	return figures
}

func TestCallersErrors(t *testing.T) {
	for name, f := range map[string]func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error){
		"parts": func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error) {
			return w.AllToAll(ctx, []*buffer.Buffer{table})
		},
		"no part": func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error) {
			return w.AllToAll(ctx, []*buffer.Buffer{table, table, nil})
		},
		"rank": func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error) {
			return w.Gather(ctx, table, 3)
		},
		"no table": func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error) {
			return w.Gather(ctx, nil, 0)
		},
		"target": func(ctx context.Context, w *world.World, table *buffer.Buffer) (*buffer.Buffer, error) {
			return w.Copy(ctx, table, 0, -1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := openHosts(t, 3)
			tables := r.tables(t, arrow.PrimitiveTypes.Int32)
			r.fail(t, 1, device.ErrInvalidValue, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
				if w.Rank() == 1 {
					return f(ctx, w, tables[1])
				}
				return w.Gather(ctx, tables[w.Rank()], 0)
			})
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, err = world.Open(t.Context(), world.Config{Size: 1, Listener: listener})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
	r := openHosts(t, 1)
	_, err = world.Open(t.Context(), world.Config{Manager: r.managers[0]})
	require.ErrorContains(t, err, "exchange: world: open rank 0 of 0")
}

func (r ranks) tables(t *testing.T, of ...arrow.DataType) (tables []*buffer.Buffer) {
	for i, m := range r.managers {
		table, _ := columntest.DrawTable(t, m, arraytest.NewGenerator(uint64(i)), 200, of...)
		tables = append(tables, table)
	}
	return tables
}

// A rank with another operation, or with a table of other types, is an error on all ranks.
func TestRanksThatDiffer(t *testing.T) {
	t.Run("operation", func(t *testing.T) {
		r := openHosts(t, 2)
		tables := r.tables(t, arrow.PrimitiveTypes.Int32)
		for _, err := range each(2, func(rank int) error {
			if rank == 1 {
				_, err := r.worlds[1].Copy(t.Context(), tables[1], 1, 0)
				return err
			}
			_, err := r.worlds[0].Gather(t.Context(), tables[0], 0)
			return err
		}) {
			var failure *world.RankError
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, "it is in operation 1, ")
		}
	})
	for name, of := range map[string][]arrow.DataType{"type": {arrow.BinaryTypes.String}, "columns": {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32}} {
		t.Run(name, func(t *testing.T) {
			r := openHosts(t, 3)
			tables := r.tables(t, arrow.PrimitiveTypes.Int32)
			tables[2], _ = columntest.DrawTable(t, r.managers[2], arraytest.NewGenerator(9), 10, of...)
			for rank, err := range each(3, func(rank int) error {
				_, err := r.worlds[rank].Gather(t.Context(), tables[rank], 0)
				return err
			}) {
				var failure *world.RankError
				require.ErrorAs(t, err, &failure, "rank %d", rank)
				if rank == 0 {
					require.Equal(t, 2, failure.Rank)
					require.ErrorIs(t, err, buffer.ErrSchema)
				}
			}
		})
	}
}

// A budget that one rank exceeds ends the operation on all.
func TestABudgetIsExceeded(t *testing.T) {
	r := openHosts(t, 3)
	tables := r.tables(t, types...)
	require.NoError(t, r.managers[1].SetBudget(r.managers[1].Stats().InUse+1000))
	r.fail(t, 1, memory.ErrBudget, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		return w.AllToAll(ctx, slices.Repeat(tables[w.Rank():w.Rank()+1], w.Size()))
	})
}

// After any allocation of a rank that fails, all ranks fail and nothing is held.
func TestEveryAllocationFails(t *testing.T) {
	devices := devicesFor(t, 2)
	fault := adaptor.NewFault(memory.NewDriverResource(devices[1]), adaptor.FaultOptions{})
	stride := uint64(1)
	if onGPUs() {
		stride = 9 // each opens a communicator
	}
	for nth := uint64(1); ; nth += stride {
		failed := false
		t.Run("", func(t *testing.T) {
			r := open(t, devices[:1], memory.Options{}, func(c *world.Config) { *c = world.Config{Size: 1, Manager: c.Manager} })
			faulty := devicetest.Manager(t, devices[1], memory.Options{Resource: fault})
			r.managers = append(r.managers, faulty)
			address := socketPath(t)
			r.worlds = make([]*world.World, 2)
			for _, err := range each(2, func(rank int) (err error) {
				r.worlds[rank], err = world.Open(t.Context(), withTransport(world.Config{Rank: rank, Size: 2, Address: address, Manager: r.managers[rank], RoundBytes: 1000}))
				return err
			}) {
				require.NoError(t, err)
			}
			for _, w := range r.worlds {
				t.Cleanup(func() { require.NoError(t, w.Close()) })
			}
			tables := r.tables(t, types...)
			before := r.held()
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
			errs := each(2, func(rank int) error {
				made, err := r.worlds[rank].AllToAll(t.Context(), []*buffer.Buffer{tables[rank], tables[rank]})
				if err == nil {
					err = made.Release()
				}
				return err
			})
			if failed = fault.Requests().Failed > 0; failed && errs[1] != nil {
				require.ErrorIs(t, errs[1], adaptor.ErrInjected)
			}
			fault.Arm(adaptor.FaultOptions{})
			require.Equal(t, before, r.held())
		})
		if !failed {
			break
		}
	}
}

// The context of one rank ends: before, and at each step of an operation.
func TestTheContextEnds(t *testing.T) {
	for step := 0; ; step++ {
		ended := false
		t.Run("", func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			steps := 0
			r := open(t, devicesFor(t, 2), memory.Options{}, func(c *world.Config) {
				if c.Rank == 1 {
					c.RoundBytes = 1 << 20
					*c = c.WithHook(func() {
						if steps++; steps == step {
							cancel(errInjected)
						}
					})
				}
			})
			tables := r.tables(t, arrow.BinaryTypes.String)
			if step == 0 {
				cancel(errInjected)
			}
			before := r.held()
			errs := each(2, func(rank int) error {
				inner := t.Context()
				if rank == 1 {
					inner = ctx
				}
				made, err := r.worlds[rank].Copy(inner, map[bool]*buffer.Buffer{true: tables[1]}[rank == 1], 1, 0)
				if made != nil {
					err = errors.Join(err, made.Release())
				}
				return err
			})
			if errs[1] != nil {
				require.ErrorIs(t, errs[1], errInjected)
			}
			if errs[0] != nil {
				require.ErrorContains(t, errs[0], "rank 1")
			}
			if step == 0 {
				require.Error(t, errs[0])
			}
			require.Equal(t, before, r.held())
			ended = steps >= step
		})
		if !ended {
			break
		}
	}
}

// The context of an operation ends while the operation waits for the one before it, which waits for
// another rank. Both end.
func TestTheContextEndsBehindAnOperation(t *testing.T) {
	running, opened := make(chan struct{}, 1), false
	r := open(t, devicesFor(t, 2), memory.Options{}, func(c *world.Config) {
		if c.Rank == 0 {
			*c = c.WithHook(func() {
				if opened {
					running <- struct{}{}
				}
			})
		}
	})
	opened = true
	tables := r.tables(t, arrow.PrimitiveTypes.Int32)
	limit := await.Context(t)
	var first sync.WaitGroup
	first.Go(func() {
		_, err := r.worlds[0].Gather(limit, tables[0], 0)
		assert.ErrorIs(t, err, errInjected)
	})
	<-running
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInjected)
	_, err := r.worlds[0].Gather(ctx, tables[0], 0)
	require.ErrorIs(t, err, errInjected)
	first.Wait()
}

// A rank that waits for its turn to allocate fails when another rank has failed.
func TestARankFailsWhileAnotherAllocates(t *testing.T) {
	const budget = 1 << 20
	r := open(t, devicesFor(t, 3), memory.Options{Budget: budget, PassingPeriod: -1}, nil)
	tables := r.tables(t, arrow.PrimitiveTypes.Int32)
	held, err := r.managers[0].Allocate(budget/2, memory.AllocateOptions{})
	require.NoError(t, err)
	var ahead sync.WaitGroup
	ahead.Go(func() {
		block, err := r.managers[0].AllocateWait(t.Context(), 3*budget/4, memory.AllocateOptions{})
		if assert.NoError(t, err) {
			assert.NoError(t, block.Release())
		}
	})
	waiting := func(requests int) {
		await.Until(t, func() bool { return r.managers[0].Stats().Waiting == requests }, "%d requests wait", requests)
	}
	waiting(1)
	limit := await.Context(t)
	ctx, cancel := context.WithCancelCause(limit)
	var errs []error
	var running sync.WaitGroup
	running.Go(func() {
		errs = each(3, func(rank int) error {
			if rank != 2 {
				made, err := r.worlds[rank].Copy(limit, map[int]*buffer.Buffer{1: tables[1]}[rank], 1, 0)
				return errors.Join(err, made.Release())
			}
			_, err := r.worlds[2].Copy(ctx, nil, 1, 0)
			if err == nil { // a transport that does not wait for rank 0
				_, err = r.worlds[2].Copy(ctx, nil, 1, 0)
			}
			return err
		})
	})
	waiting(2) // rank 0 too
	cancel(errInjected)
	running.Wait()
	require.NoError(t, limit.Err())
	require.ErrorIs(t, errs[2], errInjected)
	var failure *world.RankError
	require.ErrorAs(t, errs[0], &failure)
	require.Equal(t, 2, failure.Rank)
	require.NoError(t, held.Release())
	ahead.Wait()
}

// A rank closes its World while an operation runs, at each of its steps: the other one names it.
func TestCloseDuringAnOperation(t *testing.T) {
	for step := 1; ; step++ {
		ended := false
		t.Run("", func(t *testing.T) {
			steps, armed := 0, false
			at, resume := make(chan struct{}), make(chan struct{})
			r := open(t, devicesFor(t, 2), memory.Options{}, func(c *world.Config) {
				if c.Rank == 1 {
					*c = c.WithHook(func() {
						if !armed {
							return
						}
						if steps++; steps == step {
							close(at)
							<-resume
						}
					})
				}
			})
			tables := r.tables(t, arrow.PrimitiveTypes.Int32)
			armed = true
			before := r.held()
			var closing sync.WaitGroup
			errs := each(2, func(rank int) error {
				if rank == 1 {
					_, err := r.worlds[1].Copy(t.Context(), tables[1], 1, 0)
					if steps < step {
						close(at)
					}
					return err
				}
				defer close(resume)
				closing.Go(func() {
					<-at
					assert.NoError(t, r.worlds[1].Close())
				})
				made, err := r.worlds[0].Copy(t.Context(), nil, 1, 0)
				if made != nil {
					err = errors.Join(err, made.Release())
				}
				return err
			})
			closing.Wait()
			if errs[0] != nil {
				require.ErrorIs(t, errs[0], world.ErrLost)
				require.ErrorContains(t, errs[0], "rank 1")
			}
			require.Equal(t, before, r.held())
			ended = steps < step
		})
		if ended {
			break
		}
	}
}

// A closed World refuses operations, and the others name the rank.
func TestAfterClose(t *testing.T) {
	r := openHosts(t, 2)
	tables := r.tables(t, arrow.PrimitiveTypes.Int32)
	require.NoError(t, r.worlds[1].Close())
	require.NoError(t, r.worlds[1].Close())
	_, err := r.worlds[1].Gather(t.Context(), tables[1], 0)
	require.ErrorIs(t, err, world.ErrClosed)
	_, err = r.worlds[0].Gather(t.Context(), tables[0], 0)
	require.ErrorIs(t, err, world.ErrLost)
	require.ErrorContains(t, err, "rank 1")
	require.Error(t, r.worlds[0].Err())
}
