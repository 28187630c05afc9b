package plan

// Optimize returns a plan with the same result that is expected to take less time.
func Optimize(n Node) (Node, error) {
	for _, p := range passes {
		var err error
		if n, err = p.apply(n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// pass is one step of [Optimize].
type pass struct {
	name  string
	apply func(Node) (Node, error)
}

// passes are applied in this order.
var passes = []pass{}
