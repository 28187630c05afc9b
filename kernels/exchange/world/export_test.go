package world

// WithHook returns a configuration with which the World calls f at each step of an operation.
func (c Config) WithHook(f func()) Config {
	c.at = f
	return c
}

// WithStandIn returns a configuration for a stand-in of NCCL, which moves the memory of any device.
func (c Config) WithStandIn() Config {
	c.standIn = true
	return c
}
