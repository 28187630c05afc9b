package dictionary

import (
	_ "embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
)

// module is one file of code. Each is loaded when it is first needed on a device,
// for compiling takes the driver tens of milliseconds.
type module struct{ text string }

var (
	//go:embed insert_integers.ptx
	insertIntegers string
	//go:embed insert_floats.ptx
	insertFloats string
	//go:embed insert_others.ptx
	insertOthers string
	//go:embed insert_bytes.ptx
	insertBytes string
	//go:embed codes.ptx
	codes string

	integersModule = &module{insertIntegers}
	floatsModule   = &module{insertFloats}
	othersModule   = &module{insertOthers}
	bytesModule    = &module{insertBytes}
	codesModule    = &module{codes}
)

func (m *module) kernel(dev *device.Device, name string) (*kernels.Function, error) {
	loaded, err := kernels.LoadCached(dev, m.text)
	if err != nil {
		return nil, err
	}
	return loaded.Function(name)
}
