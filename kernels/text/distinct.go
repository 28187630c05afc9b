package text

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/memory"
)

// A regular expression takes many times as long as finding equal texts. So replacing and extracting compute each distinct
// text once, if a part of a long column has few of them.
const (
	// hostDistinct and deviceDistinct are the fewest rows of which a part is looked at. A GPU waits a few times for the host.
	hostDistinct   = 1 << 14
	deviceDistinct = 1 << 20
	// sampledPart is the part of the rows that is looked at, one of so many.
	sampledPart = 16
	// rowsOfText is how many rows of the part each text must have.
	rowsOfText = 2
)

// distinct searches each distinct text of a column once. It returns nil if few of them repeat, or if memory is lacking: then
// each row is searched.
func (s search) distinct(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	encoded, err := s.encoded(ctx, c, options)
	if err != nil || encoded == nil {
		return nil, withoutBudget(err)
	}
	searched, err := perValue(ctx, encoded, options, s.column)
	searched, err = release.OnError(searched, err, encoded.Release())
	return searched, withoutBudget(err)
}

func withoutBudget(err error) error {
	if errors.Is(err, memory.ErrBudget) {
		return nil
	}
	return err
}

// encoded returns a column as a dictionary if its texts repeat, or nil. The caller releases it.
func (s search) encoded(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	least := deviceDistinct
	if c.Device().Kind() == device.Host {
		least = hostDistinct
	}
	if s.leastDistinct > 0 {
		least = s.leastDistinct
	}
	if s.kind != replace && s.kind != extract || c.Len() < least {
		return nil, nil
	}
	rows, err := c.WithHostRows(ctx)
	if err != nil {
		return nil, err
	}
	part, err := rows.Slice(0, rows.Len()/sampledPart)
	part, err = release.OnError(part, err, rows.Release())
	if err != nil {
		return nil, err
	}
	encoded, err := dictionary.Encode(ctx, part, options)
	if err = errors.Join(err, part.Release()); err != nil {
		return nil, err
	}
	repeat := encoded.Dictionary().Len() <= part.Len()/rowsOfText
	if err := encoded.Release(); err != nil || !repeat {
		return nil, err
	}
	return dictionary.Encode(ctx, c, options)
}
