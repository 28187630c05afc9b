package bind

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Cache keeps the rows of the input in the store of the step, which Keep or KeepWith sets.
func Cache(name string) Verb { return Verb{name: name, bind: (*binder).cache} }

// Keep gives a step of Cache a store.
func (s *Step) Keep(stores *exec.Stores) { s.store = exec.NewStore(stores, s.Origin) }

// KeepWith gives a step of Cache the store of another one with the same planner.
func (s *Step) KeepWith(kept *Step) {
	if kept != nil && kept.planner == s.planner {
		s.store = kept.store
	}
}

func (b *binder) cache(inputs []plan.Node) plan.Node {
	store := b.at.store
	if store == nil {
		b.report(fmt.Errorf("the query with the rows was not made by Cache on the same engine: %w", device.ErrInvalidValue))
		return inputs[0]
	}
	if err := store.Accept(inputs[0].Schema()); err != nil {
		b.report(err)
		return inputs[0]
	}
	return plan.NewCache(inputs[0], store)
}

// Evict releases the rows that the caches of the step and below it keep.
func (s *Step) Evict() error {
	seen := map[*Step]bool{}
	var failures []error
	var visit func(*Step)
	visit = func(s *Step) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.store != nil {
			failures = append(failures, s.store.Evict())
		}
		for _, input := range s.inputs {
			visit(input)
		}
	}
	visit(s)
	return errors.Join(failures...)
}
