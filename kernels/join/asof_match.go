package join

import (
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// match finds the matches. The caller releases them.
func (a *asOfMatcher) match() (*matches, error) {
	m, err := func() (*matches, error) {
		f, err := a.measure()
		if err != nil {
			return nil, err
		}
		return chooseNearest(f).run(a)
	}()
	return release.OnError(m, err, a.held.Release())
}

// measure finds the facts that the choice depends on. A GPU may wait for the ranges of keys.
func (a *asOfMatcher) measure() (f *asOfFacts, err error) {
	if a.distances, err = a.options.distancesOf(a.left[len(a.left)-1].Type()); err != nil {
		return nil, err
	}
	f = &asOfFacts{tuning: tuningOf(a.Context()), onHost: a.OnHost(), left: a.left[0].Len(), right: a.right[0].Len()}
	if !f.mayHaveWords() {
		return f, nil
	}
	a.plan, err = a.planMerge()
	f.words = a.plan != nil
	return f, err
}
