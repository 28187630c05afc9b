package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOnlyKeepsOneKernel(t *testing.T) {
	const text = ".version 7.0\n.func help()\n{\n}\n.visible .entry first(\n)\n{\n\tret;\n}\n\n.global .b32 shared;\n.visible .entry firstborn(\n)\n{\n\tret;\n}\n// end\n"
	assert.Equal(t, ".version 7.0\n.func help()\n{\n}\n.visible .entry first(\n)\n{\n\tret;\n}\n\n.global .b32 shared;\n// end\n", Only(text, "first"))
	assert.Equal(t, ".version 7.0\n.func help()\n{\n}\n\n.global .b32 shared;\n.visible .entry firstborn(\n)\n{\n\tret;\n}\n// end\n", Only(text, "firstborn"))
	assert.Equal(t, ".version 7.0\n.func help()\n{\n}\n\n.global .b32 shared;\n// end\n", Only(text, "none"))
}
