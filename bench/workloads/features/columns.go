// Package features has the questions of columns for models, of statistics and of vectors.
package features

import (
	"embed"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// Set is the questions of features and vectors.
var Set = question.Set{
	Name: "features", Title: "columns for models, statistics, vectors, sketches", Source: source, Tables: tables,
	Questions: slices.Concat(encodings, statistics, vectorQuestions),
}

//go:embed *.go
var source embed.FS

// Columns of the tables.
var (
	age       = gpuframe.Of[int64]("age")
	income    = gpuframe.Of[float64]("income")
	visits    = gpuframe.Of[int64]("visits")
	score     = gpuframe.Of[float64]("score")
	label     = gpuframe.Of[int64]("label")
	id        = gpuframe.Col("id")
	job       = gpuframe.Col("job")
	city      = gpuframe.Col("city")
	x         = gpuframe.Col("x")
	y         = gpuframe.Col("y")
	z         = gpuframe.Col("z")
	embedding = gpuframe.Col("embedding")
	topic     = gpuframe.Col("topic")
)

// integer is the type of numbers of bars and of labels.
var integer = arrow.PrimitiveTypes.Int64
