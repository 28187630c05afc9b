package memory

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Slice is a typed view of a block: Len elements of type T that begin at an address.
// Like a Go slice it is passed by value, and its zero value is empty.
//
// # Ownership
//
// The slices of [NewSlice], [SliceOf] and [Slice.Own] hold a reference to their
// block: their Retain and Release call those of the block. [View], [Reinterpret],
// [Slice.Slice], [Slice.AsBytes] and [Slice.View] return views, which hold no
// reference. A view is valid as long as the slice or block from which it was made.
// Its Retain and Release return an error that wraps [ErrView] and change nothing.
type Slice[T Element] struct {
	block  *Block
	offset uint64
	length int
	// owner is set if the slice holds a reference to the block.
	owner bool
	// unordered is set if work through the slice is not ordered after other work.
	unordered bool
}

// NewSlice allocates n elements; n may be zero. Their values are undefined. The
// caller releases the slice.
func NewSlice[T Element](m *Manager, n int, options AllocateOptions) (Slice[T], error) {
	bytes, err := sizeOf[T](n)
	if err != nil {
		return Slice[T]{}, fmt.Errorf("memory: new slice: %w", err)
	}
	block, err := m.Allocate(bytes, options)
	if err != nil {
		return Slice[T]{}, err
	}
	return Slice[T]{block: block, length: n, owner: true}, nil
}

// NewSliceContext is [NewSlice] that waits for its turn as [Manager.AllocateContext]
// does.
func NewSliceContext[T Element](ctx context.Context, m *Manager, n int, options AllocateOptions) (Slice[T], error) {
	bytes, err := sizeOf[T](n)
	if err != nil {
		return Slice[T]{}, fmt.Errorf("memory: new slice: %w", err)
	}
	block, err := m.AllocateContext(ctx, bytes, options)
	if err != nil {
		return Slice[T]{}, err
	}
	return Slice[T]{block: block, length: n, owner: true}, nil
}

// SliceOf returns the first n elements of a block as a slice that takes over the
// caller's reference: releasing the slice releases the block. After an error the
// caller still has its reference.
func SliceOf[T Element](block *Block, n int) (Slice[T], error) {
	s, err := View[T](block, 0, n)
	s.owner = err == nil
	return s, err
}

// View returns n elements that begin offset bytes into the block. The slice is a
// view: it holds no reference.
func View[T Element](block *Block, offset uint64, n int) (Slice[T], error) {
	if err := block.Check(); err != nil {
		return Slice[T]{}, err
	}
	bytes, err := sizeOf[T](n)
	if err != nil {
		return Slice[T]{}, fmt.Errorf("memory: view: %w", err)
	}
	if err := aligned[T](block.Pointer().Add(offset)); err != nil {
		return Slice[T]{}, fmt.Errorf("memory: view at offset %d: %w", offset, err)
	}
	if total := block.Bytes(); offset > total || bytes > total-offset {
		return Slice[T]{}, fmt.Errorf("memory: view of %d bytes at offset %d of a block of %d: %w", bytes, offset, total, ErrRange)
	}
	return Slice[T]{block: block, offset: offset, length: n}, nil
}

// Reinterpret returns the same memory as elements of another type. The bytes must be
// a multiple of the element size. The result is a view.
func Reinterpret[To, From Element](s Slice[From]) (Slice[To], error) {
	bytes, width := s.Bytes(), widthOf[To]()
	if bytes%width != 0 {
		return Slice[To]{}, fmt.Errorf("memory: reinterpret %d bytes as elements of %d: %w", bytes, width, ErrRange)
	}
	if err := aligned[To](s.Pointer()); err != nil {
		return Slice[To]{}, fmt.Errorf("memory: reinterpret: %w", err)
	}
	return Slice[To]{block: s.block, offset: s.offset, length: int(bytes / width), unordered: s.unordered}, nil
}

// aligned checks the alignment of an element address. A kernel that reads an element
// at an address not aligned to its width, or to eight, destroys the whole context.
func aligned[T Element](at device.Pointer) error {
	if alignment := min(widthOf[T](), 8); uint64(at)%alignment != 0 {
		return fmt.Errorf("address %v is not aligned to %d bytes: %w", at, alignment, ErrRange)
	}
	return nil
}

// sizeOf returns the size of n elements in bytes.
func sizeOf[T Element](n int) (uint64, error) {
	if n < 0 {
		return 0, fmt.Errorf("length %d is negative: %w", n, ErrRange)
	}
	high, bytes := bits.Mul64(uint64(n), widthOf[T]())
	if high != 0 || bytes > math.MaxInt {
		return 0, fmt.Errorf("%d elements of %d bytes: %w", n, widthOf[T](), ErrOverflow)
	}
	return bytes, nil
}

// Block returns the block, or nil for a zero Slice.
func (s Slice[T]) Block() *Block { return s.block }

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.length }

// Bytes returns the length in bytes.
func (s Slice[T]) Bytes() uint64 { return uint64(s.length) * widthOf[T]() }

// Offset returns the byte offset of the slice in its block.
func (s Slice[T]) Offset() uint64 { return s.offset }

// Pointer returns the device address of the first element. It is zero for an empty
// block and after release.
func (s Slice[T]) Pointer() device.Pointer {
	if s.block == nil {
		return 0
	}
	if base := s.block.Pointer(); base != 0 {
		return base.Add(s.offset)
	}
	return 0
}

// View returns the same elements without the reference that s may hold, for code
// that must not release them.
func (s Slice[T]) View() Slice[T] {
	s.owner = false
	return s
}

