package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/internal/source"
)

// scan reads a source.
type scan struct {
	*stage
	reader buffer.Reader
}

func openScan(ctx context.Context, base *stage, n *plan.Scan) (buffer.Reader, error) {
	request := source.Request{
		Columns: n.Columns(), Where: n.Where(), Limit: n.Limit(),
		BatchRows: base.settings.BatchRows, Tag: base.settings.Tag,
	}
	if request.Columns == nil {
		request.Columns = []string{}
	}
	if base.settings.Profile != nil {
		request.Counters = &base.settings.Profile.Of(n).Source
	}
	if base.settings.Progress != nil {
		request.Progress = base.settings.Progress.scan()
	}
	reader, err := n.Source().Open(ctx, base.settings.Manager, request)
	if err != nil {
		return nil, err
	}
	return &scan{base, reader}, nil
}

// Next implements buffer.Reader.
func (s *scan) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := s.reader.Next(ctx)
	return table, s.failed(err)
}

// Close implements buffer.Reader.
func (s *scan) Close() error { return s.reader.Close() }
