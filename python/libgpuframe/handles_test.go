//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// A handle finds its object until the object is taken out, and never finds a later object
// in the same slot.
func TestHandles(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		var objects table
		live := map[handle]int{}
		var ended []handle
		for step := range rapid.IntRange(1, 200).Draw(r, "steps") {
			if len(live) == 0 || rapid.Bool().Draw(r, "add") {
				h := objects.add(step)
				require.NotZero(r, h)
				require.NotContains(r, live, h)
				require.NotContains(r, ended, h)
				live[h] = step
				continue
			}
			h := rapid.SampledFrom(keys(live)).Draw(r, "take")
			require.Equal(r, live[h], objects.take(h))
			delete(live, h)
			ended = append(ended, h)
		}
		for h, value := range live {
			require.Equal(r, value, objects.get(h))
		}
		for _, h := range append(ended, 0, 1, ^handle(0), 1<<32-1) {
			require.Nil(r, objects.get(h))
			require.Nil(r, objects.take(h))
		}
	})
}

// keys are in the order of the steps that made them, so that a failure repeats.
func keys(live map[handle]int) []handle {
	all := make([]handle, 0, len(live))
	for step := range 200 {
		for h, made := range live {
			if made == step {
				all = append(all, h)
			}
		}
	}
	return all
}

func TestHandlesAreTakenOnce(t *testing.T) {
	var objects table
	for range 100 {
		h := objects.add("it")
		var taken sync.Map
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() {
				if objects.take(h) != nil {
					taken.Store(worker, true)
				}
			})
		}
		group.Wait()
		count := 0
		taken.Range(func(any, any) bool { count++; return true })
		require.Equal(t, 1, count)
	}
}

func TestAHandleOfAnotherType(t *testing.T) {
	h := objects.add("text")
	defer objects.take(h)
	_, err := the[*memory.Manager](h)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = retained[*series](h)
	require.ErrorIs(t, err, memory.ErrReleased)
	require.NoError(t, release(0))
}

func TestErrorsHaveAKind(t *testing.T) {
	for err, want := range map[error]failure{
		errors.New("unknown"):                {Kind: "error", Text: "unknown"},
		fmt.Errorf("x: %w", errNoColumn):     {Kind: "key", Text: "x"}, // the condition is Go's
		fmt.Errorf("%w", memory.ErrReleased): {Kind: "released", Text: memory.ErrReleased.Error()},
	} {
		require.Equal(t, want, describe(err))
	}
	require.Equal(t, "budget", describe(&memory.BudgetError{Asked: 1}).Kind)
	require.EqualValues(t, 1, describe(&memory.BudgetError{Asked: 1}).Asked)
}
