package host

import "github.com/gpuframe/gpuframe/device/backend"

// noModules implements every method of backend.Modules: a processor runs no PTX.
func (d *device) noModules(operation string) error {
	if err := d.check(operation); err != nil {
		return err
	}
	return failure(operation, backend.ErrNotSupported, "PTX needs a CUDA device")
}

func (d *device) ModuleLoad([]byte) (backend.Module, error) {
	return 0, d.noModules("ModuleLoad")
}

func (d *device) ModuleCompile([]byte) ([]byte, error) {
	return nil, d.noModules("ModuleCompile")
}

func (d *device) ModuleUnload(backend.Module) error {
	return d.noModules("ModuleUnload")
}

func (d *device) ModuleFunction(backend.Module, string) (backend.Function, error) {
	return 0, d.noModules("ModuleFunction")
}

func (d *device) FunctionAttribute(backend.Function, backend.FunctionAttribute) (int, error) {
	return 0, d.noModules("FunctionAttribute")
}

func (d *device) FunctionSetAttribute(backend.Function, backend.FunctionAttribute, int) error {
	return d.noModules("FunctionSetAttribute")
}

func (d *device) FunctionParameters(backend.Function) ([]backend.Parameter, error) {
	return nil, d.noModules("FunctionParameters")
}

func (d *device) Occupancy(backend.Function, int, uint32) (int, error) {
	return 0, d.noModules("Occupancy")
}

func (d *device) Launch(backend.Function, backend.LaunchConfig, []uint64, []uint32) error {
	return d.noModules("Launch")
}
