package dlpack

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// ImportMatrix takes over a DLManagedTensorVersioned of two dimensions, rows ×
// columns, and makes a column of each of its columns without a copy of the values.
// Each column must be contiguous, and columns must not overlap: the strides are 1 and
// at least the number of rows. About a million columns are accepted.
//
// The columns share one [memory.Block]; the deleter runs when the last of them is
// released. The caller releases every column. Booleans are copied, as by [Import].
// The rest is as for [Import], which makes lists of a matrix in row-major order.
func ImportMatrix(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) ([]*column.Column, error) {
	columns, err := importMatrix(m, foreign{versioned: (*cabi.ManagedTensorVersioned)(tensor)}, options)
	return columns, during("import matrix", err)
}

// ImportMatrixLegacy is [ImportMatrix] for a DLManagedTensor, the struct of DLPack
// before 1.0.
func ImportMatrixLegacy(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) ([]*column.Column, error) {
	columns, err := importMatrix(m, foreign{legacy: (*cabi.ManagedTensor)(tensor)}, options)
	return columns, during("import matrix", err)
}

func importMatrix(m *memory.Manager, f foreign, options []ImportOptions) ([]*column.Column, error) {
	var x taken
	if err := x.take(m, f, options, manyColumns); err != nil {
		return nil, err
	}
	columns, err := x.matrixColumns()
	if releasing := x.block.Release(); releasing != nil {
		return nil, also(also(err, releasing), release.All(columns))
	}
	return columns, err
}

func (x *taken) matrixColumns() ([]*column.Column, error) {
	columns := make([]*column.Column, 0, x.columns)
	for i := range x.columns {
		c, err := x.elements(uint64(i)*x.distance, x.length)
		if err != nil {
			return nil, also(err, release.All(columns))
		}
		columns = append(columns, c)
	}
	if x.isBool() && x.length > 0 {
		if err := x.awaitPacked(columns...); err != nil {
			return nil, err
		}
	}
	return columns, nil
}
