package dlpack

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// foreign is a tensor that a caller passed in, as one of the two structs.
type foreign struct {
	versioned *cabi.ManagedTensorVersioned
	legacy    *cabi.ManagedTensor
}

// check refuses structs that must not be read further.
func (f foreign) check() error {
	if handle, own := f.own(); own {
		if _, live := cabi.Find(handle); !live {
			return faulty("tensor", "its deleter has run already: %w", ErrInvalid)
		}
	}
	if f.versioned == nil {
		return nil
	}
	if version := f.versioned.Version; version.Major != cabi.MajorVersion {
		return faulty("version.major", "%d.%d, expected version %d: %w", version.Major, version.Minor, cabi.MajorVersion, ErrVersion)
	}
	return nil
}

func (f foreign) tensor() *cabi.Tensor {
	if f.versioned != nil {
		return &f.versioned.Tensor
	}
	return &f.legacy.Tensor
}

func (f foreign) readOnly() bool {
	return f.versioned != nil && f.versioned.Flags&cabi.FlagReadOnly != 0
}

// own reports whether the tensor has gpuframe's deleter.
func (f foreign) own() (cabi.Handle, bool) {
	if f.versioned != nil {
		return f.versioned.IsOwn()
	}
	return f.legacy.IsOwn()
}

// release runs the deleter, if the tensor has one; the struct is then freed. For a
// gpuframe tensor it does the deleter's work without a call through C. The caller has
// ordered the work on the stream done, which may be nil.
func (f foreign) release(done *device.Stream) {
	if handle, own := f.own(); own {
		if owner, live := cabi.Take(handle); live {
			owner.(*export).finish(done)
		}
	} else if f.versioned != nil {
		cabi.RunDeleterVersioned(f.versioned)
	} else {
		cabi.RunDeleter(f.legacy)
	}
}