// IsView reports whether the slice is a view, which holds no reference to its block.
// A zero Slice is a view.
func (s Slice[T]) IsView() bool { return !s.owner }

// Own returns the same elements with an additional reference to the block, which the
// caller releases. Use it to keep a view longer than the slice or block from which
// it was made. A zero Slice has no block: Own returns it unchanged, and releasing it
// does nothing.
//
// # Errors
//
// [ErrReleased] if the block was released.
func (s Slice[T]) Own() (Slice[T], error) {
	if s.block == nil {
		return s, nil
	}
	if err := s.block.Retain(); err != nil {
		return Slice[T]{}, err
	}
	s.owner = true
	return s, nil
}

// Slice returns the elements [i, j) as a view.
func (s Slice[T]) Slice(i, j int) (Slice[T], error) {
	if i < 0 || j < i || j > s.length {
		return Slice[T]{}, fmt.Errorf("memory: slice [%d:%d] of %d elements: %w", i, j, s.length, ErrRange)
	}
	return Slice[T]{block: s.block, offset: s.offset + uint64(i)*widthOf[T](), length: j - i, unordered: s.unordered}, nil
}

// AsBytes returns the same memory as bytes, as a view.
func (s Slice[T]) AsBytes() Slice[uint8] {
	return Slice[uint8]{block: s.block, offset: s.offset, length: int(s.Bytes()), unordered: s.unordered}
}

// Unordered returns the same elements for work that the caller has ordered:
// operations on the result do not wait for work that is pending on the memory on
// other streams. Slices and reinterpretations of the result are also unordered. The
// result shares the reference that s holds.
func (s Slice[T]) Unordered() Slice[T] {
	s.unordered = true
	return s
}

// IsUnordered reports whether the slice came from [Slice.Unordered].
func (s Slice[T]) IsUnordered() bool { return s.unordered }

// Order makes work that is enqueued on the stream from now on wait, on the device,
// for the work that is pending on the memory; see [Block.OrderBefore]. It does
// nothing for a slice from [Slice.Unordered] or for a slice without a block. All
// gpuframe operations on slices call it.
func (s Slice[T]) Order(stream *device.Stream) error {
	if s.unordered || s.block == nil {
		return nil
	}
	return s.block.OrderBefore(stream)
}

// orderRead is Order for work that only reads.
func (s Slice[T]) orderRead(stream *device.Stream) error {
	if s.unordered || s.block == nil {
		return nil
	}
	return s.block.OrderRead(stream)
}

// Retain adds a reference to the block, which another Release gives back. Retaining
// a zero Slice does nothing.
//
// # Errors
//
// [ErrView] for a view: use [Slice.Own]. [ErrReleased] if the block was released.
func (s Slice[T]) Retain() error {
	if s.block == nil {
		return nil
	}
	if !s.owner {
		return fmt.Errorf("memory: retain %d elements of %v: call Own, and release its result: %w", s.length, s.block, ErrView)
	}
	return s.block.Retain()
}

// Release gives a reference to the block back. See [Block.Release]. Releasing a zero
// Slice does nothing.
//
// # Errors
//
// [ErrView] for a view: release the slice or block from which it was made.
// [ErrReleased] if the block was released.
func (s Slice[T]) Release() error {
	if s.block == nil {
		return nil
	}
	if !s.owner {
		return fmt.Errorf("memory: release %d elements of %v: release the slice or the block that the view was made from: %w",
			s.length, s.block, ErrView)
	}
	return s.block.Release()
}

// Host returns the elements as a Go slice if the host can access the memory: on the
// host device, and for pinned and managed memory. It does not wait for work that is
// pending on the memory: see [Block.Synchronize]. Go cannot prevent writes to the
// result: do not write to it if the block is [Block.ReadOnly].
//
// # Ownership
//
// The Go slice does not keep the block alive: hold s until after the last use of the
// Go slice, for example with a deferred Release.
func (s Slice[T]) Host() ([]T, error) {
	if s.length == 0 {
		return nil, nil
	}
	if err := s.block.Check(); err != nil {
		return nil, err
	}
	if !s.block.Kind().HostAccessible() {
		return nil, fmt.Errorf("memory: host view of %v memory on %s: use Download: %w", s.block.Kind(), s.block.Device(), device.ErrNotSupported)
	}
	return unsafe.Slice((*T)(address.Pointer(s.Pointer())), s.length), nil
}

// Upload copies source to the device, after the work that is pending on the block.
// source must have the length of s. Upload returns when source may be reused. Work
// that is enqueued on the stream afterwards sees the values. A nil stream means the
// block's stream.
func (s Slice[T]) Upload(ctx context.Context, stream *device.Stream, source []T) error {
	if len(source) != s.length {
		return fmt.Errorf("memory: upload %d elements to a slice of %d: %w", len(source), s.length, ErrRange)
	}
	if s.length == 0 {
		return nil
	}
	return Upload(ctx, stream, s.AsBytes(), []Source{{Data: address.BytesOf(source)}})
}

// Download copies the elements into destination, which must have the length of s.
// The copy comes after the work that is on the stream now and the work that is
// pending on the block. Download returns when the copy has completed. A nil stream
// means the block's stream.
func (s Slice[T]) Download(ctx context.Context, stream *device.Stream, destination []T) error {
	if len(destination) != s.length {
		return fmt.Errorf("memory: download a slice of %d elements into %d: %w", s.length, len(destination), ErrRange)
	}
	if s.length == 0 {
		return nil
	}
	return Download(ctx, stream, []Destination{{From: s.AsBytes(), Data: address.BytesOf(destination)}})
}
