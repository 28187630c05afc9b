package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/internal/release"
	windows "github.com/gpuframe/gpuframe/kernels/window"
)

// over adds functions of ordered windows to each row. All rows are in memory together,
// so that they keep their order.
func over(s *stage, n *plan.Over) func(context.Context) (*buffer.Buffer, error) {
	return func(ctx context.Context) (*buffer.Buffer, error) {
		functions, err := n.Functions()
		if err != nil {
			return nil, err
		}
		all, err := s.collect(ctx, s.inputs[0])
		if err != nil {
			return nil, err
		}
		columns, err := windows.Over(ctx, all, n.Windows(), functions, s.options())
		if err != nil {
			return releasing(nil, err, all)
		}
		given := len(columns)
		for i := range all.NumColumns() {
			columns = append(columns, all.Column(i))
		}
		columns = append(columns[given:len(columns):len(columns)], columns[:given]...)
		made, err := buffer.New(n.Schema(), columns, all.Rows())
		err = errors.Join(err, release.All(columns[len(columns)-given:]))
		return releasing(made, err, all)
	}
}
