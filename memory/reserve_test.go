package memory_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func mustReserve(t testing.TB, m *memory.Manager, name string, bytes uint64) *memory.Manager {
	t.Helper()
	job, err := m.Reserve(name, bytes)
	require.NoError(t, err)
	return job
}

func TestReservationSetsBytesAside(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000, Resource: memory.NewDriverResource(dev)})
		job := mustReserve(t, mgr, "job", 300)
		assert.Equal(t, "job", job.Name())
		assert.Same(t, mgr, job.Parent())
		s := mgr.Stats()
		assert.Zero(t, s.InUse, "what is set aside is not in use")
		assert.Zero(t, s.Peak)
		assert.EqualValues(t, 700, s.Remaining)
		require.Len(t, s.Children, 1)
		assert.EqualValues(t, 300, s.Children[0].Budget)
		assert.EqualValues(t, 300, s.Children[0].Remaining)

		_, err := mgr.Allocate(701, memory.AllocateOptions{})
		var budget *memory.BudgetError
		require.ErrorAs(t, err, &budget)
		assert.EqualValues(t, 300, budget.SetAside)
		assert.ErrorContains(t, err, "300 B set aside")
		others := mustAllocate(t, mgr, 700, "others")
		inside := mustAllocate(t, job, 300, "inside")
		_, err = job.Allocate(1, memory.AllocateOptions{})
		require.ErrorAs(t, err, &budget)
		assert.Equal(t, "job", budget.Manager, "there is no more than was reserved")
		require.ErrorIs(t, job.SetBudget(400), device.ErrInvalidValue)
		assert.EqualValues(t, 1000, mgr.Stats().InUse)

		require.NoError(t, others.Release())
		require.NoError(t, inside.Release())
		assert.EqualValues(t, 700, mgr.Stats().Remaining, "it is reserved still")
		require.NoError(t, job.Close())
		assert.EqualValues(t, 1000, mgr.Stats().Remaining)
		_, err = job.Allocate(1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrClosed)
	})
}

// Allocations inside a reservation do not fail, regardless of concurrent requests.
func TestReservationBesideOthers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const bytes, rounds = 300, 500
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		tenant := mustChild(t, mgr, "tenant", 800)
		done := make(chan struct{})
		var jobs, others sync.WaitGroup
		for worker := range 6 {
			others.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(worker)))
				var held []*memory.Block
				for {
					select {
					case <-done:
						for _, block := range held {
							assert.NoError(t, block.Release())
						}
						return
					default:
					}
					m := []*memory.Manager{mgr, tenant}[random.IntN(2)]
					if block, err := m.Allocate(random.Uint64N(1200), memory.AllocateOptions{Tag: "job"}); err == nil {
						held = append(held, block)
					} else if !assert.ErrorIs(t, err, memory.ErrBudget) {
						return
					}
					for len(held) > 3 || len(held) > 0 && random.IntN(2) == 0 {
						assert.NoError(t, held[0].Release())
						held = held[1:]
					}
				}
			})
		}
		ctx := await.Context(t)
		for _, parent := range []*memory.Manager{mgr, tenant} {
			jobs.Go(func() {
				for range 10 {
					job, err := parent.ReserveWait(ctx, "job", bytes, memory.AllocateOptions{})
					if !assert.NoError(t, err) {
						return
					}
					for range rounds / 10 {
						var held []*memory.Block
						for range 3 {
							block, err := job.Allocate(bytes/3, memory.AllocateOptions{Tag: "job"})
							if !assert.NoError(t, err) {
								return
							}
							held = append(held, block)
						}
						for _, block := range held {
							assert.NoError(t, block.Release())
						}
					}
					assert.NoError(t, job.Close())
				}
			})
		}
		jobs.Wait()
		close(done)
		others.Wait()
		s := mgr.Stats()
		requireNothingHeld(t, s)
		assert.EqualValues(t, 1000, s.Remaining)
		require.NoError(t, tenant.Close())
	})
}

