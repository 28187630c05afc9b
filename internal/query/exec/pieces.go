package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// pieces are tables to work on, the next one last. If memory does not suffice for one, its join has
// too many rows, or offsets do not suffice for its text, it is cut into halves.
type pieces struct{ list []*buffer.Buffer }

func (p *pieces) push(table *buffer.Buffer) { p.list = append(p.list, table) }

// cut adds a table, which it takes over, in pieces of about most bytes of the bytes that it is
// expected to take.
func (p *pieces) cut(ctx context.Context, table *buffer.Buffer, bytes, most uint64) error {
	if bytes/max(most, 1) < 2 {
		p.push(table)
		return nil
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return errors.Join(err, table.Release())
	}
	each := max(int64(float64(table.Capacity())*float64(most)/float64(bytes)), leastRows)
	var list []*buffer.Buffer
	for at := int64(0); at < max(rows, 1) && err == nil; at += each {
		var piece *buffer.Buffer
		if piece, err = table.Slice(at, min(each, rows-at)); err == nil {
			list = append(list, piece)
		}
	}
	if err = errors.Join(err, table.Release()); err != nil {
		return errors.Join(err, release.All(list))
	}
	for _, piece := range slices.Backward(list) {
		p.push(piece)
	}
	return nil
}

func (p *pieces) isEmpty() bool { return len(p.list) == 0 }

// begunError is the failure of an operation on a piece that others have a part of already. It may
// wrap an error of too little memory, but the piece must not be worked on again.
type begunError struct{ error }

// Unwrap returns the failure.
func (e begunError) Unwrap() error { return e.error }

// next applies an operator to the next piece, or to its first half if memory is short or the result
// has too much text, and so on. apply does not keep the piece. After an error the piece is still there.
func (p *pieces) next(ctx context.Context, apply func(*buffer.Buffer) (*buffer.Buffer, error)) (*buffer.Buffer, error) {
	for {
		if err := cancel.Error(ctx); err != nil {
			return nil, err
		}
		at := len(p.list) - 1
		piece := p.list[at]
		applied, err := apply(piece)
		if err == nil {
			p.list = p.list[:at]
			return release.OnError(applied, piece.Release())
		}
		if !isTooLarge(err) || errors.As(err, new(begunError)) {
			return nil, err
		}
		least := int64(leastRows)
		if isTooWide(err) {
			least = 2
		}
		first, second, ok := halves(ctx, piece, least)
		if !ok {
			return nil, err
		}
		p.list = append(p.list[:at], second, first)
		if err := piece.Release(); err != nil {
			return nil, err
		}
	}
}

// all applies an operator without a result to all pieces.
func (p *pieces) all(ctx context.Context, apply func(*buffer.Buffer) error) error {
	for !p.isEmpty() {
		_, err := p.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) { return nil, apply(piece) })
		if err != nil {
			return err
		}
	}
	return nil
}

// take returns the pieces and forgets them, the next one first.
func (p *pieces) take() []*buffer.Buffer {
	list := p.list
	p.list = nil
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// Release releases the pieces.
func (p *pieces) Release() error {
	return release.All(p.take())
}

// halves returns the two halves of a table, unless it has fewer than least rows.
func halves(ctx context.Context, table *buffer.Buffer, least int64) (first, second *buffer.Buffer, ok bool) {
	rows, err := table.NumRows(ctx)
	if err != nil || rows < least {
		return nil, nil, false
	}
	if first, err = table.Slice(0, rows/2); err != nil {
		return nil, nil, false
	}
	if second, err = table.Slice(rows/2, rows-rows/2); err != nil {
		_ = first.Release()
		return nil, nil, false
	}
	return first, second, true
}
