package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// rightIndex is the index of the right side of a join, for the tables of a left side that
// streams. The first table is joined without it: if it is the only one, package join chooses
// the side that it builds a hash table of. So a left side of several tables builds twice.
type rightIndex struct {
	built *join.Index
	// tables is the number of tables that were joined. failed is set if memory did not suffice
	// for the index.
	tables int
	failed bool
}

// Release releases the index. The next table is the first one again.
func (x *rightIndex) Release() error {
	built := x.built
	*x = rightIndex{}
	return built.Release()
}

// probe joins a table of the left side with the right side.
func (j *joining) probe(ctx context.Context, left *buffer.Buffer) (*buffer.Buffer, error) {
	x := &j.index
	// The memory of a result is that of the manager of its left table.
	if x.tables == 0 || x.failed || left.Manager() != j.settings.Manager {
		joined, err := j.join(ctx, left, j.right)
		if err == nil {
			x.tables++
		}
		return joined, err
	}
	if x.built == nil {
		built, err := join.Build(ctx, left.Schema(), j.right, j.plan.On(), j.joinOptions())
		if isShort(err) {
			x.failed = true
			return j.join(ctx, left, j.right)
		}
		if err != nil {
			return nil, err
		}
		x.built = built
	}
	return x.built.Probe(ctx, left)
}
