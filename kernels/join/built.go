package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// built is the build side of a join: a table of the rows, or the keys sorted if they do not fit
// 64 bits.
type built struct {
	table  *table
	sorted *sortedRows

	held release.Stack
}

// Release releases what the build side holds.
func (b *built) Release() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.table.Release(), b.held.Release())
}

// buildSide prepares the rows of the build side. The encoding is nil for keys that do not
// fit 64 bits. The caller releases the result.
func (r *run) buildSide(e *encoding, keys []*column.Column) (*built, error) {
	b := &built{}
	err := func() error {
		if e == nil {
			table, _, err := r.keyTable(&b.held, keys)
			if err != nil {
				return err
			}
			b.sorted, err = r.sorted(&b.held, table, orderKeys(len(keys)))
			return err
		}
		w, err := r.words(e, 1, keys)
		if err != nil {
			return err
		}
		b.table, err = r.build(w, r.options.Kind.leftOnly() && r.options.Where.IsZero())
		return err
	}()
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	return b, nil
}

// probeSide finds the matches of rows in the build side, which has to stay as long as
// they are used. The caller releases them.
func (r *run) probeSide(b *built, e *encoding, keys []*column.Column) (*matches, error) {
	if b.table == nil {
		return r.search(b.sorted, keys)
	}
	w, err := r.words(e, 0, keys)
	if err != nil {
		return nil, err
	}
	return r.probe(b.table, w)
}

// search finds the matches of rows in sorted keys: the rows that are equal are between
// two searches.
func (r *run) search(s *sortedRows, probe []*column.Column) (*matches, error) {
	var held release.Stack
	m, err := func() (*matches, error) {
		probed, keys, err := r.keyTable(&held, probe)
		if err != nil {
			return nil, err
		}
		low, err := r.places(&held, s.table, probed, keys, false)
		if err != nil {
			return nil, err
		}
		high, err := r.places(&held, s.table, probed, keys, true)
		if err != nil {
			return nil, err
		}
		valid, err := r.validKeys(&held, probed)
		if err != nil {
			return nil, err
		}
		return r.between(low, high, valid, s)
	}()
	return release.OnError(m, err, held.Release())
}
