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
	r.Versioned = ManagedTensorVersioned{
		Version: Version{Major: MajorVersion, Minor: MinorVersion},
		Context: uintptr(handle), Deleter: ownDeleterVersioned, Flags: flags,
		Tensor: r.lay(tensor, dimensions),
	}
	return &r.Versioned
}

// DescribeLegacy is [Record.Describe] for the legacy struct.
func (r *Record) DescribeLegacy(handle Handle, tensor Tensor, dimensions Dimensions) *ManagedTensor {
	r.Legacy = ManagedTensor{Tensor: r.lay(tensor, dimensions), Context: uintptr(handle), Deleter: ownDeleter}
	return &r.Legacy
}

// lay gives the strides too: DLPack asks for them from 1.2 on.
func (r *Record) lay(tensor Tensor, d Dimensions) Tensor {
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
	tensor.NDim = int32(1 + len(d.Inner))
	tensor.Shape = uintptr(unsafe.Pointer(&r.Shape))
	tensor.Strides = uintptr(unsafe.Pointer(&r.Strides))
	return tensor
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
