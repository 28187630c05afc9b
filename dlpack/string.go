package dlpack

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// String describes the tensor, as in "DLPack tensor of 1000 × 3 float32 on cuda:0".
// It reads no field of the C struct, so it may be called at any time.
func (t *Tensor) String() string {
	if t == nil {
		return "nil DLPack tensor"
	}
	var text strings.Builder
	switch {
	case t.export.ended.Load():
		text.WriteString("ended ")
	case t.detached.Load():
		text.WriteString("detached ")
	}
	if t.legacy {
		text.WriteString("legacy ")
	}
	fmt.Fprintf(&text, "DLPack tensor of %d", t.rows)
	for _, length := range t.inner {
		fmt.Fprintf(&text, " × %d", length)
	}
	fmt.Fprintf(&text, " %s on %s", elementName(t.dataType), deviceName(t.device))
	if t.copied {
		text.WriteString(", a copy")
	}
	return text.String()
}

// elementName returns the name of an element type in Arrow and this package.
func elementName(t cabi.DataType) string {
	known, err := fromDLPack(t)
	if err != nil {
		return fmt.Sprintf("elements of type code %d and %d bits", t.Code, t.Bits)
	}
	if extension, ok := known.(*ExtensionType); ok {
		return strings.TrimPrefix(extension.name, "gpuframe.")
	}
	return known.Name()
}
