package memory

import (
	"context"
	"errors"
	"testing"

	"github.com/gpuframe/gpuframe/device"
)

// Explores every order of a release, of waiting requests, one of which is cancelled,
// and of a request that does not wait.
func TestExploreWaiting(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		root := s.root(100)
		child := s.child(root, "child", 90)
		held := s.hold(root, 60, "held")
		ctx, cancel := context.WithCancel(context.Background())
		s.releases("holder", held)
		s.waitWith("large", ctx, child, 80, 0, context.Canceled)
		s.wait("small", root, 50)
		s.actor("cancel", cancel)
	})
}

func TestExplorePlainRequestsBesideWaitingOnes(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		root := s.root(100)
		child := s.child(root, "child", 90)
		held := s.hold(child, 60, "held")
		s.releases("holder", held)
		s.wait("large", child, 80)
		s.plain("plain", child, 60, "held", ErrBudget)
	})
}

// No request passes an aged one, and requests with a context wait behind it.
func TestExploreAging(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		root := s.root(100)
		child := s.child(root, "child", 0)
		held := s.hold(root, 30, "held")
		s.releases("holder", held)
		s.wait("large", root, 80)
		s.request("turn", child, func() (*Block, error) {
			return child.AllocateContext(context.Background(), 25, AllocateOptions{})
		}, ErrBudget)
		s.ages()
	})
}

func TestExplorePriorities(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		s.urgent = true
		root := s.root(100)
		held := s.hold(root, 100, "held")
		s.releases("holder", held)
		s.waitWith("first", context.Background(), root, 60, 0)
		s.waitWith("urgent", context.Background(), root, 70, 1)
		s.ages()
	})
}

// Closes a tenant in every state of a reservation in it.
func TestExploreReservationInAClosedTenant(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		root := s.root(100)
		tenant := s.child(root, "tenant", 90)
		held := s.hold(root, 60, "held")
		s.releases("holder", held)
		s.actor("job", func() {
			job, err := tenant.ReserveWait(context.Background(), "job", 80, AllocateOptions{})
			if !s.ended("job", err, ErrClosed) {
				return
			}
			block, err := job.Allocate(70, AllocateOptions{})
			if s.ended("block", err, ErrClosed) {
				s.release(block)
			}
			s.ended("job's end", job.Close(), ErrLeak)
		})
		s.actor("closer", func() { s.ended("close", tenant.Close(), ErrLeak) })
	})
}

// If the device refuses, requests keep their place and try again after each release.
func TestExploreWaitingForTheDevice(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		s.resource.capacity = 100
		root := s.root(1000)
		first, second := s.hold(root, 40, "held"), s.hold(root, 40, "held")
		s.actor("holder", func() {
			s.release(first)
			s.release(second)
		})
		s.wait("large", root, 70)
		s.plain("plain", root, 20, "plain", ErrBudget, device.ErrOutOfMemory)
	})
}

func TestExploreTwoRequestsForTheDevice(t *testing.T) {
	skipInShortTests(t)
	exploreQueue(t, func(s *queueScene) {
		s.resource.capacity = 100
		root := s.root(1000)
		held := s.hold(root, 50, "held")
		ctx, cancel := context.WithCancel(context.Background())
		s.releases("holder", held)
		s.wait("a", root, 60)
		s.waitWith("b", ctx, root, 70, 0, context.Canceled)
		s.actor("cancel", cancel)
	})
}

// Two trees of managers share a resource.
func TestExploreNeighbours(t *testing.T) {
	exploreQueue(t, func(s *queueScene) {
		s.resource.capacity = 100
		here, there := s.root(1000), s.root(1000)
		held := s.hold(there, 60, "held")
		s.releases("holder", held)
		s.wait("here", here, 80)
		s.wait("there", there, 50)
	})
}

func TestExploreBudgetsThatChange(t *testing.T) {
	skipInShortTests(t)
	exploreQueue(t, func(s *queueScene) {
		s.lowered = true
		root := s.root(100)
		child := s.child(root, "child", 50)
		held := s.hold(child, 40, "held")
		s.releases("holder", held)
		s.wait("waits", child, 45, ErrBudget)
		s.plain("plain", child, 40, "held", ErrBudget)
		s.actor("budget", func() {
			s.ended("lower", child.SetBudget(30))
			s.world.Step("lowered", nil)
			s.ended("raise", child.SetBudget(60))
		})
	})
}

// Requests that draw from a tag cache but get no memory leave the statistics unchanged,
// in every interleaving.
func TestExploreRequestsThatFail(t *testing.T) {
	broken := errors.New("broken")
	exploreQueue(t, func(s *queueScene) {
		root := s.root(100)
		child := s.child(root, "child", 80)
		s.release(s.hold(child, 50, "a"))
		s.plain("drawn", child, 50, "a", broken, ErrClosed, ErrBudget)
		s.plain("other", root, 40, "b", broken, ErrBudget)
		s.actor("faults", func() {
			s.resource.fail = broken
			s.world.Step("broken", nil)
			s.resource.fail = nil
		})
		s.actor("closer", func() { s.ended("close", child.Close(), ErrLeak) })
	})
}
