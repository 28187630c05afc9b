package join

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// asOfMatcher finds the matches of an as-of join.
type asOfMatcher struct {
	*call
	// left and right are the keys: those of By, then the one with distances.
	left, right []*column.Column
	options     *AsOfOptions
	distances   distances
	held        release.Stack
}

// match finds the matches. The caller releases them.
func (a *asOfMatcher) match() (*matches, error) {
	m, err := a.nearestMatches()
	return release.OnError(m, err, a.held.Release())
}

// nearestMatches merges both sides or, if their keys are too long for that, searches the
// left rows among the right ones.
func (a *asOfMatcher) nearestMatches() (m *matches, err error) {
	if a.distances, err = a.options.distancesOf(a.left[len(a.left)-1].Type()); err != nil {
		return nil, err
	}
	if a.left[0].Len() > 0 {
		p, err := a.planMerge()
		if err != nil {
			return nil, err
		}
		if p != nil {
			return a.mergeNearest(p)
		}
	}
	if m, err = newMatches(a.call, a.left[0].Len(), a.right[0].Len()); err != nil || m.probe == 0 {
		return m, err
	}
	return release.OnError(m, a.searchNearest(m))
}
