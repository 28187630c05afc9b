package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// joined are the rows of a result: numbers of left and right rows.
type joined struct {
	left, right memory.Slice[uint32]
	pairs       *pairs
	probesRight bool
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

// pairsOf makes the rows of the result of matches, which it releases.
func (r *run) pairsOf(m *matches, probesRight bool) (*joined, error) {
	m, err := r.refined(m, probesRight)
	if err != nil {
		return nil, err
	}
	j, err := r.joined(m, probesRight)
	if err = errors.Join(err, m.Release()); err != nil {
		return nil, errors.Join(err, j.Release())
	}
	return j, nil
}

// refined returns the matches that meet the condition, if there is one. It releases the
// given ones.
func (r *run) refined(m *matches, probesRight bool) (*matches, error) {
	if r.options.Where.IsZero() {
		return m, nil
	}
	refined, err := r.refine(m, probesRight)
	return release.OnError(refined, err, m.Release())
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
	r.probed = probe
	var held release.Stack
	m, err := r.matchKeys(&held, [2][]*column.Column{probeKeys, buildKeys})
	return release.OnError(m, err, held.Release())
}

// matchKeys finds the matches of the keys of the probe and the build side, which have
// rows.
func (r *run) matchKeys(held *release.Stack, keys [2][]*column.Column) (*matches, error) {
	keys, bound, err := r.numbered(held, keys)
	if err != nil {
		return nil, err
	}
	e, err := r.newEncoding(keys, bound)
	if err != nil {
		return nil, err
	}
	held.Add(e)
	b, err := r.buildSide(e, keys[1])
	if err != nil {
		return nil, err
	}
	m, err := r.probeSide(b, e, keys[0])
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	m.held.Add(b) // its list
	return m, nil
}

// roles are the parts that the kind gives to the probe and the build side.
type roles struct {
	probesRight bool
	form        form
	// keepsProbe and keepsBuild report whether rows without a match are in the result.
	keepsProbe, keepsBuild bool
	// build is the number of rows of the build side.
	build int
}

func (r *run) roles(probesRight bool) roles {
	kind := r.options.Kind
	o := roles{probesRight: probesRight, keepsProbe: kind.keepsLeft(), keepsBuild: kind.keepsRight(), build: rowsOf(r.right)}
	if probesRight {
		o.keepsProbe, o.keepsBuild, o.build = o.keepsBuild, o.keepsProbe, rowsOf(r.left)
	}
	switch {
	case kind == Semi:
		o.form = anyMatch
	case kind == Anti:
		o.form = noMatch
	case o.keepsProbe:
		o.form = everyMatchOrNone
	}
	return o
}

// sides returns pairs, which it owns, as left and right rows.
func (o roles) sides(p *pairs) *joined {
	j := &joined{left: p.probe, right: p.build, pairs: p, probesRight: o.probesRight, leftMissing: o.keepsBuild, rightMissing: o.keepsProbe}
	if o.probesRight {
		j.left, j.right, j.leftMissing, j.rightMissing = p.build, p.probe, o.keepsProbe, o.keepsBuild
	}
	return j
}

// joined makes the pairs of the kind.
func (r *run) joined(m *matches, probesRight bool) (*joined, error) {
	o, extra := r.roles(probesRight), 0
	if o.keepsBuild {
		extra = o.build
	}
	p, err := r.expand(m, o.form, extra)
	if err != nil {
		return nil, err
	}
	if o.keepsBuild {
		if err := r.appendUnmatched(p, o.build); err != nil {
			return nil, errors.Join(err, p.Release())
		}
	}
	return o.sides(p), nil
}
