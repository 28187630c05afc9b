// Package question has the form of the questions of bench/workloads.
package question

import (
	"context"

	"github.com/gpuframe/gpuframe"
)

// Question is a question in Go and in DuckDB's SQL.
type Question struct {
	// Name is a short form of the question.
	Name string
	// SQL has one clause in a line.
	SQL string
	// Go is the question on some tables.
	Go func(t Tables) gpuframe.Query
	// Fit is set instead of Go if the program reads rows before: encodings that are learned.
	Fit func(ctx context.Context, t Tables) (gpuframe.Query, error)
	// Order are the columns that the rows are ordered by. Rows with equal values in them may be in any order.
	Order []string
	// Note names a difference between the two sides, if there is one.
	Note string
}

// Query returns the question on some tables.
func (q Question) Query(ctx context.Context, t Tables) (gpuframe.Query, error) {
	if q.Fit != nil {
		return q.Fit(ctx, t)
	}
	return q.Go(t), nil
}

// Tables are the tables of a set by their names.
type Tables map[string]gpuframe.Query

// Table is a table that is generated.
type Table struct {
	Name string
	// Make returns the rows of a table, of which the largest of the set has the number of rows.
	Make func(e *gpuframe.Engine, rows int) gpuframe.Query
	// Columns are the columns that DuckDB selects from a Parquet file of the table. Empty is all, as they are.
	Columns string
}

// Set is the questions of a workload.
type Set struct {
	// Name selects the set.
	Name string
	// Title describes it.
	Title     string
	Tables    []Table
	Questions []Question
	// Source is the Go files of the questions, by which lines are counted.
	Source Source
}
