//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"sync"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/memory"
)

// engines are the engines that run queries, one for each manager that has run one.
var engines = struct {
	sync.Mutex
	byManager map[*memory.Manager]*gpuframe.Engine
}{byManager: map[*memory.Manager]*gpuframe.Engine{}}

// engineOf returns the engine with the memory of a manager.
func engineOf(m *memory.Manager) (*gpuframe.Engine, error) {
	engines.Lock()
	defer engines.Unlock()
	if e, ok := engines.byManager[m]; ok {
		return e, nil
	}
	e, err := gpuframe.Managed(m)
	if err != nil {
		return nil, err
	}
	engines.byManager[m] = e
	return e, nil
}

// closeEngine closes the engine of a manager, if it has one.
func closeEngine(m *memory.Manager) error {
	engines.Lock()
	e := engines.byManager[m]
	delete(engines.byManager, m)
	engines.Unlock()
	forgetCaches(e)
	return e.Close()
}
