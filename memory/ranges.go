package memory

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// UploadRange copies source to the elements that begin at index from. They must be
// in range. Otherwise it behaves as [Slice.Upload].
func (s Slice[T]) UploadRange(ctx context.Context, stream *device.Stream, from int, source []T) error {
	part, err := s.part(from, len(source))
	if err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	return part.Upload(ctx, stream, source)
}

// DownloadRange copies the elements that begin at index from into destination. They
// must be in range. Otherwise it behaves as [Slice.Download].
func (s Slice[T]) DownloadRange(ctx context.Context, stream *device.Stream, from int, destination []T) error {
	part, err := s.part(from, len(destination))
	if err != nil {
		return fmt.Errorf("memory: download: %w", err)
	}
	return part.Download(ctx, stream, destination)
}

// part returns n elements that begin at index from.
func (s Slice[T]) part(from, n int) (Slice[T], error) {
	if from < 0 || from > s.length || n > s.length-from {
		return Slice[T]{}, fmt.Errorf("%d elements from %d on of a slice of %d: %w", n, from, s.length, ErrRange)
	}
	return s.Slice(from, from+n)
}

// UploadPadded copies source, which may be shorter than s, and writes padding to the
// elements after it, for example the alignment bytes of a buffer or the spare rows
// of a column. Otherwise it behaves as [Slice.Upload].
func (s Slice[T]) UploadPadded(ctx context.Context, stream *device.Stream, source []T, padding T) error {
	if len(source) > s.length {
		return fmt.Errorf("memory: upload %d elements to a slice of %d: %w", len(source), s.length, ErrRange)
	}
	if pattern := address.BytesOf([]T{padding}); isUniform(pattern) {
		return UploadPadded(ctx, stream, s.AsBytes(), []Source{{Data: address.BytesOf(source)}}, pattern[0])
	}
	rest, err := s.part(len(source), s.length-len(source))
	if err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	if err := s.UploadRange(ctx, stream, 0, source); err != nil {
		return err
	}
	return rest.Fill(stream, padding)
}

func isUniform(pattern []byte) bool {
	for _, each := range pattern {
		if each != pattern[0] {
			return false
		}
	}
	return true
}
