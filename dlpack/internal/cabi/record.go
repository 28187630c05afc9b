package cabi

import "unsafe"

// Dimensions are the dimensions of an exported tensor.
type Dimensions struct {
	// Rows is the length of the first dimension. Inner are the lengths of the others,
	// fewer than [MaximumDimensions].
	Rows  int64
	Inner []int64
	// Distance is zero for a tensor in row-major order without gaps. For two
	// dimensions it may be the distance of the columns in elements, if each column
	// has no gaps.
	Distance int64
}

// Describe writes a tensor into the record. It sets NDim, Shape and Strides itself.
func (r *Record) Describe(handle Handle, tensor Tensor, dimensions Dimensions, flags uint64) *ManagedTensorVersioned {
	v := &r.Versioned // field by field, because a composite literal would be built and then copied
	v.Version = Version{Major: MajorVersion, Minor: MinorVersion}
	v.Context, v.Deleter, v.Flags = uintptr(handle), ownDeleterVersioned, flags
	r.lay(&v.Tensor, &tensor, &dimensions)
	return v
}

// DescribeLegacy is [Record.Describe] for the legacy struct.
func (r *Record) DescribeLegacy(handle Handle, tensor Tensor, dimensions Dimensions) *ManagedTensor {
	l := &r.Legacy
	l.Context, l.Deleter = uintptr(handle), ownDeleter
	r.lay(&l.Tensor, &tensor, &dimensions)
	return l
}

// lay sets the strides too: DLPack 1.2 and later require them.
func (r *Record) lay(to, tensor *Tensor, d *Dimensions) {
	r.Shape[0] = d.Rows
	copy(r.Shape[1:], d.Inner)
	if d.Distance != 0 {
		r.Strides[0], r.Strides[1] = 1, d.Distance
	} else {
		stride := int64(1)
		for i := len(d.Inner); i > 0; i-- {
			r.Strides[i] = stride
			stride *= d.Inner[i-1]
		}
		r.Strides[0] = stride
	}
	to.Data, to.Device, to.DataType, to.ByteOffset = tensor.Data, tensor.Device, tensor.DataType, tensor.ByteOffset
	to.NDim = int32(1 + len(d.Inner))
	to.Shape = uintptr(unsafe.Pointer(&r.Shape))
	to.Strides = uintptr(unsafe.Pointer(&r.Strides))
}

// IsOwn reports whether the tensor has gpuframe's deleter, and returns its handle.
// [Find] reports whether the tensor has ended.
func (t *ManagedTensorVersioned) IsOwn() (Handle, bool) {
	return Handle(t.Context), Available && t.Deleter == ownDeleterVersioned
}

// IsOwn is [ManagedTensorVersioned.IsOwn] for the legacy struct.
func (t *ManagedTensor) IsOwn() (Handle, bool) {
	return Handle(t.Context), Available && t.Deleter == ownDeleter
}
