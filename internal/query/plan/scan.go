package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Scan yields the rows of a source.
type Scan struct {
	cautious
	source source.Source
	// all is the schema of the source, schema that of the columns that are read.
	all, schema *arrow.Schema
	columns     []string
	where       []expr.Expr
	bounds      []ScanBounds
	limit       int64
	rows        int64
	exact       bool
	// numbered is set if a [Fetch] reads rows by their numbers.
	numbered bool
}

// NewScan makes a scan of all columns of a source with a schema. rows is the number of
// rows, negative if it is unknown; exact is set if it is not an estimate.
func NewScan(s source.Source, schema *arrow.Schema, rows int64, exact bool) (*Scan, error) {
	if err := checkNames(schema); err != nil {
		return nil, err
	}
	return &Scan{source: s, all: schema, schema: schema, columns: columnsOf(schema), rows: rows, exact: exact}, nil
}

// Schema implements [Node].
func (s *Scan) Schema() *arrow.Schema { return s.schema }

// Inputs returns nil: a scan has no inputs.
func (s *Scan) Inputs() []Node { return nil }

// WithInputs returns the scan.
func (s *Scan) WithInputs(...Node) (Node, error) { return s, nil }

// Source returns the source.
func (s *Scan) Source() source.Source { return s.source }

// Columns returns the names of the columns that are read.
func (s *Scan) Columns() []string { return s.columns }

// Where returns conditions that all rows of interest meet. The source may leave out other
// rows; the scan may yield them.
func (s *Scan) Where() []expr.Expr { return s.where }

// Bounds returns the columns of which only values within bounds are of interest.
func (s *Scan) Bounds() []ScanBounds { return s.bounds }

// Limit returns the number of rows after which the scan may end, or 0 for none.
func (s *Scan) Limit() int64 { return s.limit }

// Numbered reports whether a [Fetch] reads rows of the source by the numbers that they have in this scan.
func (s *Scan) Numbered() bool { return s.numbered }

// withNumbers returns a scan of rows that have numbers.
func (s *Scan) withNumbers() *Scan {
	numbered := *s
	numbered.numbered = true
	return &numbered
}

// WithColumns returns a scan of fewer columns, in the order of the source.
func (s *Scan) WithColumns(wanted map[string]bool) *Scan {
	narrowed := *s
	narrowed.columns = nil
	var fields []arrow.Field
	for _, f := range s.schema.Fields() {
		if wanted[f.Name] {
			fields, narrowed.columns = append(fields, f), append(narrowed.columns, f.Name)
		}
	}
	narrowed.schema = arrow.NewSchema(fields, nil)
	return &narrowed
}

// WithWhere returns a scan with further conditions on the rows of interest.
func (s *Scan) WithWhere(conditions ...expr.Expr) *Scan {
	restricted := *s
	restricted.where = append(append([]expr.Expr(nil), s.where...), conditions...)
	return &restricted
}

// WithLimit returns a scan that may end after a number of rows.
func (s *Scan) WithLimit(rows int64) *Scan {
	limited := *s
	limited.limit = rows
	return &limited
}

// String names the source and the parts of it that are read.
func (s *Scan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "scan %v", s.source)
	if n := s.all.NumFields(); len(s.columns) < n {
		fmt.Fprintf(&b, ", %d of %d columns", len(s.columns), n)
	}
	if len(s.where) > 0 {
		fmt.Fprintf(&b, ", may skip rows unless %s", joined(s.where, " and "))
	}
	for _, bounds := range s.bounds {
		fmt.Fprintf(&b, ", may skip rows unless %s is within the bounds of %s", Readable(bounds.Column), bounds.Of.Key)
	}
	if s.limit > 0 {
		fmt.Fprintf(&b, ", at most %d rows", s.limit)
	}
	return b.String()
}

// joined formats expressions for one line of a plan.
func joined(list []expr.Expr, separator string) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = described(e)
	}
	return strings.Join(texts, separator)
}

// described formats an expression with its name, if As gave it one.
func described(e expr.Expr) string {
	if e.Operation() != "as" {
		return Readable(e.String())
	}
	return fmt.Sprintf("%s = %s", Readable(e.Name()), Readable(e.Operands()[0].String()))
}

// holdsRows reports whether the source can be read once: then the rows are kept for all readers.
func (s *Scan) holdsRows() bool { return source.Once(s.source) }

func (s *Scan) estimate(*Analysis, Size) Size {
	if s.rows >= 0 && s.limit > 0 && s.limit < s.rows {
		return Size{Rows: s.limit, Exact: s.exact}
	}
	return Size{Rows: s.rows, Exact: s.exact}
}

func (s *Scan) pruned(_ []Node, wanted columnSet) (Node, error) {
	if len(wanted) == len(s.columns) {
		return s, nil
	}
	return s.WithColumns(wanted), nil
}

func (s *Scan) same(other Node) bool {
	o, ok := other.(*Scan)
	return ok && sameSource(s.source, o.source) && slices.Equal(s.columns, o.columns) && sameExpressions(s.where, o.where) && slices.Equal(s.bounds, o.bounds) && s.limit == o.limit && s.numbered == o.numbered
}

// rowNumbers are known by the batches, unless rows are left out.
func (s *Scan) rowNumbers() rowNumbers {
	if len(s.where) > 0 || len(s.bounds) > 0 || s.limit > 0 {
		return unknownNumbers
	}
	return knownNumbers
}

func (s *Scan) first(_ *limitPusher, rows int64) (Node, error) {
	if rows > 0 && (s.limit == 0 || rows < s.limit) && !(s.exact && s.rows <= rows) {
		return s.WithLimit(rows), nil
	}
	return nil, nil
}

// pushed also gives the conditions to the source, which may leave out rows.
func (s *Scan) pushed(_ *filterPusher, conditions []expr.Expr) (Node, error) {
	if len(conditions) == 0 {
		return s, nil
	}
	return filtered(s.WithWhere(conditions...), conditions)
}

func (s *Scan) sharesMemory() bool { return source.OnDevice(s.source) }

func (s *Scan) divided(d *distribution, _ []spread) (spread, error) {
	return spread{node: s, all: d.divides(s)}, nil
}
