// Package apiterms rewrites messages for Python programs and command lines. The messages of the
// packages below name methods and options of the Go API; these interfaces have other names.
package apiterms

import (
	"regexp"
	"strings"
)

// Interface is an interface to the library other than the Go API.
type Interface int

// Interfaces.
const (
	Python Interface = iota
	CommandLine
)

// term is a phrase of messages that names parts of the Go API, with its replacement for each
// interface. Empty means that no message with the phrase reaches the interface.
type term struct{ phrase, python, command string }

// terms are replaced in this order: a phrase that contains another comes before it.
var terms = []term{
	{"give one of them another name with As or Rename", "give one of them another name with alias() or rename()", `give one of them another name with "as" or "rename"`},
	{"give one of them another name with As", "give one of them another name with alias()", `give one of them another name with "as"`},
	{"compute the inner one with With first, or add Over to it", "compute the inner one with with_columns() first, or add over() to it", `compute the inner one with the verb "with" first, or add "over ()" to it`},
	{"compute it with With first", "compute it with with_columns() first", `compute it with the verb "with" first`},
	{"use First, Min or List of it, or group by it", "use first(), min() or implode() of it, or group by it", "use first(), min() or list() of it, or group by it"},
	{"Where, SkipNulls and Over apply to aggregates", "over() applies to aggregates", `"where", "skip nulls" and "over" apply to aggregates`},
	{"call SkipNulls before Over", "give ignore_nulls before over()", `write "skip nulls" before "over"`},
	{"leave it out with Select or Drop", "leave it out with select() or drop()", `leave it out with "select" or "drop"`},
	{"the option Weight is of SampleRows, and of Sample with By, without Replace", "weight= is of n=, and of fraction= with by=, without with_replacement=True", `"weight" is of a number of rows, and of a fraction with "by", without "replace"`},
	{"OrderBy applies to aggregates", "order_by() applies to aggregates", `"order by" applies to aggregates`},
	{"Query.Sort orders rows", "sort() orders rows", `the verb "sort" orders rows`},
	{"leave out OrderBy", "leave out order_by", `leave out "order by"`},
	{"leave out SkipNulls", "leave out ignore_nulls", `leave out "skip nulls"`},
	{"use If in the expression instead of Where", "use when() in the expression instead of filter()", `use if() in the expression instead of "where"`},
	{"use Tail for the last rows", "use tail() for the last rows", `use "tail" for the last rows`},
	{"expected 0 to 1, or more with Replace", "expected 0 to 1, or more with with_replacement=True", `expected 0 to 1, or more with "replace"`},
	{"the options By and Replace are set", "by= and with_replacement= are both given", `"by" and "replace" are both given`},
	{"leave out WeeksFrom", "leave out week_start", `leave out "from"`},
	{"the same in all time zones, leave out In", "the same in all time zones, leave out time_zone", `the same in all time zones, leave out "in"`},
	{"such as an hour, take a time.Duration", "such as an hour, take a timedelta", "such as an hour, have the unit hour, minute or second"},
	{"BatchRows is", "batch_rows is", ""},
	{"call Cache again", "call cache() again", ""},
	{"read it in parts with Batches, or raise the budget", "read it in parts with collect_batches(), or set a larger budget", "write it with --to csv, parquet, json or ipc, or raise --budget"},
	{"give the type in CSVOptions.Types, or infer it from more rows with InferRows", "give the type in schema_overrides=, or infer it from more rows with infer_schema_length=", "give the type with --types, or infer it from more rows with --infer-rows"},
	{"give the type in JSONOptions.Schema, or infer it from more rows with JSONOptions.InferRows", "give the type in schema=, or infer it from more rows with infer_schema_length=", "infer it from more rows with --infer-rows"},
	{"infer them from more rows with JSONOptions.InferRows, or give JSONOptions.Schema", "infer them from more rows with infer_schema_length=, or give schema=", "infer them from more rows with --infer-rows"},
	{"keep the rows of that query with Cache", "keep the rows of that query with cache()", "write the rows of that query to a file, and read the file"},
	{"take LocalTime of it, or InstantIn of the other one", "take dt.local_time() of it, or dt.instant_in() of the other one", "take local_time() of it, or instant_in() of the other one"},
	{"take LocalTime for the parts in a time zone", "take dt.local_time() for the parts in a time zone", "take local_time() for the parts in a time zone"},
	{"of bools, take And or Or", "of bools, take & or |", `of bools, take "and" or "or"`},
	{"use FormatFloat", "use format_float()", "use format_float()"},
	{"use FormatTime", "use dt.strftime()", "use format_time()"},
	{"use FormatDuration", "use dt.format_duration()", "use format_duration()"},
	{"nil has no type here, use LitOf(type, nil), or IsNull to find nulls", "None has no type here, use lit(None, dtype), or is_null() to find nulls", `null has no type here, use cast(null, type), or "is null" to find nulls`},
	{"compute a part of it with another step", "compute a part of it with with_columns() first", `compute a part of it with the verb "with" first`},
	{"the option Tolerance is", "tolerance is", `"within" is`},
	{"for temporal keys, a time.Duration", "for temporal keys, a timedelta", "for temporal keys, a number with day, hour, minute or second"},
	{"which Nearest and Tolerance need", `which strategy="nearest" and tolerance need`, `which "nearest" and "within" need`},
	{"a signed integer, a time.Duration for a temporal key, or nil", "a signed integer, a timedelta for a temporal key, or None", "a number, one with day, hour, minute or second for a temporal key, or start or end"},
	{"a number or nil", "a number or None", "a number, or start or end"},
	{"leave out Rows and Range", "leave out rows and range", `leave out "rows" and "range"`},
	{"leave out AtLeast", "leave out min_samples", `leave out "at least"`},
	{"raise MostFiles", "raise most_files", "raise --most-files"},
	{"open the engine with a larger Budget", "set a larger budget", "raise --budget"},
	{"release some, raise Options.Budget, or call Manager.SetBudget", "release some, or set a larger budget with set_budget()", "raise --budget"},
	{"with Manager.SetBudget", "with set_budget()", "with --budget"},
	{"within Options.HostBudget", "within the host memory for spilling", "within the host memory for spilling"},
	{"; close tables or raise ServerOptions.References", "; release tables", ""},
	{"; disconnect some or raise ServerOptions.Clients", "; close some", ""},
	{"ServerOptions.Mode is", "mode is", ""},
	{"or use ImportMatrix for columns that each lie contiguously", "or hand over one column at a time", ""},
	{"use Import for other tensors", "hand over one column at a time", ""},
	{"use Import, which makes lists of the rows", "hand over one column at a time", ""},
	{`import _ "github.com/gpuframe/gpuframe/lake/delta", or use the programs of github.com/gpuframe/gpuframe/distribution`, smallPackage, smallCommand},
	{`import _ "github.com/gpuframe/gpuframe/lake/iceberg", or use the programs of github.com/gpuframe/gpuframe/distribution`, smallPackage, smallCommand},
	{`import _ "github.com/gpuframe/gpuframe/objectstore/s3"`, smallPackage, smallCommand},
	{`import _ "github.com/gpuframe/gpuframe/objectstore/gcs"`, smallPackage, smallCommand},
	{`import _ "github.com/gpuframe/gpuframe/objectstore/azure"`, smallPackage, smallCommand},
	{"no imported package reads the format", "the package does not read the format", "the command does not read the format"},
	{"option Options.Version", "option version", "option --table-version"},
	{"option Options.Snapshot", "option snapshot_id", "option --snapshot"},
	{"option Options.Timestamp", "option timestamp", "option --as-of-time"},
	{"option Options.Ref", "option ref", "option --ref"},
	{"option Options.Moved", "option moved", "option --moved"},
	{"time.Duration", "timedelta", "duration"},
}

