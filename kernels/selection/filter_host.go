package selection

import (
	"context"
	bitcount "math/bits"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// filterOnHost gathers the kept rows by their numbers. The call has begun, so the input
// is ready.
func filterOnHost(ctx context.Context, call *op.Call, table *buffer.Buffer, columns []*column.Column, mask *column.Column) (filtered *buffer.Buffer, err error) {
	if call.Estimating() {
		return nil, estimateOnHost(ctx, call, columns, int(table.Capacity()))
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	numbers, err := keptNumbers(mask, int(rows))
	if err != nil {
		return nil, err
	}
	block, slices, err := call.Scratch(8 * uint64(len(numbers)))
	if err != nil {
		return nil, err
	}
	defer func() { filtered, err = release.OnError(filtered, err, block.Release()) }()
	if len(numbers) > 0 {
		words, err := memory.Reinterpret[int64](slices[0])
		if err != nil {
			return nil, err
		}
		host, err := words.Host()
		if err != nil {
			return nil, err
		}
		copy(host, numbers)
	}
	results, err := gather(ctx, call, columns, &source{
		order: listed64, indices: slices[0], limit: uint64(rows), capacity: len(numbers), once: true,
	})
	if err != nil {
		return nil, err
	}
	return tableOf(table, results, buffer.Rows{Count: int64(len(numbers)), Manager: call.Manager})
}

// estimateOnHost collects the sizes of a filter that keeps all rows.
func estimateOnHost(ctx context.Context, call *op.Call, columns []*column.Column, rows int) error {
	g := newGatherer(ctx, call)
	if _, err := g.scratch(8 * uint64(rows)); err != nil {
		return err
	}
	if _, err := g.columns(columns, &source{order: listed64, limit: uint64(rows), capacity: rows, once: true}); err != nil {
		return err
	}
	return g.sizes.estimate(call)
}

// keptNumbers returns the numbers of the rows, less than rows, for which the mask on
// the host is true and not null.
func keptNumbers(mask *column.Column, rows int) ([]int64, error) {
	p := whole(mask)
	l, err := layoutOf(p.data.Type)
	if err != nil {
		return nil, err
	}
	set, err := p.bits(1).onHost()
	if err != nil {
		return nil, err
	}
	valid, err := p.valid(l).onHost()
	if err != nil {
		return nil, err
	}
	count := 0
	for at := 0; at < rows; at += 64 {
		count += bitcount.OnesCount64(set.word(at, rows) & valid.word(at, rows))
	}
	numbers := make([]int64, 0, count)
	for at := 0; at < rows; at += 64 {
		for word := set.word(at, rows) & valid.word(at, rows); word != 0; word &= word - 1 {
			numbers = append(numbers, int64(at+bitcount.TrailingZeros64(word)))
		}
	}
	return numbers, nil
}
