package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/memory"
)

// joined are the rows of a result: numbers of left and right rows.
type joined struct {
	left, right memory.Slice[uint32]
	pairs       *pairs
	// leftMissing and rightMissing report whether there may be noRow.
	leftMissing, rightMissing bool
}

// Release releases the memory.
func (j *joined) Release() error {
	if j == nil {
		return nil
	}
	return j.pairs.Release()
}

// probesRight reports whether the right table is the probe side. The smaller table is
// the build side, unless the order or the kind decides.
func (r *run) probesRight() bool {
	return r.options.Order == Unspecified && !r.options.Kind.leftOnly() && r.left.Capacity() < r.right.Capacity()
}

// pairs finds the rows of the result. The caller releases them.
func (r *run) pairs() (*joined, error) {
	probesRight := r.probesRight()
	m, err := r.match(probesRight)
	if err != nil {
		return nil, err
	}
	if !r.options.Where.IsZero() {
		refined, err := r.refine(m, probesRight)
		if err = errors.Join(err, m.Release()); err != nil {
			return nil, errors.Join(err, refined.Release())
		}
		m = refined
	}
	j, err := r.joined(m, probesRight)
	if err = errors.Join(err, m.Release()); err != nil {
		return nil, errors.Join(err, j.Release())
	}
	return j, nil
}

// match finds the matches of the keys.
func (r *run) match(probesRight bool) (*matches, error) {
	probe, build, probeKeys, buildKeys := rowsOf(r.left), rowsOf(r.right), r.leftKeys, r.rightKeys
	if probesRight {
		probe, build, probeKeys, buildKeys = build, probe, buildKeys, probeKeys
	}
	switch {
	case r.options.Kind == Cross:
		return r.everything(probe, build)
	case probe == 0 || build == 0:
		return r.everything(probe, 0)
	}
	if m, err := r.hash(probeKeys, buildKeys); m != nil || err != nil {
		return m, err
	}
	return r.search(probeKeys, buildKeys)
}

// joined makes the pairs of the kind.
func (r *run) joined(m *matches, probesRight bool) (*joined, error) {
	kind := r.options.Kind
	keepsProbe, keepsBuild := kind.keepsLeft(), kind.keepsRight()
	if probesRight {
		keepsProbe, keepsBuild = keepsBuild, keepsProbe
	}
	form, extra := everyMatch, 0
	switch {
	case kind == Semi:
		form = anyMatch
	case kind == Anti:
		form = noMatch
	case keepsProbe:
		form = everyMatchOrNone
	}
	build := rowsOf(r.right)
	if probesRight {
		build = rowsOf(r.left)
	}
	if keepsBuild {
		extra = build
	}
	p, err := r.expand(m, form, extra)
	if err != nil {
		return nil, err
	}
	if keepsBuild {
		if err := r.appendUnmatched(p, build); err != nil {
			return nil, errors.Join(err, p.Release())
		}
	}
	j := &joined{left: p.probe, right: p.build, pairs: p, leftMissing: keepsBuild, rightMissing: keepsProbe}
	if probesRight {
		j.left, j.right, j.leftMissing, j.rightMissing = p.build, p.probe, keepsProbe, keepsBuild
	}
	return j, nil
}
