package ptx

import (
	"fmt"
	"strings"
)

// Header begins every module. PTX 7.0 and sm_70 are the oldest that gpuframe supports;
// every later driver compiles them.
const Header = ".version 7.0\n.target sm_70\n.address_size 64\n\n"

// Module joins functions and kernels, in this order, after a header.
func Module(parts ...string) string { return Header + strings.Join(parts, "\n") }

// Parameter is a parameter of a kernel.
type Parameter struct {
	Name string
	// Bytes is the size. A parameter of 1, 2, 4 or 8 bytes is a number. All others, and
	// a Struct of any size, are passed by value as bytes aligned to 8.
	Bytes  int
	Struct bool
}

// Kernel is a function that can be launched.
type Kernel struct {
	Name       string
	Parameters []Parameter
	// Threads is the maximum number of threads of a block, or zero. Blocks is the
	// number of blocks that a multiprocessor should hold, or zero: it limits the
	// registers.
	Threads, Blocks int
	Body            *Builder
}

// String returns the text of the kernel.
func (k Kernel) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, ".visible .entry %s(", k.Name)
	for i, p := range k.Parameters {
		if i > 0 {
			s.WriteString(",")
		}
		if p.Struct {
			fmt.Fprintf(&s, "\n\t.param .align 8 .b8 %s[%d]", p.Name, p.Bytes)
		} else {
			fmt.Fprintf(&s, "\n\t.param .u%d %s", 8*p.Bytes, p.Name)
		}
	}
	s.WriteString("\n)\n")
	if k.Threads > 0 {
		fmt.Fprintf(&s, ".maxntid %d, 1, 1\n", k.Threads)
	}
	if k.Blocks > 0 {
		fmt.Fprintf(&s, ".minnctapersm %d\n", k.Blocks)
	}
	s.WriteString(k.Body.Scope())
	return s.String()
}
