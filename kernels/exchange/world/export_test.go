package world

// WithHook returns a configuration with which the World calls f at each step of an operation.
func (c Config) WithHook(f func()) Config {
	c.at = f
	return c
}
