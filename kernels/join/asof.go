package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// AsOf joins each left row with at most one right row: the one with the nearest key in a
// direction. on is the pair of keys, numbers or temporal values. The result has the left
// rows in order. The columns are those of [Tables] with By as keys.
//
// Null and NaN match nothing. Of right rows with equal keys, Backward finds the last one
// and Forward the first.
//
// # Waiting
//
// On a GPU AsOf waits for the ranges of integer keys if all keys and the number of a row do
// not fit 64 bits, and with MatchedOnly for the number of rows. If the keys do not fit 64
// bits, as texts that are not in By, it waits as order.Indices and order.Search do, and for the
// number of right rows with a key if there may be nulls or NaN.
//
// # Ownership
//
// The caller releases the result.
//
// # Errors
//
// The errors are those of [Tables].
//
// # Estimates
//
// Estimates are upper bounds. Right columns of strings, keys of strings that are computed, and
// dictionaries with another type on the other side have none.
func AsOf(ctx context.Context, left, right *buffer.Buffer, on On, options AsOfOptions) (*buffer.Buffer, error) {
	table, err := joinAsOf(ctx, left, right, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: as of: %w", err)
	}
	return table, nil
}

// AsOfSchema returns the schema of the result of [AsOf] for tables of two schemas.
func AsOfSchema(left, right *arrow.Schema, on On, options AsOfOptions) (*arrow.Schema, error) {
	o, err := options.options()
	if err == nil {
		for i, pair := range append(options.By[:len(options.By):len(options.By)], on) {
			if typeErr := pair.checkTypes(left, right); typeErr != nil {
				return nil, fmt.Errorf("join: as of: schema: %w", &KeyError{i, pair, typeErr})
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("join: as of: schema: %w", err)
	}
	r, err := planResult(left, right, options.By, &o)
	if err != nil {
		return nil, fmt.Errorf("join: as of: schema: %w", err)
	}
	return r.schema(left, right, o.Kind), nil
}

func joinAsOf(ctx context.Context, left, right *buffer.Buffer, on On, options AsOfOptions) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, estimateAsOf(ctx, left, right, on, options)
	}
	o, err := options.options()
	if err != nil {
		return nil, err
	}
	s := newSides(o)
	table, err := func() (*buffer.Buffer, error) {
		keys := append(options.By[:len(options.By):len(options.By)], on)
		if err := s.open(ctx, left, right, keys, options.By); err != nil {
			return nil, err
		}
		a := asOfMatcher{call: s.call, left: s.leftKeys, right: s.rightKeys, options: &options}
		m, err := a.match()
		if err != nil {
			var wrong *distanceError
			if errors.As(err, &wrong) {
				err = &KeyError{len(options.By), on, err}
			}
			return nil, err
		}
		out := output{sides: s, roles: s.roles(false)}
		j, err := out.joined(m)
		if err = errors.Join(err, m.Release()); err != nil {
			return nil, errors.Join(err, j.Release())
		}
		gathered, err := out.table(j)
		return release.OnError(gathered, err, j.Release())
	}()
	return release.OnError(table, err, s.Release())
}

// match finds the matches. The caller releases them.
func (a *asOfMatcher) match() (*matches, error) {
	m, err := func() (*matches, error) {
		f, err := a.measure()
		if err != nil {
			return nil, err
		}
		return chooseNearest(f).run(a)
	}()
	return release.OnError(m, err, a.held.Release())
}

// measure finds the facts that the choice depends on. A GPU may wait for the ranges of keys.
func (a *asOfMatcher) measure() (f *asOfFacts, err error) {
	if a.distances, err = a.options.distancesOf(a.left[len(a.left)-1].Type()); err != nil {
		return nil, err
	}
	f = &asOfFacts{tuning: tuningOf(a.Context()), onHost: a.OnHost(), left: a.left[0].Len(), right: a.right[0].Len()}
	if !f.mayHaveWords() {
		return f, nil
	}
	a.plan, err = a.planMerge()
	f.words = a.plan != nil
	return f, err
}
