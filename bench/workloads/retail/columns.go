// Package retail has the questions of a shop.
package retail

import (
	"embed"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// Set is the questions of a shop.
var Set = question.Set{
	Name: "retail", Title: "a star schema like that of TPC-DS", Source: source, Tables: tables,
	Questions: slices.Concat(reports, comparisons, customerQuestions),
}

//go:embed *.go
var source embed.FS

// Columns of the tables. Amounts are decimals, which have no type in Go.
var (
	date     = gpuframe.Of[time.Time]("day")
	year     = gpuframe.Of[int32]("year")
	week     = gpuframe.Of[int32]("week")
	weekday  = gpuframe.Of[string]("weekday")
	colour   = gpuframe.Of[string]("colour")
	city     = gpuframe.Of[string]("city")
	birth    = gpuframe.Of[int32]("birth")
	quantity = gpuframe.Of[int32]("quantity")
	n        = gpuframe.Of[int64]("n")
	buyer    = gpuframe.Col("customer")
	product  = gpuframe.Col("item")
	paid     = gpuframe.Col("paid")
	profit   = gpuframe.Col("profit")
	amount   = gpuframe.Col("amount")
	revenue  = gpuframe.Col("revenue")
)

// Of both sides of a self join, the columns of the right side have the suffix _right.
var revenueRight = gpuframe.Col("revenue_right")
