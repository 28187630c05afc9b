package adaptor

import "github.com/gpuframe/gpuframe/memory/resource"

// Borrowed is a resource that somebody else closes: several stacks can stand on
// one pool, each with a Borrowed at its foot.
type Borrowed struct{ base }

// NewBorrowed returns the upstream as a resource whose Close leaves it open.
func NewBorrowed(upstream resource.Resource) *Borrowed {
	return &Borrowed{base: base{upstream: upstream}}
}

// Close does nothing.
func (b *Borrowed) Close() error { return nil }
