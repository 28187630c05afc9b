package source

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Exclusion counts the parts of files, or of host tables, that statistics leave out.
type Exclusion struct {
	// RowGroups and Files are the numbers of all of them.
	RowGroups, Files int
	// SkippedRowGroups and SkippedFiles are the numbers of those without a row of interest.
	SkippedRowGroups, SkippedFiles int
	// SkippedRows is the number of rows that page indices leave out of the Rows of the other row groups.
	SkippedRows, Rows int64
	// Values is set if dictionaries and Bloom filters, which are read when the query runs, may
	// leave out more row groups.
	Values bool
}

// Excluder is a source that can report what a reader leaves out, without reading rows.
type Excluder interface {
	Source
	// Excluded counts the parts that have no row that meets the conditions, as far as the
	// statistics of the files show it. It reads the footers of the files, which are cached, and page indices
	// of columns of conditions.
	Excluded(ctx context.Context, where []expr.Expr) (Exclusion, error)
}

// Excluded implements [Excluder].
func (s *parquetFiles) Excluded(ctx context.Context, where []expr.Expr) (Exclusion, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return Exclusion{}, err
	}
	groups, possible, err := s.possible(ctx, schema, where)
	if err != nil {
		return Exclusion{}, wrap(s, err)
	}
	if _, err := s.excludePages(ctx, schema, groups, where, nil, possible); err != nil {
		return Exclusion{}, wrap(s, err)
	}
	exclusion := Exclusion{RowGroups: len(groups), Files: len(s.files)}
	members := membersOf(where)
	read := map[*parquetFile]bool{}
	for i, group := range groups {
		if !possible[i] {
			exclusion.SkippedRowGroups++
			continue
		}
		read[group.file] = true
		exclusion.Rows += group.all()
		exclusion.SkippedRows += group.all() - group.rows
		exclusion.Values = exclusion.Values || s.hasValues(group, members)
	}
	exclusion.SkippedFiles = len(s.files) - len(read)
	return exclusion, nil
}

// hasValues reports whether a row group has a dictionary or a Bloom filter of the column of a
// condition.
func (s *parquetFiles) hasValues(group rowGroup, members []member) bool {
	g := groupValues{rowGroup: group}
	for _, m := range members {
		if s.isPartition(m.column) {
			continue
		}
		leaf, _, ok := g.leaf(m.column)
		if !ok {
			continue
		}
		chunk := group.footer.about(group.index, leaf)
		if group.footer.dictionaryOnly(group.index, leaf) || chunk.HasBloom {
			return true
		}
	}
	return false
}

// possible returns all row groups, and reports for each whether its statistics allow a row that
// meets the conditions.
func (s *parquetFiles) possible(ctx context.Context, schema *arrow.Schema, where []expr.Expr) ([]rowGroup, []bool, error) {
	files, err := s.candidates(ctx, schema, where)
	if err != nil {
		return nil, nil, err
	}
	footers, err := s.footersOf(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	var all []rowGroup
	for i, f := range footers {
		for index, group := range f.metadata.Groups {
			if group.Rows < 0 {
				return nil, nil, s.fail(files[i], index, fmt.Errorf("it has %d rows: %w", group.Rows, ErrContents))
			}
			all = append(all, rowGroup{file: files[i], footer: f, index: index, rows: group.Rows})
		}
	}
	possible, err := prune.Possible(ctx, schema, where, len(all), func(part int, column string) prune.Range {
		return s.statistics(all[part].file, all[part].footer, all[part].index, column)
	})
	return all, possible, err
}
