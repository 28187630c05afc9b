package join

import (
	"github.com/gpuframe/gpuframe/memory"
)

// roles are the parts that the kind gives to the probe and the build side.
type roles struct {
	probesRight bool
	form        form
	// keepsProbe and keepsBuild report whether rows without a match are in the result.
	keepsProbe, keepsBuild bool
	// build is the number of rows of the build side.
	build int
}

// roles returns the parts of both sides.
func (s *sides) roles(probesRight bool) roles {
	kind := s.options.Kind
	o := roles{probesRight: probesRight, keepsProbe: kind.keepsLeft(), keepsBuild: kind.keepsRight(), build: rowsOf(s.right)}
	if probesRight {
		o.keepsProbe, o.keepsBuild, o.build = o.keepsBuild, o.keepsProbe, rowsOf(s.left)
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
