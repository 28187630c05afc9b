package substrait

import "github.com/gpuframe/gpuframe/sql/tree"

// maxText limits the statement of a plan, in bytes. Each use of a field repeats its expression there.
const maxText = 16 << 20

// weight returns about the length of an expression in the statement.
func (t *translator) weight(e tree.Expr) int {
	if w, ok := t.weights[e]; ok {
		return w
	}
	w := 0
	tree.Walk(e, func(n tree.Node, _ int) bool {
		w += 8
		switch n := n.(type) {
		case *tree.Column:
			for _, name := range n.Name {
				w += len(name.Text)
			}
		case *tree.Literal:
			w += len(n.Text)
		}
		return w <= maxText
	})
	t.weights[e] = w
	return w
}

// use counts an expression that the statement repeats.
func (t *translator) use(path string, e tree.Expr) error {
	if t.text += t.weight(e); t.text > maxText {
		return failed(path, "the statement of the plan is longer than %d bytes: its projections repeat long expressions", maxText)
	}
	return nil
}
