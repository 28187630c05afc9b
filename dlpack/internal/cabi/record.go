package cabi

import "unsafe"

// Dimensions are those of an exported tensor.
type Dimensions struct {
	// Rows is the length of the first one, Inner those of the others, of which
	// there are fewer than [MaximumDimensions].
	Rows  int64
	Inner []int64
	// Distance is zero for a tensor whose elements lie row by row without gaps. Of
	// two dimensions it may be how many elements the columns, each of which lies
	// without gaps, begin after one another.
	Distance int64
}

// Describe writes a tensor into the record. Of tensor, NDim, Shape and Strides
// are filled in here.
func (r *Record) Describe(handle Handle, tensor Tensor, dimensions Dimensions, flags uint64) *ManagedTensorVersioned {
	v := &r.Versioned // field by field: a composite would be built and then copied
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

// lay gives the strides too: DLPack asks for them from 1.2 on.
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

// IsOwn reports whether the tensor carries gpuframe's deleter, and with which
// handle. Whether it has ended is for [Find] to say.
func (t *ManagedTensorVersioned) IsOwn() (Handle, bool) {
	return Handle(t.Context), Available && t.Deleter == ownDeleterVersioned
}

// IsOwn is the same for the legacy struct.
func (t *ManagedTensor) IsOwn() (Handle, bool) {
	return Handle(t.Context), Available && t.Deleter == ownDeleter
}
