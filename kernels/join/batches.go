package join

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// DefaultBatch is the number of rows of a batch if MaxRows is zero.
const DefaultBatch = 1 << 22

// Batches joins two tables as [Tables] does, and yields the result in parts of at most
// MaxRows rows, [DefaultBatch] if it is zero. The result may have any number of rows: one
// left row with all its matches need not fit a part. The matches of both tables are found
// once, and stay in memory until the loop ends. There is no empty part. A condition is
// taken for Inner and Cross; it makes parts shorter.
//
//	for part, err := range join.Batches(ctx, orders, lines, join.Using("order"), join.Options{MaxRows: 1 << 20}) {
//		if err != nil {
//			return err
//		}
//		…
//		part.Release()
//	}
//
// # Waiting
//
// Batches waits as Tables does before the first part. For the parts it waits as
// selection.Take does, and with a condition for the number of rows of each.
//
// # Ownership
//
// The loop's body releases each part.
//
// # Errors
//
// The errors are those of Tables. The loop ends after an error.
func Batches(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) iter.Seq2[*buffer.Buffer, error] {
	return func(yield func(*buffer.Buffer, error) bool) {
		b := batches{most: int(min(options.MaxRows, MaxPairs)), yield: func(part *buffer.Buffer) bool { return yield(part, nil) }}
		if options.MaxRows == 0 {
			b.most = DefaultBatch
		}
		if err := b.join(ctx, left, right, on, options); err != nil && !b.stopped {
			yield(nil, fmt.Errorf("join: batches: %w", err))
		}
	}
}

// batches is one call of [Batches].
type batches struct {
	output
	most  int
	yield func(*buffer.Buffer) bool
	// stopped is set when the loop has ended.
	stopped bool
}

func (b *batches) join(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) error {
	if !options.Where.IsZero() && options.Kind != Inner && options.Kind != Cross {
		return fmt.Errorf("a condition cannot be evaluated in parts for Kind %v, expected Inner or Cross: use Tables: %w", options.Kind, device.ErrNotSupported)
	}
	s, err := begin(ctx, left, right, on, options)
	if err != nil {
		return err
	}
	var held release.Stack
	held.Add(s)
	b.output = output{sides: s, roles: s.roles(s.probesRight())}
	err = func() error {
		m, err := s.match(b.roles.probesRight)
		if err != nil {
			return err
		}
		held.Add(m)
		s, err := newSequence(b.call, m, b.roles.form)
		if err != nil {
			return err
		}
		held.Add(s)
		return b.all(&held, s)
	}()
	return errors.Join(err, held.Release())
}

// all yields all parts, and then the rows of the build side without a match.
func (b *batches) all(held *release.Stack, s *sequence) error {
	var k *marks
	if b.roles.keepsBuild && b.roles.build > 0 {
		var err error
		if k, err = newMarks(b.call, b.roles.build); err != nil {
			return err
		}
		held.Add(k.block)
	}
	for from := int64(0); from < s.total && !b.stopped; from += int64(b.most) {
		p, err := s.expandPart(b.call, from, int(min(s.total-from, int64(b.most))), 0)
		if err != nil {
			return err
		}
		if k != nil {
			err = k.mark(b.call, p)
		}
		if err == nil && !b.options.Where.IsZero() {
			p, err = b.filtered(p)
		}
		if err != nil {
			return errors.Join(err, p.Release())
		}
		if err := b.part(p); err != nil {
			return err
		}
	}
	if k == nil || b.stopped {
		return nil
	}
	rows, err := k.unmarked(b.call)
	if err != nil {
		return err
	}
	held.Add(rows)
	return b.missing(rows)
}

// filtered returns the pairs for which the condition is true, and releases the given ones.
func (b *batches) filtered(p *pairs) (*pairs, error) {
	kept := &pairs{}
	kept.held.Add(p)
	k := condition{b.sides, b.roles.probesRight}
	table, err := k.keptPairs(&kept.held, p)
	if err == nil {
		kept.rows = rowsOf(table)
		kept.probe, err = uint32sOf(table.Column(0))
	}
	if err == nil {
		kept.build, err = uint32sOf(table.Column(1))
	}
	return kept, err
}

// missing yields rows of the build side that have no match.
func (b *batches) missing(rows *column.Column) error {
	numbers, err := uint32sOf(rows)
	if err != nil {
		return err
	}
	for from := 0; from < numbers.Len() && !b.stopped; from += b.most {
		n := min(numbers.Len()-from, b.most)
		p, err := newPairs(b.call, n)
		if err != nil {
			return err
		}
		part, err := numbers.Slice(from, from+n)
		if err == nil {
			err = errors.Join(p.build.CopyFrom(b.Stream, part), p.probe.Fill(b.Stream, noRow))
		}
		if err != nil {
			return errors.Join(err, p.Release())
		}
		if err := b.part(p); err != nil {
			return err
		}
	}
	return nil
}

// part yields the rows of pairs, which it owns.
func (b *batches) part(p *pairs) error {
	j := b.roles.sides(p)
	if p.rows == 0 {
		return j.Release()
	}
	if err := b.waitIdle(); err != nil {
		return errors.Join(err, j.Release())
	}
	table, err := b.table(j)
	if table, err = release.OnError(table, err, j.Release()); err != nil {
		return err
	}
	b.stopped = !b.yield(table)
	return nil
}
