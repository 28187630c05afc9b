package group

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
)

// join is not written yet.
func (m *members) join() (*column.Column, error) { return nil, errors.Join(device.ErrNotSupported) }
