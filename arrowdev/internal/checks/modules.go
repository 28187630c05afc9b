package checks

import (
	"context"
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:embed checks.ptx
var code embed.FS

// set compiles each kernel of checks.ptx, check_NAME, alone: the driver needs tens of
// milliseconds for a kernel, and most programs need few of them.
var set = kernelset.Set{Files: code, Directory: ".", Apart: true}

// module is the code of one kernel.
type module struct{ name string }

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

// kernel returns the module's kernel on a device.
func (m *module) kernel(ctx context.Context, dev *device.Device) (*kernels.Function, error) {
	return set.Kernel(ctx, dev, "checks", "check_"+m.name)
}
