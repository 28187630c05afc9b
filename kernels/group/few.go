package group

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Few rows are numbered by one block, with a hash table in shared memory: the launches of the
// hash table in global memory would take several times as long.

// few reports whether the rows of a column are numbered by one block.
func (f *numberer) few(c *column.Column) (bool, error) {
	if f.call.OnHost() || c.Len() == 0 || c.Len() > mostFewRows {
		return false, nil
	}
	integer, err := integerType(c.Type())
	return integer != nil, err
}

// numberFew finds the groups of a column of few integers. The caller releases them.
func (f *numberer) numberFew(c *column.Column) (*listedGroups, error) {
	p := new(listedGroups)
	if err := f.launchFew(p, c); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	return p, nil
}

func (f *numberer) launchFew(p *listedGroups, c *column.Column) error {
	rows, counted, err := c.Extent(f.call.Context())
	if err != nil {
		return err
	}
	keys, err := sourceOf(f.call, c)
	if err != nil {
		return err
	}
	bytes := 4 * uint64(c.Len())
	block, slices, err := f.call.Scratch(8, bytes, bytes)
	if err != nil {
		return err
	}
	p.owned.Add(block)
	kernel, err := f.call.Kernel(&aggregateSet, "few", "number_few")
	if err != nil {
		return err
	}
	err = kernel.Launch(f.call.Stream, device.Dim3{X: 1}, device.Dim3{X: fewThreads}, 0, slices[2], slices[1], slices[0], keys.argument(), counted, int64(rows))
	if err != nil {
		return err
	}
	if p.numbers, err = memory.Reinterpret[uint32](slices[2]); err != nil {
		return err
	}
	return p.listOf(slices[1], slices[0], c.Len())
}
