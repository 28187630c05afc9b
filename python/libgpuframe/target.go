//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// target is the destination of an import.
type target struct {
	manager *memory.Manager
	// stays is set if the caller named no device. Data on a GPU then stays there, in the
	// innermost budget of this GPU.
	stays   bool
	budgets []*memory.Manager
}

// targetOf reads a target from C: a manager's handle and count budgets, the innermost
// last. A count of -1 means that the caller named the device.
func targetOf(into C.uint64_t, budgets *C.uint64_t, count C.int64_t) (t target, err error) {
	if t.manager, err = the[*memory.Manager](handle(into)); err != nil || count < 0 {
		return t, err
	}
	t.stays = true
	for _, h := range unsafe.Slice((*handle)(unsafe.Pointer(budgets)), int(count)) {
		m, err := the[*memory.Manager](h)
		if err != nil {
			return t, err
		}
		t.budgets = append(t.budgets, m)
	}
	return t, nil
}

// managerFor returns the manager for an array.
func (t target) managerFor(in incoming) (*memory.Manager, error) {
	if !t.stays || in.onHost() {
		return t.manager, nil
	}
	if in.array.deviceType != typeCUDA { // pinned or managed memory belongs to no GPU
		if t.manager.Device().Kind() == device.CUDA {
			return t.manager, nil
		}
		return managerOf(in.array.deviceType, int32(in.array.deviceID))
	}
	for i := len(t.budgets) - 1; i >= 0; i-- {
		if t.budgets[i].Device().Kind() == device.CUDA && int64(t.budgets[i].Device().Info().Ordinal) == in.array.deviceID {
			return t.budgets[i], nil
		}
	}
	if dev := t.manager.Device(); dev.Kind() == device.CUDA && int64(dev.Info().Ordinal) == in.array.deviceID {
		return t.manager, nil
	}
	return managerOf(in.array.deviceType, int32(in.array.deviceID))
}

// destination returns the manager for an array. After an error it has dropped the array.
func destination(into C.uint64_t, budgets *C.uint64_t, count C.int64_t, in incoming) (*memory.Manager, error) {
	t, err := targetOf(into, budgets, count)
	if err != nil {
		in.drop()
		return nil, err
	}
	m, err := t.managerFor(in)
	if err != nil {
		in.drop()
	}
	return m, err
}
