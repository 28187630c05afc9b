package explore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/explore"
)

// counters add one to a shared number: each reads it, stops, and writes it.
func counters(w *explore.World, n int, end func(value int) error, merge bool) explore.System {
	value, closed := 0, false
	s := explore.System{
		Check: func() error {
			if closed {
				return errors.New("it goes on after its end")
			}
			return nil
		},
		End:   func() error { return end(value) },
		Close: func() { closed = true },
	}
	if merge {
		s.State = func() string { return fmt.Sprint(value) }
	}
	for i := range n {
		s.Actors = append(s.Actors, explore.Actor{Name: fmt.Sprint("actor ", i), Run: func() {
			read := value
			w.Step(fmt.Sprint("read ", read), nil)
			value = read + 1
		}})
	}
	return s
}

func TestEveryOrderIsTried(t *testing.T) {
	ends := make(map[int]int)
	all, err := explore.Run(1000, func(w *explore.World) explore.System {
		return counters(w, 3, func(value int) error { ends[value]++; return nil }, false)
	})
	require.NoError(t, err)
	assert.Equal(t, 90, all.Ended, "6! / 2!³ orders")
	assert.Equal(t, 90, all.Runs)
	assert.Equal(t, 6, ends[3])

	found := make(map[int]bool)
	merged, err := explore.Run(1000, func(w *explore.World) explore.System {
		return counters(w, 3, func(value int) error { found[value] = true; return nil }, true)
	})
	require.NoError(t, err)
	assert.Equal(t, map[int]bool{1: true, 2: true, 3: true}, found)
	assert.Less(t, merged.Ended, all.Ended)
}

func TestAFaultNamesItsSteps(t *testing.T) {
	lost := errors.New("an addition is lost")
	_, err := explore.Run(1000, func(w *explore.World) explore.System {
		return counters(w, 2, func(value int) error {
			if value != 2 {
				return lost
			}
			return nil
		}, true)
	})
	require.ErrorIs(t, err, lost)
	var fault *explore.Fault
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, []string{"actor 0 from begin", "actor 1 from begin", "actor 0 from read 0", "actor 1 from read 0"}, fault.Steps)
	assert.ErrorContains(t, err, "actor 1 from begin")
}

func TestActorsThatWaitWithoutEnd(t *testing.T) {
	_, err := explore.Run(1000, func(w *explore.World) explore.System {
		open := false
		wait := func() { w.Step("wait", func() bool { return open }) }
		return explore.System{
			Actors: []explore.Actor{{"a", wait}, {"b", func() { w.Step("on the way", nil) }}},
			Check:  func() error { return nil },
		}
	})
	require.ErrorContains(t, err, "no actor can continue: a at wait")
	_, err = explore.Run(1000, func(w *explore.World) explore.System {
		open := false
		return explore.System{
			Actors: []explore.Actor{{"a", func() { w.Step("wait", func() bool { return open }) }}, {"b", func() { open = true }}},
			Check:  func() error { return nil },
		}
	})
	require.NoError(t, err)
}

func TestTooManyRuns(t *testing.T) {
	_, err := explore.Run(10, func(w *explore.World) explore.System {
		return counters(w, 3, func(int) error { return nil }, false)
	})
	require.ErrorContains(t, err, "more than 10 runs")
}
