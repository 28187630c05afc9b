package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// A child is closed while a reservation waits in it. Bytes that were never reserved
// must not be returned: the budgets of the ancestors would stay wrong.
func TestCloseWhileAReservationWaits(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, held := range []uint64{30, 60, 90} {
			mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
			tenant := mustChild(t, mgr, "tenant", 0)
			block := mustAllocate(t, mgr, held, "held")
			failed := make(chan error, 1)
			go func() {
				_, err := tenant.ReserveWait(await.Context(t), "job", 80, memory.AllocateOptions{})
				failed <- err
			}()
			requireWaiting(t, mgr, 1)
			require.NoError(t, tenant.Close())
			require.ErrorIs(t, <-failed, memory.ErrClosed)
			s := mgr.Stats()
			assert.EqualValues(t, 100-held, s.Remaining)
			_, err := mgr.Allocate(101-held, memory.AllocateOptions{})
			require.ErrorIs(t, err, memory.ErrBudget)
			require.NoError(t, mustAllocate(t, mgr, 100-held, "the rest").Release())
			require.NoError(t, block.Release())
			require.NoError(t, mustAllocate(t, mgr, 100, "all").Release())
			assert.EqualValues(t, 100, mgr.Stats().Remaining)
			assert.Empty(t, mgr.Stats().Children)
		}
	})
}

// during is a resource that calls a function while it allocates memory.
type during struct {
	memory.Resource
	prime, allocate func() error
}

func (d *during) Prime(uint64) error { return call(d.prime) }

func (d *during) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if err := call(d.allocate); err != nil {
		return resource.Allocation{}, err
	}
	return d.Resource.Allocate(bytes, stream)
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

func TestCloseWhileAReservationIsPrimed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, failure := range map[string]error{"primed": nil, "not primed": device.ErrOutOfMemory} {
			t.Run(name, func(t *testing.T) {
				resource := &during{Resource: memory.NewDriverResource(dev)}
				mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100, Resource: resource})
				tenant := mustChild(t, mgr, "tenant", 90)
				job := mustReserve(t, tenant, "outer job", 85)
				resource.prime = func() error {
					assert.NoError(t, tenant.Close())
					return failure
				}
				_, err := job.Reserve("job", 80)
				require.ErrorIs(t, err, map[bool]error{true: failure, false: memory.ErrClosed}[failure != nil])
				resource.prime = nil
				s := mgr.Stats()
				assert.EqualValues(t, 100, s.Remaining)
				assert.Zero(t, s.InUse)
				require.NoError(t, mustAllocate(t, mgr, 100, "all").Release())
			})
		}
	})
}

// After Close has returned, no request that was in progress creates a block.
func TestCloseWhileTheResourceIsAsked(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, bytes := range []uint64{0, 60} {
			for name, before := range map[string]uint64{"from a tag cache": 60, "from the budget": 0} {
				resource := &during{Resource: newSmall(dev, 1000)}
				mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100, Resource: resource})
				tenant := mustChild(t, mgr, "tenant", 90)
				require.NoError(t, mustAllocate(t, tenant, before, "tag").Release())
				resource.allocate = func() error { return tenant.Close() }
				block, err := tenant.Allocate(bytes, memory.AllocateOptions{Tag: "tag"})
				resource.allocate = nil
				if bytes == 0 { // the resource is not called
					require.NoError(t, err)
					require.NoError(t, block.Release())
					require.NoError(t, tenant.Close())
					continue
				}
				require.ErrorIs(t, err, memory.ErrClosed, name)
				s := mgr.Stats()
				requireNothingHeld(t, s)
				assert.EqualValues(t, 100, s.Remaining, name)
				assert.Zero(t, resource.Resource.(*small).used, "the memory went back")
				require.NoError(t, mustAllocate(t, mgr, 100, "all").Release())
				require.NoError(t, mustChild(t, mgr, "next", 0).Close())
				assert.Empty(t, mgr.Stats().Children, "it is forgotten once nothing is in progress")
			}
		}
	})
}

func TestAdoptBelowAClosedManager(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{})
		require.NoError(t, err)
		child := mustChild(t, mgr, "child", 0)
		require.NoError(t, mgr.Close())
		released := false
		_, err = child.Adopt(memory.ForeignMemory{Kind: device.MemoryHost, Release: func() error {
			released = true
			return nil
		}})
		require.ErrorIs(t, err, memory.ErrClosed)
		assert.False(t, released)
		assert.Zero(t, mgr.Stats().ExternalBlocks)
		require.NoError(t, child.Check(1), "a budget says nothing about that")
	})
}

func TestNamesOfSiblings(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		var names []string
		var children []*memory.Manager
		for _, name := range []string{"a", "a", "a 2", "", "", "a"} {
			child := mustChild(t, mgr, name, 10)
			names, children = append(names, child.Name()), append(children, child)
		}
		job := mustReserve(t, mgr, "a", 10)
		assert.Equal(t, []string{"a", "a 2", "a 2 2", "", "", "a 3"}, names)
		assert.Equal(t, "a 4", job.Name())
		_, err := children[1].Allocate(11, memory.AllocateOptions{})
		require.ErrorContains(t, err, `memory budget exceeded of "a 2"`)
		require.NoError(t, children[0].Close())
		again := mustChild(t, mgr, "a", 10)
		assert.Equal(t, "a", again.Name(), "a name that is free is used again")
		for _, child := range append(children[1:], again, job) {
			require.NoError(t, child.Close())
		}
	})
}

// A budget of zero always means that the manager has no budget.
func TestZeroBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		total := dev.Info().TotalMemory
		assert.Equal(t, total, mgr.Stats().Budget)
		require.NoError(t, mgr.SetBudget(100))
		child := mustChild(t, mgr, "child", 0)
		below := mustChild(t, child, "below", 0)
		for _, budget := range []uint64{200, 50} {
			require.NoError(t, mgr.SetBudget(budget))
			for _, m := range []*memory.Manager{child, below} {
				s := m.Stats()
				assert.Equal(t, budget, s.Budget, "it follows the budget above")
				assert.Equal(t, budget, s.Remaining)
				require.NoError(t, mustAllocate(t, m, budget, "all").Release())
				_, err := m.Allocate(budget+1, memory.AllocateOptions{})
				var short *memory.BudgetError
				require.ErrorAs(t, err, &short)
				assert.Equal(t, memory.TopBudget, short.Kind)
			}
		}
		require.NoError(t, child.SetBudget(30))
		assert.EqualValues(t, 30, below.Stats().Budget)
		_, err := below.Allocate(31, memory.AllocateOptions{})
		var short *memory.BudgetError
		require.ErrorAs(t, err, &short)
		assert.Equal(t, memory.ChildBudget, short.Kind)
		assert.ErrorContains(t, err, `release some, or raise the budget of "child" with Manager.SetBudget`)
		require.NoError(t, child.SetBudget(0))
		assert.EqualValues(t, 50, below.Stats().Budget)
		require.NoError(t, mgr.SetBudget(0))
		assert.Equal(t, total, below.Stats().Budget)

		job := mustReserve(t, below, "job", 0)
		require.NoError(t, mustAllocate(t, job, 0, "empty").Release())
		_, err = job.Allocate(1, memory.AllocateOptions{})
		require.ErrorAs(t, err, &short)
		assert.Equal(t, memory.ReservationBudget, short.Kind)
		assert.ErrorContains(t, err, "pass more bytes to Manager.Reserve")
		for _, m := range []*memory.Manager{job, below, child} {
			require.NoError(t, m.Close())
		}
	})
}
