// Package nested has the questions of nested data and of texts.
package nested

import (
	"embed"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// Set is the questions of nested data and of texts.
var Set = question.Set{
	Name: "nested", Title: "lists, structs, maps, JSON, texts", Source: source, Tables: tables,
	Questions: slices.Concat(lists, structs, texts),
}

//go:embed *.go
var source embed.FS

// Columns of the tables.
var (
	tags       = gpuframe.Col("tags")
	lines      = gpuframe.Col("lines")
	scores     = gpuframe.Col("scores")
	place      = gpuframe.Col("address")
	attributes = gpuframe.Col("attributes")
	payload    = gpuframe.Col("payload")
	note       = gpuframe.Col("note")
	id         = gpuframe.Col("id")
	tag        = gpuframe.Of[string]("tag")
	logged     = gpuframe.Of[string]("line")
	name       = gpuframe.Of[string]("name")
	email      = gpuframe.Of[string]("email")
	n          = gpuframe.Of[int64]("n")
	element    = gpuframe.Element()
)

// Types of the questions.
var (
	float     = arrow.PrimitiveTypes.Float64
	integer   = arrow.PrimitiveTypes.Int64
	timestamp = &arrow.TimestampType{Unit: arrow.Second}
)