// The remedies for formats and stores of modules that the small programs lack.
const (
	smallPackage = `this is the small package, install that of "make wheel"`
	smallCommand = `this is the small command, use that of "make command"`
)

var replacers = [...]*strings.Replacer{Python: newReplacer(Python), CommandLine: newReplacer(CommandLine)}

// in returns the term in an interface.
func (t term) in(i Interface) string {
	if i == CommandLine {
		return t.command
	}
	return t.python
}

func newReplacer(i Interface) *strings.Replacer {
	var pairs []string
	for _, t := range terms {
		if t.in(i) != "" {
			pairs = append(pairs, t.phrase, t.in(i))
		}
	}
	return strings.NewReplacer(pairs...)
}

// packages are the names of Go packages with which messages begin.
var packages = regexp.MustCompile(`(^|: )(?:(?:arrowdev|buffer|column|device|dlpack|exec|expr|gpuframe|group|join|kernels|memory|nested|order|plan|querydata|reduce|selection|share|sink|source|spill|tableformat|text|timezone|window): )+`)

// goType is the type of a literal in Go.
var goType = regexp.MustCompile(` of Go's \S+ does not fit `)

// Text returns a message in the words of an interface.
func Text(i Interface, message string) string {
	message = packages.ReplaceAllString(message, "$1")
	return goType.ReplaceAllString(replacers[i].Replace(message), " does not fit ")
}