// If a reservation ends while its memory is still held, the held bytes stay counted
// and the rest is returned immediately.
func TestReservationClosedEarly(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		job := mustReserve(t, mgr, "job", 300)
		waits := allocateLater(t, await.Context(t), mgr, 800, memory.AllocateOptions{})
		held := mustAllocate(t, job, 100, "held")
		further := mustAllocate(t, job, 100, "held")
		require.NoError(t, further.Release(), "what is in a tag cache is given back as well")
		require.ErrorIs(t, job.Close(), memory.ErrLeak)
		block := mustTake(t, waits)
		s := mgr.Stats()
		assert.EqualValues(t, 900, s.InUse)
		assert.EqualValues(t, 100, s.Remaining)
		assert.EqualValues(t, 800, s.Own)
		require.Len(t, s.Children, 1)
		assert.EqualValues(t, 100, s.Children[0].InUse)
		require.NoError(t, held.Release())
		assert.EqualValues(t, 200, mgr.Stats().Remaining)
		require.NoError(t, block.Release())

		mustReserve(t, mgr, "next", 1000)
		s = mgr.Stats()
		require.Len(t, s.Children, 1, "who is closed and holds nothing is forgotten")
		assert.EqualValues(t, 3, s.Allocations, "but not what it counted")
		assert.EqualValues(t, 3, s.Frees)
	})
}

func TestReservationThatFailsLeavesNothing(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		tenant := mustChild(t, mgr, "tenant", 500)
		held := mustAllocate(t, mgr, 700, "held")
		for _, bytes := range []uint64{301, 500, 501, 1 << 40} {
			_, err := tenant.Reserve("job", bytes)
			require.ErrorIs(t, err, memory.ErrBudget)
			assert.ErrorContains(t, err, "job")
		}
		s := mgr.Stats()
		require.Len(t, s.Children, 1)
		assert.Empty(t, s.Children[0].Children)
		assert.EqualValues(t, 300, s.Remaining)
		assert.EqualValues(t, 500, s.Children[0].Remaining)
		assert.EqualValues(t, 4, s.Failures)
		assert.EqualValues(t, 4, s.Children[0].Failures)
		require.NoError(t, held.Release())
		require.NoError(t, tenant.Close())
		_, err := tenant.Reserve("job", 1)
		require.ErrorIs(t, err, memory.ErrClosed)
	})
}

func TestReserveWait(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{Budget: 1000})
		require.NoError(t, err)
		type outcome struct {
			job *memory.Manager
			err error
		}
		reserveLater := func(ctx context.Context, bytes uint64, priority int) <-chan outcome {
			before := mgr.Stats().Waiting
			outcomes := make(chan outcome, 1)
			go func() {
				job, err := mgr.ReserveWait(ctx, "job", bytes, memory.AllocateOptions{Priority: priority})
				outcomes <- outcome{job, err}
			}()
			requireWaiting(t, mgr, before+1)
			return outcomes
		}
		held := mustAllocate(t, mgr, 600, "held")
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := reserveLater(ctx, 500, 1)
		waits := reserveLater(await.Context(t), 500, 0)
		cancel()
		require.ErrorIs(t, (<-cancelled).err, context.Canceled)
		require.NoError(t, held.Release())
		got := <-waits
		require.NoError(t, got.err)
		assert.EqualValues(t, 500, mgr.Stats().Remaining)
		assert.Len(t, mgr.Stats().Children, 1)

		first := reserveLater(await.Context(t), 600, 0)
		require.NoError(t, got.job.Close(), "what a job did not use the next one gets")
		got = <-first
		require.NoError(t, got.err)
		refused := reserveLater(await.Context(t), 600, 0)
		require.NoError(t, mgr.Close())
		require.ErrorIs(t, (<-refused).err, memory.ErrClosed)
		_, err = mgr.ReserveWait(t.Context(), "job", 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrClosed)
	})
}

