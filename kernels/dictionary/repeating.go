package dictionary

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// The numbers of [EncodeRepeating]. On an H200 the hash table of 3·10⁶ texts takes 0.42 ms.
const (
	// hostRepeating and deviceRepeating are the fewest rows of which a part is looked at. A GPU waits a few times for
	// the host.
	hostRepeating   = 1 << 14
	deviceRepeating = 1 << 20
	// repeatingPart is the part that is looked at: one of 16 rows.
	repeatingPart = 16
	// rowsOfValue is how many rows of the part each value must have.
	rowsOfValue = 2
)

// EncodeRepeating is [Encode] for operators that take many times as long for a value as for finding equal ones, and can
// compute each distinct value once. It returns nil if the column is short or too long for codes, if the first or the last
// sixteenth of its rows has more than half as many values, or if memory is lacking. least, unless it is 0, is the fewest
// rows of a column that is not short. It waits as Encode does, also for the number of rows. The caller releases the column.
//
// # Errors
//
// Those of Encode, except about memory and the length.
func EncodeRepeating(ctx context.Context, c *column.Column, least int, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("dictionary: encode: %w", err)
	}
	encoded, err := encodeRepeating(ctx, c, least, only)
	if op.LacksMemory(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("dictionary: encode: %w", err)
	}
	return encoded, nil
}

func encodeRepeating(ctx context.Context, c *column.Column, least int, options Options) (*column.Column, error) {
	if least == 0 {
		least = deviceRepeating
		if c.Device().Kind() == device.Host {
			least = hostRepeating
		}
	}
	if c.Len() < max(least, repeatingPart) || c.Len() > math.MaxInt32 {
		return nil, nil
	}
	rows, err := c.WithHostRows(ctx)
	if err != nil {
		return nil, err
	}
	part := rows.Len() / repeatingPart
	repeat, err := repeats(ctx, rows, 0, part, options)
	if err == nil && repeat {
		repeat, err = repeats(ctx, rows, rows.Len()-part, part, options)
	}
	if err = errors.Join(err, rows.Release()); err != nil || !repeat {
		return nil, err
	}
	return encode(ctx, c, options)
}

// repeats reports whether some rows have few values.
func repeats(ctx context.Context, c *column.Column, offset, length int, options Options) (bool, error) {
	part, err := c.Slice(offset, length)
	if err != nil {
		return false, err
	}
	encoded, err := encode(ctx, part, options)
	if err = errors.Join(err, part.Release()); err != nil {
		_, err = release.OnError(encoded, err)
		return false, err
	}
	values := encoded.Dictionary().Len()
	return values <= length/rowsOfValue, encoded.Release()
}
