// Package series has the questions of time series.
package series

import (
	"embed"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// Set is the questions of time series.
var Set = question.Set{
	Name: "series", Title: "quotes and trades, sensors, events", Source: source, Tables: tables,
	Questions: slices.Concat(market, sensors, visits),
}

//go:embed *.go
var source embed.FS

// Columns of the tables.
var (
	ts     = gpuframe.Of[time.Time]("ts")
	price  = gpuframe.Of[float64]("price")
	size   = gpuframe.Of[int64]("size")
	bid    = gpuframe.Of[float64]("bid")
	ask    = gpuframe.Of[float64]("ask")
	value  = gpuframe.Of[float64]("value")
	kind   = gpuframe.Of[string]("kind")
	amount = gpuframe.Of[float64]("amount")
	n      = gpuframe.Of[int64]("n")
	user   = gpuframe.Col("user")
	since  = gpuframe.Col("since")
	until  = gpuframe.Col("until")
)

// Windows of the questions.
var (
	bySymbol = gpuframe.By("symbol").OrderBy("ts")
	bySensor = gpuframe.By("sensor").OrderBy("ts")
	byUser   = gpuframe.By("user").OrderBy("ts")
)

// Types of the questions.
var (
	date = arrow.FixedWidthTypes.Date32
	utc  = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
)
