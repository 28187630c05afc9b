package checks

import (
	"embed"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:embed *.ptx
var code embed.FS

// module is the code of one kernel, check_NAME of NAME.cu. Each is loaded when a
// batch first needs it on a device: compiling takes the driver tens of
// milliseconds a kernel, and most programs need few of them.
type module struct {
	name string
	// loaded is never closed: the code goes with the device.
	loaded perdevice.Cache[*kernels.Module]
}

var (
	ascending32Module  = &module{name: "ascending_32"}
	ascending64Module  = &module{name: "ascending_64"}
	binaryViewsModule  = &module{name: "binary_views"}
	denseOffsetsModule = &module{name: "dense_offsets"}
	indicesModule      = &module{name: "indices"}
	listViewsModule    = &module{name: "list_views"}
	typeIDsModule      = &module{name: "type_ids"}
	validModule        = &module{name: "valid"}
)

func (m *module) load(dev *device.Device) (*kernels.Module, error) {
	text, err := code.ReadFile(m.name + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("checks: the code of %s: %w", m.name, err)
	}
	return kernels.Load(dev, text)
}

// kernel returns the module's kernel on a device.
func (m *module) kernel(dev *device.Device) (*kernels.Function, error) {
	loaded, err := m.loaded.Get(dev, m.load)
	if err != nil {
		return nil, err
	}
	return loaded.Function("check_" + m.name)
}
