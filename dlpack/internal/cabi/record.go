package cabi

import "unsafe"

// Describe writes a tensor of one compact dimension into the record. Of tensor,
// NDim, Shape and Strides are filled in here.
func (r *Record) Describe(handle Handle, tensor Tensor, length int64, flags uint64) *ManagedTensorVersioned {
	r.Versioned = ManagedTensorVersioned{
		Version: Version{Major: MajorVersion, Minor: MinorVersion},
		Context: uintptr(handle), Deleter: ownDeleterVersioned, Flags: flags,
		Tensor: r.vector(tensor, length),
	}
	return &r.Versioned
}

// DescribeLegacy is [Record.Describe] for the legacy struct.
func (r *Record) DescribeLegacy(handle Handle, tensor Tensor, length int64) *ManagedTensor {
	r.Legacy = ManagedTensor{Tensor: r.vector(tensor, length), Context: uintptr(handle), Deleter: ownDeleter}
	return &r.Legacy
}

// vector gives the strides too: DLPack asks for them from 1.2 on.
func (r *Record) vector(tensor Tensor, length int64) Tensor {
	r.Shape[0], r.Strides[0] = length, 1
	tensor.NDim = 1
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
