package expr

import "github.com/gpuframe/gpuframe/internal/expr/exprtree"

// Substitute returns the expression with parts replaced. It calls replace for e and then
// for its operands, and theirs. If replace returns true, its expression takes the place
// of the part, and the operands of neither are looked at; otherwise the part stays and
// its operands may be replaced. A part that occurs in several places is replaced once for
// all of them.
//
// Operations without a replaced part are those of e, so an expression without replaced parts
// has its stored result of [Bind]. If a column at the root is replaced, the
// result has the name of the replacement: see [Expr.As].
//
//	// Use the definition of a column that a projection computes.
//	pushed := condition.Substitute(func(part expr.Expr) (expr.Expr, bool) {
//		name, _ := part.Column()
//		definition, ok := projected[name]
//		return definition, ok
//	})
func (e Expr) Substitute(replace func(Expr) (Expr, bool)) Expr {
	return NewSubstitution(replace).Apply(e)
}

// Substitution is [Expr.Substitute] for several expressions. It replaces the parts that they share
// once. Its function may apply it to operands.
type Substitution struct {
	replace func(Expr) (Expr, bool)
	done    map[*node]*node
}

// NewSubstitution returns a substitution by a function as that of [Expr.Substitute].
func NewSubstitution(replace func(Expr) (Expr, bool)) *Substitution {
	return &Substitution{replace: replace, done: make(map[*node]*node)}
}

// Apply returns an expression with parts replaced.
func (s *Substitution) Apply(e Expr) Expr { return Expr{s.apply(e.node)} }

func (s *Substitution) apply(n *node) *node {
	if n == nil {
		return nil
	}
	if known, ok := s.done[n]; ok {
		return known
	}
	replaced := n
	if replacement, ok := s.replace(Expr{n}); ok {
		replaced = replacement.node
	} else {
		replaced = s.operands(n)
	}
	s.done[n] = replaced
	return replaced
}

// operands returns the node with its operands replaced, or n if all stay.
func (s *Substitution) operands(n *node) *node {
	arguments := make([]*node, len(n.arguments))
	same := true
	for i, argument := range n.arguments {
		arguments[i] = s.apply(argument)
		same = same && arguments[i] == argument
	}
	if same {
		return n
	}
	return linked(&node{op: n.op, arguments: arguments, text: n.text, value: n.value, to: n.to})
}

// Conjuncts splits a condition at its outermost [Expr.And] operations, from left to
// right. Joining the conjuncts by And gives the values of e, nulls included: And follows
// Kleene's logic, in which the order of the operands does not matter. So a filter by e
// keeps the rows that filters by all conjuncts keep. A conjunct that occurs several times
// is returned once. Names that [Expr.As] gives are dropped.
//
// An expression that is no And, also [Expr.AndStrict], is its only conjunct. The zero
// Expr has none.
func (e Expr) Conjuncts() []Expr {
	var conjuncts []Expr
	seen := make(map[*node]bool)
	var split func(*node)
	split = func(n *node) {
		if n = n.plain(); n == nil || seen[n] {
			return
		}
		seen[n] = true
		if n.op != exprtree.And {
			conjuncts = append(conjuncts, Expr{n})
			return
		}
		split(n.arguments[0])
		split(n.arguments[1])
	}
	split(e.node)
	return conjuncts
}
