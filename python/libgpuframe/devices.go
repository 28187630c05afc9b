//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"errors"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// opened are the devices in use, by name. They stay open until the process ends, because
// tensors in other libraries may live as long.
var opened = struct {
	sync.Mutex
	managers map[string]*memory.Manager
}{managers: map[string]*memory.Manager{}}

// manager returns the manager of a device. The empty name is the first GPU or, without a
// GPU, the host.
func manager(name string) (*memory.Manager, error) {
	opened.Lock()
	defer opened.Unlock()
	if m, ok := opened.managers[name]; ok {
		return m, nil
	}
	dev, err := device.Open(name)
	if err != nil {
		return nil, err
	}
	m, ok := opened.managers[dev.Name()]
	if ok {
		err = dev.Close()
	} else if m, err = memory.NewManager(dev, memory.Options{Name: dev.Name()}); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	opened.managers[name], opened.managers[dev.Name()] = m, m
	return m, err
}

type deviceAnswer struct {
	Name string `json:"name"`
	// Type and ID are the device in DLPack's terms.
	Type        int32  `json:"type"`
	ID          int32  `json:"id"`
	Description string `json:"description"`
	Free        uint64 `json:"free"`
	Total       uint64 `json:"total"`
	// Stream is the handle of the manager's stream; zero on the host.
	Stream uint64 `json:"stream"`
}

func answerOf(name string, info device.Info) deviceAnswer {
	a := deviceAnswer{Name: name, Description: info.Name, Total: info.TotalMemory, Type: typeHost}
	if info.Kind == device.CUDA {
		a.Type, a.ID = typeCUDA, int32(info.Ordinal)
	}
	return a
}

// DLPack's device codes.
const (
	typeHost = 1
	typeCUDA = 2
)

// gpuframe_devices answers with a list of the usable devices. An error about other
// devices comes in addition to the list.
//
//export gpuframe_devices
func gpuframe_devices(answer **C.char) *C.char {
	return guarded(func() error {
		listings, err := device.List()
		all := []deviceAnswer{}
		for _, each := range listings {
			a := answerOf(each.Name, each.Info)
			a.Free = each.FreeMemory
			all = append(all, a)
		}
		*answer = encoded(all)
		return err
	})
}

// gpuframe_open opens a device, once for the process, and answers with its description.
// The handle is that of its memory manager.
//
//export gpuframe_open
func gpuframe_open(name *C.char, opened *C.uint64_t, answer **C.char) *C.char {
	return guarded(func() error {
		m, err := manager(C.GoString(name))
		if err != nil {
			return err
		}
		a := answerOf(m.Device().Name(), m.Device().Info())
		if a.Type == typeCUDA {
			a.Stream = uint64(m.Stream().Handle())
		}
		*answer = encoded(a)
		*opened = C.uint64_t(objects.add(m))
		return nil
	})
}

// gpuframe_child makes a manager. Its memory also counts in the budget of another.
//
//export gpuframe_child
func gpuframe_child(parent C.uint64_t, name *C.char, budget C.uint64_t, child *C.uint64_t) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(parent))
		if err != nil {
			return err
		}
		below, err := m.Child(C.GoString(name), uint64(budget))
		if err != nil {
			return err
		}
		*child = C.uint64_t(objects.add(below))
		return nil
	})
}

// gpuframe_set_budget sets the limit of the bytes that a manager has in use.
//
//export gpuframe_set_budget
func gpuframe_set_budget(h, budget C.uint64_t) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(h))
		if err != nil {
			return err
		}
		return m.SetBudget(uint64(budget))
	})
}

// gpuframe_reset_peak sets a manager's peak to the bytes in use now.
//
//export gpuframe_reset_peak
func gpuframe_reset_peak(h C.uint64_t) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(h))
		if err == nil {
			m.ResetPeak()
		}
		return err
	})
}

type statsAnswer struct {
	Name           string `json:"name"`
	Device         string `json:"device"`
	InUse          uint64 `json:"in_use"`
	Budget         uint64 `json:"budget"`
	Remaining      uint64 `json:"remaining"`
	Peak           uint64 `json:"peak"`
	Allocations    uint64 `json:"allocations"`
	Frees          uint64 `json:"frees"`
	Failures       uint64 `json:"failures"`
	Blocks         uint64 `json:"blocks"`
	External       uint64 `json:"external"`
	ExternalBlocks uint64 `json:"external_blocks"`
	Leaks          uint64 `json:"leaks"`
	DoubleReleases uint64 `json:"double_releases"`
	Free           uint64 `json:"free"`
	Total          uint64 `json:"total"`
}

// gpuframe_stats answers with the statistics of a manager and of its device.
//
//export gpuframe_stats
func gpuframe_stats(h C.uint64_t, answer **C.char) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(h))
		if err != nil {
			return err
		}
		s := m.Stats()
		free, total, err := m.Device().MemoryInfo()
		*answer = encoded(statsAnswer{
			Name: s.Name, Device: m.Device().Name(), InUse: s.InUse, Budget: s.Budget, Remaining: s.Remaining, Peak: s.Peak,
			Allocations: s.Allocations, Frees: s.Frees, Failures: s.Failures, Blocks: s.Blocks,
			External: s.External, ExternalBlocks: s.ExternalBlocks, Leaks: s.Leaks, DoubleReleases: s.DoubleReleases,
			Free: free, Total: total,
		})
		return err
	})
}

// closeManager closes a child. Memory that tensors in other libraries hold stays valid
// and counts in the parent. A device's manager stays open.
func closeManager(m *memory.Manager) error {
	if m.Parent() == nil {
		return nil
	}
	failure := closeEngine(m)
	if err := m.Close(); !errors.Is(err, memory.ErrLeak) {
		return errors.Join(failure, err)
	}
	return failure
}