func TestReservationsInReservations(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		tenant := mustChild(t, mgr, "tenant", 900)
		job := mustReserve(t, tenant, "job", 400)
		step := mustReserve(t, job, "step", 150)
		remaining := func(m *memory.Manager) uint64 { return m.Stats().Remaining }
		for _, want := range []struct {
			manager *memory.Manager
			bytes   uint64
		}{{mgr, 600}, {tenant, 500}, {job, 250}, {step, 150}} {
			assert.Equal(t, want.bytes, remaining(want.manager), want.manager.Name())
		}
		_, err := job.Reserve("too much", 251)
		require.ErrorIs(t, err, memory.ErrBudget)

		others := mustAllocate(t, mgr, 600, "others")
		a, b := mustAllocate(t, step, 150, "a"), mustAllocate(t, job, 250, "b")
		s := mgr.Stats()
		assert.EqualValues(t, 1000, s.InUse)
		assert.EqualValues(t, 400, s.Children[0].InUse)
		assert.Zero(t, s.Children[0].Own)
		require.NoError(t, a.Release())
		require.NoError(t, step.Close())
		assert.EqualValues(t, 150, remaining(job), "the step's bytes are the job's again")
		assert.Zero(t, remaining(mgr), "and not those of all")
		require.ErrorIs(t, job.Close(), memory.ErrLeak)
		assert.EqualValues(t, 150, remaining(mgr))
		require.NoError(t, b.Release())
		require.NoError(t, others.Release())
		assert.EqualValues(t, 1000, remaining(mgr))
		require.NoError(t, tenant.Close())
	})
}

// primer is a resource that can allocate in advance.
type primer struct {
	memory.Resource
	primed []uint64
	err    error
}

func (p *primer) Prime(bytes uint64) error {
	p.primed = append(p.primed, bytes)
	return p.err
}

// over is a resource on top of another one.
type over struct{ memory.Resource }

func (o over) Upstream() memory.Resource { return o.Resource }

func TestReservationPrimesTheResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := &primer{Resource: memory.NewDriverResource(dev)}
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000, Resource: over{over{resource}}})
		tenant := mustChild(t, mgr, "tenant", 500)
		job := mustReserve(t, tenant, "job", 300)
		require.NoError(t, mustReserve(t, tenant, "empty", 0).Close())
		_, err := tenant.Reserve("too much", 201)
		require.ErrorIs(t, err, memory.ErrBudget)
		assert.Equal(t, []uint64{300}, resource.primed, "it is asked for what is in the budget only")

		resource.err = errors.New("there is none")
		before := mgr.Stats()
		_, err = tenant.Reserve("next", 100)
		require.ErrorIs(t, err, resource.err)
		assert.ErrorContains(t, err, "next")
		_, err = tenant.ReserveWait(t.Context(), "next", 100, memory.AllocateOptions{})
		require.ErrorIs(t, err, resource.err)
		s := mgr.Stats()
		assert.EqualValues(t, before.Failures+2, s.Failures)
		assert.Equal(t, before.Remaining, s.Remaining)
		assert.Len(t, s.Children[0].Children, 1)
		assert.Equal(t, before.Children[0].Remaining, s.Children[0].Remaining)
		waits := allocateLater(t, await.Context(t), mgr, 1000, memory.AllocateOptions{})
		require.NoError(t, job.Close())
		require.NoError(t, mustTake(t, waits).Release())
		require.NoError(t, tenant.Close())
	})
}

// The caching resource has really allocated the reserved memory.
func TestReservationOnTheCachingResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		job := mustReserve(t, mgr, "job", 8*mebibyte)
		block := mustAllocate(t, job, 8*mebibyte, "inside")
		require.NoError(t, block.Release())
		require.NoError(t, job.Close())
		require.NoError(t, dev.Synchronize(t.Context()))
		t.Cleanup(func() { require.NoError(t, resource.Close()) })
	})
}
