package bind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// JoinTerms are the keys and the options of a join.
type JoinTerms struct {
	// Left and Right are pairs of keys, Matching are further conditions.
	Left, Right, Matching []Expr
	NullsEqual, AnyOrder  bool
	Suffix                string
	// Misuse are errors of the terms.
	Misuse []error
}

func (t JoinTerms) same(other JoinTerms) bool {
	return t.NullsEqual == other.NullsEqual && t.AnyOrder == other.AnyOrder && t.Suffix == other.Suffix && len(t.Misuse)+len(other.Misuse) == 0 &&
		slices.EqualFunc(t.Left, other.Left, Expr.same) && slices.EqualFunc(t.Right, other.Right, Expr.same) && slices.EqualFunc(t.Matching, other.Matching, Expr.same)
}

// Join matches the rows of two inputs.
func Join(kind join.Kind, terms JoinTerms) Verb {
	exec.UseJoins()
	return Verb{"Join", arguments{kind, terms}, func(b *binder, inputs []plan.Node) plan.Node {
		options, ok := b.terms(inputs[0], inputs[1], terms)
		if !ok {
			return nil
		}
		options.Kind = kind
		n, err := plan.NewJoin(inputs[0], inputs[1], options)
		if err != nil {
			b.reportUnless(plan.ReadableError(err), options.Where.Columns())
			return nil
		}
		return n
	}}
}

// AsOf matches each row of the first input with the nearest one of the second. The options lack the keys
// and the suffix, which are those of the terms.
func AsOf(on, by JoinTerms, options plan.AsOfOptions) Verb {
	exec.UseAsOf()
	return Verb{name: "AsOf", bind: func(b *binder, inputs []plan.Node) plan.Node {
		keys, ok := b.terms(inputs[0], inputs[1], on)
		equal, fits := b.terms(inputs[0], inputs[1], by)
		if !ok || !fits {
			return nil
		}
		if len(keys.Keys) != 1 || !keys.Where.IsZero() || !equal.Where.IsZero() || keys.NullsEqual || equal.NullsEqual {
			b.report(fmt.Errorf("an as-of join has one key, and equal keys in By, without Matching and NullsMatch: %w", device.ErrInvalidValue))
			return nil
		}
		nearest := options
		nearest.On, nearest.By, nearest.Suffix = keys.Keys[0], equal.Keys, equal.Suffix
		n, err := plan.NewAsOf(inputs[0], inputs[1], nearest)
		if err != nil {
			b.report(plan.ReadableError(err))
			return nil
		}
		return n
	}}
}

// NearestTo matches each row of the first input with the nearest ones of the second. The options lack the vectors and the
// suffix, which are those of the terms.
func NearestTo(on JoinTerms, options plan.NearestToOptions) Verb {
	exec.UseNearestTo()
	return Verb{name: "NearestTo", bind: func(b *binder, inputs []plan.Node) plan.Node {
		keys, ok := b.terms(inputs[0], inputs[1], on)
		if !ok {
			return nil
		}
		if len(keys.Keys) != 1 || !keys.Where.IsZero() || keys.NullsEqual || keys.AnyOrder {
			b.report(fmt.Errorf("a search for the nearest rows has one vector of each side, and no other condition: %w", device.ErrInvalidValue))
			return nil
		}
		nearest := options
		nearest.On, nearest.Suffix = keys.Keys[0], keys.Suffix
		nearest.Distance, nearest.Rank = nearestNames(inputs[0].Schema(), inputs[1].Schema(), nearest)
		n, err := plan.NewNearestTo(inputs[0], inputs[1], nearest)
		if err != nil {
			b.report(plan.ReadableError(err))
			return nil
		}
		return n
	}}
}

// nearestNames returns the names of the columns of distances and ranks. The default ones have a number if a column of a side
// has one of them already.
func nearestNames(left, right *arrow.Schema, options plan.NearestToOptions) (distance, rank string) {
	isTaken := func(name string) bool { return left.HasField(name) || right.HasField(name) }
	number := ""
	for i := 2; options.Distance == "" && isTaken("distance"+number) || options.Rank == "" && isTaken("rank"+number); i++ {
		number = fmt.Sprint("_", i)
	}
	return cmp.Or(options.Distance, "distance"+number), cmp.Or(options.Rank, "rank"+number)
}

// terms returns the options of a join with some terms.
func (b *binder) terms(left, right plan.Node, terms JoinTerms) (options plan.JoinOptions, ok bool) {
	for _, err := range terms.Misuse {
		b.report(err)
		return options, false
	}
	leftKeys, ok := b.keys(left, terms.Left)
	rightKeys, fits := b.keys(right, terms.Right)
	if !b.proper(terms.Matching) || !ok || !fits {
		return options, false
	}
	options.NullsEqual, options.AnyOrder, options.Suffix = terms.NullsEqual, terms.AnyOrder, terms.Suffix
	for i := range leftKeys {
		options.Keys = append(options.Keys, plan.JoinKey{Left: plan.Unnamed(leftKeys[i]), Right: plan.Unnamed(rightKeys[i])})
	}
	for _, c := range terms.Matching {
		if c.Tree.ReadsRows() {
			b.report(fmt.Errorf("the condition %v has an aggregate: compute it with With first", plan.Readable(c.Tree.String())))
			return options, false
		}
		options.Where = both(options.Where, c.Tree)
	}
	return options, true
}
