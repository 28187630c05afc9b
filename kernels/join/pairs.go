package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// noRow is the number of the row that does not exist: [selection.Null] makes it null.
const noRow = 1<<32 - 1

// rows returns the number of pairs of a row with a number of matches.
func (f form) rows(matches uint32) int64 {
	switch f {
	case everyMatchOrNone:
		return int64(max(matches, 1))
	case anyMatch:
		return int64(min(matches, 1))
	case noMatch:
		return int64(1 - min(matches, 1))
	}
	return int64(matches)
}

// pairs are rows of a result: numbers of rows of both sides, or noRow.
type pairs struct {
	probe, build memory.Slice[uint32]
	rows         int
	block        *memory.Block
	// everyRow is set if the probe side is all of its rows in order.
	everyRow bool
	// held is the table that the pairs are in, if they are not in the block.
	held release.Stack
}

// Release releases the memory.
func (p *pairs) Release() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.block.Release(), p.held.Release())
}

// newPairs allocates pairs. The caller releases them.
func newPairs(c *call, rows int) (*pairs, error) {
	block, slices, err := c.uint32s(rows, rows)
	if err != nil {
		return nil, err
	}
	return &pairs{probe: slices[0], build: slices[1], rows: rows, block: block}, nil
}

// out returns struct PairsOut of pairing.cuh.
func (p *pairs) out() any {
	l := pairsOutLayout{probe: kernels.Output(p.probe), build: kernels.Output(p.build)}
	return l.asArgument()
}

// numbers returns the first rows of a slice of pairs as a column. The caller releases it.
func (p *pairs) numbers(side memory.Slice[uint32]) (*column.Column, error) {
	cut, err := side.Slice(0, p.rows)
	if err != nil {
		return nil, err
	}
	return selection.RowNumbers(cut, nil)
}

// newNumbers makes two columns of n numbers. write gets struct PairsOut of pairing.cuh. After an
// error one may be there.
func newNumbers(c *call, n int, write func(out any) error) (probe, build *column.Column, err error) {
	result := op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}
	probe, err = c.NewColumn(result, func(probes op.Buffers) (err error) {
		build, err = c.NewColumn(result, func(builds op.Buffers) error {
			l := pairsOutLayout{probe: kernels.Output(probes.Values), build: kernels.Output(builds.Values), wide: 1}
			return write(l.asArgument())
		})
		return err
	})
	return probe, build, err
}

// noNumbers returns numbers of no rows.
func noNumbers(m *memory.Manager) (*column.Column, error) {
	return column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Buffers: make([]column.Bytes, 2), Manager: m})
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
