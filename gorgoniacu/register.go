package gorgoniacu

import "github.com/gpuframe/gpuframe/device"

// Name is the name of the backend: its devices are "gorgonia:0" and so on.
const Name = "gorgonia"

// registered is nil unless another backend had taken the name.
var registered = device.Register(Name, Driver{})

// Registered returns the error of registering the backend: another backend has its
// name. After a registration without error it returns nil.
func Registered() error { return registered }
