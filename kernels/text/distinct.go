package text

import (
	"context"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
)

// distinct replaces and extracts in each distinct text of a column once. It returns nil if few of them repeat, or if memory
// is lacking: then each row is searched.
func (s search) distinct(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	if s.kind != replace && s.kind != extract {
		return nil, nil
	}
	encoded, err := dictionary.EncodeRepeating(ctx, c, s.leastDistinct, options)
	if err != nil || encoded == nil {
		return nil, err
	}
	searched, err := perValue(ctx, encoded, options, s.column)
	searched, err = release.OnError(searched, err, encoded.Release())
	if op.LacksMemory(err) {
		return nil, nil
	}
	return searched, err
}
