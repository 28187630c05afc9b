package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
)

// queryVerbs are the flags of query that are verbs, in the order in which they apply.
type queryVerbs struct {
	pipeline                              string
	filters                               []string
	with, group, agg, selected, sort, top string
}

func newQuery() *cobra.Command {
	var options fileCommand
	var verbs queryVerbs
	var document bool
	var table string
	command := &cobra.Command{
		Use:   "query FILE…",
		Short: "Run a query on files",
		Long: `Query reads Parquet, CSV, JSON lines or Arrow IPC files, patterns and folders, and
writes the result as a table or a file. The file - is standard input, of the format of
--from, which is copied to the folder for temporary files first.

The query is a pipeline of verbs with | between them, or the flags --filter, --with,
--group and --agg, --select, --sort and --top, which apply in this order.

  filter delay > 15, origin in ("ATL", "ORD")   the rows that meet all conditions
  select origin, delay / 60 as hours            some columns
  with delay / 60 as hours                      further columns
  require delay > -60 message 'too early'       all rows, or an error if one does not meet it
  group origin agg count() as n, mean(delay)    a row for each group
  agg count() as n, max(delay)                  one row
  sort n desc nulls first, origin
  top 10 by n desc
  head 10, tail 10, slice 100 10
  drop a, b; rename a as b; distinct a; drop_nulls a; fill_null 0 in a
  explode list drop empty; unpivot jan, feb keep origin; row_number n
  sample 0.1 seed 7, sample 100 by origin, shuffle seed 7, random r seed 7
  group origin pivot carrier in ('AA', 'DL') agg mean(delay)
  cross_tab origin by carrier in ('AA', 'DL')
  resample departure every 15 minute by origin agg count() as n
  resample departure every 1 month in 'Europe/Oslo' agg mean(delay)
  join left 'airports.csv' on origin = code suffix '_airport'
  join semi ('airports.csv' | filter elevation > 1000) using code
  as_of 'weather.parquet' on departure = time by origin within 1 hour
  nearest_to 10 'documents.parquet' on embedding cosine
  union 'flights-2026.parquet'; except 'cancelled.parquet'; intersect all 'flown.parquet'

Conditions: = != < <= > >=, between 1 and 9, in (1, 2), in ('a', null), like '%jet%',
is null, is not null; and, or, not. Values: 7, 1.5, 'text', true, false, null,
date '2026-01-31', timestamp '2026-01-31 12:30:00', 15 minute.

A name with other characters than letters, digits and _ is in backticks, a text in single
or double quotes. Aggregates take "where (condition)" and "over (keys)" behind them, and
windows an order and a frame: "over (origin order by date rows -6 to 0)", or
"range -7 day to 0 day", "range -1 month in 'Europe/Oslo' to 0". "first(delay order by date desc)" reads the rows in an order.
Behind first, last, nth, lag, lead and list, "skip nulls" leaves out rows without a value.

Verbs have other names too: ` + verbAliases() + `.

Files that the pipeline names have the format of their extension, or that of --from. The
other flags for FILE… apply to them too.

Functions, which gpuframe functions NAME describes:
` + functionList() + `
Types of cast(x, type), which decimal(10, 2) and timestamp[ms, Europe/Oslo] are too:
` + wrapped(strings.Join(pipeline.Types(), ", ")),
		Example: `  gpuframe query flights.parquet -p 'filter delay > 15 | group origin agg count() as n | top 10 by n desc'
  gpuframe query flights.parquet --filter 'delay > 15' --group origin --agg 'count() as n' --top '10 by n desc'
  gpuframe query 'logs/*.csv' -p 'filter level = "error" | sort time' -o errors.parquet
  gpuframe query flights.parquet -p 'join "airports.csv" on origin = code | group city agg count()'
  gpuframe query --document --table flights -p 'filter delay > 15'
  zcat log.csv.gz | gpuframe query - --from csv --types 'id=string' --filter 'day >= date "2026-01-31"'`,
		Args: func(command *cobra.Command, paths []string) error {
			switch {
			case table == "":
				return cobra.MinimumNArgs(1)(command, paths)
			case !document:
				return errors.New("--table is for --document: give files instead")
			}
			return cobra.NoArgs(command, paths)
		},
		RunE: func(command *cobra.Command, paths []string) error {
			p, err := verbs.parse()
			if err != nil {
				return err
			}
			p.Files = options.further
			if document {
				return printDocument(command, &options.input, table, paths, p)
			}
			return options.run(command, paths, func(ctx context.Context, q gpuframe.Query) (gpuframe.Query, error) {
				return p.Apply(ctx, q)
			})
		},
	}
	options.addTo(command)
	flags := command.Flags()
	flags.StringVarP(&verbs.pipeline, "pipeline", "p", "", "the query as verbs with | between them")
	flags.StringArrayVar(&verbs.filters, "filter", nil, "keep rows that meet conditions; may be given several times")
	flags.StringVar(&verbs.with, "with", "", "add columns")
	flags.StringVar(&verbs.group, "group", "", "group by keys; needs --agg")
	flags.StringVar(&verbs.agg, "agg", "", "the values of each group, or of all rows")
	flags.StringVar(&verbs.selected, "select", "", "select columns")
	flags.StringVar(&verbs.sort, "sort", "", "sort by keys: 'delay desc, origin'")
	flags.StringVar(&verbs.top, "top", "", "keep the first rows in an order: '10 by delay desc'")
	flags.BoolVar(&document, "document", false, "print the query as a document for a server, and run nothing")
	flags.StringVar(&table, "table", "", "with --document: the name of a table of the server, instead of files")
	for _, flag := range []string{"filter", "with", "group", "agg", "select", "sort", "top"} {
		command.MarkFlagsMutuallyExclusive("pipeline", flag)
	}
	return command
}

// printDocument prints a query on files, or on a table of a server, as a document in JSON. No file is
// opened.
func printDocument(command *cobra.Command, in *input, table string, paths []string, p pipeline.Pipeline) error {
	if slices.Contains(paths, standardInput) {
		return errors.New("--document: - is standard input, expected files, which a document names")
	}
	source := map[string]any{"verb": "table", "name": table}
	if table == "" {
		var err error
		if source, err = in.source(paths); err != nil {
			return err
		}
	}
	text, err := p.Document(source)
	if err != nil {
		return err
	}
	_, err = io.WriteString(command.OutOrStdout(), text)
	return err
}

// parse reads the texts of all flags.
func (v *queryVerbs) parse() (all pipeline.Pipeline, err error) {
	if v.pipeline != "" {
		return pipeline.Parse("--pipeline", v.pipeline)
	}
	if v.group != "" && v.agg == "" {
		return all, errors.New("--group needs --agg with the values of each group, 'count() as n' for example")
	}
	add := func(flag, verb, text string) {
		if text == "" || err != nil {
			return
		}
		var next pipeline.Pipeline
		if next, err = pipeline.ParseVerb(flag, verb, text); err == nil {
			all = all.Then(next)
		}
	}
	for _, condition := range v.filters {
		add("--filter", "filter", condition)
	}
	add("--with", "with", v.with)
	if v.group != "" {
		add("--group agg --agg", "group", fmt.Sprintf("%s agg %s", v.group, v.agg))
	} else {
		add("--agg", "agg", v.agg)
	}
	add("--select", "select", v.selected)
	add("--sort", "sort", v.sort)
	add("--top", "top", v.top)
	return all, err
}
