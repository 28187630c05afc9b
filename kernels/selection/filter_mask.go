package selection

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// maskSelector selects by a column of bool.
type maskSelector struct{ mask *column.Column }

func (s maskSelector) arguments(c *compaction) (maskArguments, error) {
	p := whole(s.mask)
	l, err := layoutOf(p.data.Type)
	return maskArguments{bits: p.bits(1), valid: p.valid(l), rows: c.rows, capacity: c.capacity}, err
}

func (s maskSelector) fits(*op.Call) (bool, error) { return true, nil }

func (s maskSelector) few(c *compaction) error {
	arguments, err := s.arguments(c)
	if err != nil {
		return err
	}
	function, err := compactSmall.function(c.call)
	if err != nil {
		return err
	}
	mask := arguments.words()
	defer giveBackWords(mask)
	return c.parts(func(parts *kernels.Words) error {
		return function.Launch(c.call.Stream, device.Dim3{X: 1}, device.Dim3{X: smallThreads}, 0, mask, c.kept, parts)
	})
}

func (s maskSelector) prepare(c *compaction) (uint64, []uint64) {
	return 0, []uint64{8 * tiles(c.capacity, maskTileRows), 4 * 64 * tiles(c.capacity, maskTileRows)}
}

// tiles returns the number of tiles of each rows.
func tiles(rows, each int) uint64 { return (uint64(rows) + uint64(each) - 1) / uint64(each) }

func (s maskSelector) many(c *compaction) (found, error) {
	arguments, err := s.arguments(c)
	if err != nil {
		return found{}, err
	}
	f := found{mask: arguments, bases: c.scratch[0], within: c.scratch[1], shift: maskTileShift}
	count, err := compactCount.function(c.call)
	if err != nil {
		return found{}, err
	}
	offsets, err := compactOffsets.function(c.call)
	if err != nil {
		return found{}, err
	}
	mask := arguments.words()
	defer giveBackWords(mask)
	err = count.Launch(c.call.Stream, kernels.GridFor(c.capacity, maskTileRows), device.Dim3{X: compactThreads}, 0,
		mask, f.within, f.bases)
	if err != nil {
		return found{}, err
	}
	return f, offsets.Launch(c.call.Stream, device.Dim3{X: 1}, device.Dim3{X: offsetsThreads}, 0,
		f.bases, c.rows, int64(c.capacity), c.kept)
}
