package gorgoniacu

import "github.com/gpuframe/gpuframe/device"

// Name is the name of the backend: its devices are "gorgonia:0" and so on.
const Name = "gorgonia"

// registered is nil unless something else had taken the name.
var registered = device.Register(Name, Driver{})

// Registered returns why importing the package has not registered the backend,
// which can only be that another one has the name. It is nil otherwise.
func Registered() error { return registered }
