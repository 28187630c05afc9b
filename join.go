package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// JoinKind is which rows a join yields.
type JoinKind = join.Kind

const (
	// Inner yields the pairs of rows that match.
	Inner = join.Inner
	// Left also yields the left rows without a match, with nulls for the right columns.
	Left = join.Left
	// Right also yields the right rows without a match.
	Right = join.Right
	// Full also yields the rows of both sides without a match.
	Full = join.Full
	// Semi yields the left rows that have a match, each once.
	Semi = join.Semi
	// Anti yields the left rows that have none.
	Anti = join.Anti
	// Cross yields all pairs of rows. It takes no keys.
	Cross = join.Cross
)

// JoinTerm is a part of what [Query.Join] matches rows by: a column that both sides have, a
// pair of [On], a condition of [Matching], or [NullsMatch] or [Suffix].
type JoinTerm interface{ addTo(terms *joinTerms) }

// joinTerms are the terms of a join.
type joinTerms struct {
	left, right []Expr
	matching    []Expr
	nulls       bool
	suffix      string
}

// addTo makes the expression a key of both sides.
func (e Expr) addTo(terms *joinTerms) {
	terms.left, terms.right = append(terms.left, e), append(terms.right, e)
}

type joinTerm func(terms *joinTerms)

func (f joinTerm) addTo(terms *joinTerms) { f(terms) }

// On matches rows in which an expression on the left columns equals one on the right columns.
func On(left, right Expression) JoinTerm {
	return joinTerm(func(terms *joinTerms) {
		terms.left, terms.right = append(terms.left, left.expression()), append(terms.right, right.expression())
	})
}

// Matching is a further condition on rows that match, on the columns that an inner join
// has. It decides what matches, and does not filter the result: a left join keeps the left
// rows for which it is false, without a match.
func Matching(condition Expression) JoinTerm {
	return joinTerm(func(terms *joinTerms) { terms.matching = append(terms.matching, condition.expression()) })
}

// NullsMatch lets null keys match null keys.
func NullsMatch() JoinTerm {
	return joinTerm(func(terms *joinTerms) { terms.nulls = true })
}

// Suffix is added to the names of right columns that the left side has too. Without it,
// "_right" is.
func Suffix(text string) JoinTerm {
	return joinTerm(func(terms *joinTerms) { terms.suffix = text })
}

// Join matches the rows of q, the left side, with those of another query. It yields the left
// columns and then the right ones, without keys of the same name. The rows are in the order
// of the left side; right rows without a match come last. If memory does not suffice for
// that, the order is another one, the same in every run with the same budget.
//
//	sales.Join(products, gpuframe.Left, gpuframe.Col("product"))
//	orders.Join(customers, gpuframe.Inner, gpuframe.On(gpuframe.Col("buyer"), gpuframe.Col("id")))
func (q Query) Join(other Query, kind JoinKind, terms ...JoinTerm) Query {
	return q.then("Join", func(b *binder, inputs []plan.Node) plan.Node {
		return b.join(inputs[0], inputs[1], kind, terms)
	}, other)
}

func (b *binder) join(left, right plan.Node, kind JoinKind, terms []JoinTerm) plan.Node {
	var all joinTerms
	for i, t := range terms {
		if t == nil {
			b.report(fmt.Errorf("term %d of the join is nil: %w", i, device.ErrInvalidValue))
			return nil
		}
		t.addTo(&all)
	}
	leftKeys, ok := b.keys(left, all.left)
	rightKeys, fits := b.keys(right, all.right)
	ok = b.proper(all.matching) && ok
	if !ok || !fits {
		return nil
	}
	options := plan.JoinOptions{Kind: kind, NullsEqual: all.nulls, Suffix: all.suffix}
	for i := range leftKeys {
		options.Keys = append(options.Keys, plan.JoinKey{Left: unnamed(leftKeys[i]), Right: unnamed(rightKeys[i])})
	}
	for _, c := range all.matching {
		if len(c.parts) > 0 {
			b.report(fmt.Errorf("the condition %v has an aggregate: compute it with With first", c))
			return nil
		}
		if options.Where.IsZero() {
			options.Where = c.value
		} else {
			options.Where = options.Where.And(c.value)
		}
	}
	n, err := plan.NewJoin(left, right, options)
	if err != nil {
		b.reportUnless(readable{err}, options.Where.Columns())
		return nil
	}
	return n
}

// unnamed removes the name that the binder gave to an expression.
func unnamed(e expr.Expr) expr.Expr {
	for e.Operation() == "as" {
		e = e.Operands()[0]
	}
	return e
}
