package kernels

import "sync"

// graphCount counts the graphs that hold a module's code.
type graphCount struct {
	mu     sync.Mutex
	count  int
	ending bool
}

// end reports whether the code can be unloaded now. Otherwise the last release unloads
// it.
func (c *graphCount) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	return c.count == 0
}

func (c *graphCount) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
}

// remove reports whether the code must be unloaded now.
func (c *graphCount) remove() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count--
	return c.count == 0 && c.ending
}

// heldCode is a module that a capture holds.
type heldCode struct{ module *Module }

// A launch calls Retain, so the module is open.
func (h heldCode) Retain() error {
	h.module.graphs.add()
	return nil
}

// Release unloads the code of a module that was closed.
func (h heldCode) Release() error {
	if h.module.graphs.remove() {
		return h.module.unload()
	}
	return nil
}
