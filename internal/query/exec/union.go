package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// union reads its first input, then the second one, and so on.
type union struct {
	*stage
	at int
	// ahead is the number of inputs, with the one that is read, of which scans begin.
	ahead int
	// later are the scans of each input that begin when the union comes near it.
	later []laterScans
}

// laterScans are the beginnings of scans, which open their sources on goroutines.
type laterScans struct{ begins []func() }

// A union below a slice begins few inputs: it sent the requests of all of 300 for a query that ended in the first one. Another one
// reads all of them, and begins 64, the number of requests at a time.
const aheadOfSlice, aheadOfAll = 2, 64

// mayEnd reports whether the inputs of a node may be left before their end, if the node itself may be.
func mayEnd(n plan.Node, node bool) bool {
	switch n := n.(type) {
	case *plan.Slice:
		return n.Offset() >= 0 && (node || n.Length() != plan.All)
	case *plan.Filter, *plan.Project, *plan.Position, *plan.Require, *plan.Number, *plan.Explode, *plan.Union:
		return node
	}
	return false
}

// openUnion opens all inputs. The scans of the first ones begin.
func openUnion(ctx context.Context, o *opener, s *stage, n plan.Node) (buffer.Reader, error) {
	u := &union{stage: s, ahead: aheadOfAll, later: make([]laterScans, len(n.Inputs()))}
	if o.ends {
		u.ahead = aheadOfSlice
	}
	outer := o.later
	defer func() { o.later = outer }()
	for i, input := range n.Inputs() {
		if i >= u.ahead {
			o.later = &u.later[i]
		}
		reader, err := o.open(ctx, input)
		if err != nil {
			return nil, err
		}
		s.inputs = append(s.inputs, reader)
	}
	return u, nil
}

// Next implements buffer.Reader.
func (u *union) Next(ctx context.Context) (*buffer.Buffer, error) {
	for u.at < len(u.inputs) {
		table, err := u.inputs[u.at].Next(ctx)
		if err != errEnd {
			return table, err
		}
		u.at++
		if next := u.at + u.ahead - 1; next < len(u.later) {
			for _, begin := range u.later[next].begins {
				begin()
			}
		}
	}
	return nil, errEnd
}
