package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
)

func newSchema() *cobra.Command {
	var options fileCommand
	command := &cobra.Command{
		Use:   "schema FILE…",
		Short: "Print the columns of files",
		Example: `  gpuframe schema sales.parquet
  gpuframe schema 'sales/*.csv' --to json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, paths []string) error {
			return options.run(command, paths, schemaOf)
		},
	}
	options.addTo(command)
	return command
}

// column is a row of the output of schema.
type column struct {
	Column   string `gpuframe:"column"`
	Type     string `gpuframe:"type"`
	Nullable bool   `gpuframe:"nullable"`
}

// schemaOf returns a row for each column of a query.
func schemaOf(ctx context.Context, q gpuframe.Query) (gpuframe.Query, error) {
	schema, err := q.Schema(ctx)
	if err != nil {
		return q, err
	}
	columns := make([]column, schema.NumFields())
	for i, f := range schema.Fields() {
		columns[i] = column{f.Name, f.Type.String(), f.Nullable}
	}
	return gpuframe.From(q.Engine(), columns), nil
}

func newHead() *cobra.Command {
	var options fileCommand
	var n int64
	command := &cobra.Command{
		Use:   "head FILE…",
		Short: "Print the first rows of files",
		Example: `  gpuframe head sales.parquet
  gpuframe head -n 1000 sales.csv --to parquet -o some.parquet`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, paths []string) error {
			if n < 0 {
				return fmt.Errorf("--number is %d, expected 0 or more", n)
			}
			if !command.Flags().Changed("rows") {
				options.rows = int(max(1, min(n, 10_000)))
			}
			return options.run(command, paths, func(_ context.Context, q gpuframe.Query) (gpuframe.Query, error) { return q.Head(n), nil })
		},
	}
	options.addTo(command)
	command.Flags().Int64VarP(&n, "number", "n", 10, "the number of rows")
	return command
}

func newDescribe() *cobra.Command {
	var options fileCommand
	command := &cobra.Command{
		Use:     "describe FILE…",
		Short:   "Print statistics of each column: counts, mean, quartiles",
		Example: "  gpuframe describe sales.parquet\n  gpuframe describe sales.parquet --histogram",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, paths []string) error {
			return options.withRows(command, paths, func(ctx context.Context, q gpuframe.Query) error {
				return options.describe(ctx, command, q)
			})
		},
	}
	options.addTo(command)
	command.Flags().BoolVar(&options.histogram, "histogram", false, "also draw the number of rows in about 20 ranges of each column of numbers, which runs the query twice more")
	return command
}

func (c *fileCommand) describe(ctx context.Context, command *cobra.Command, q gpuframe.Query) error {
	if c.explain != "" {
		return c.printPlan(ctx, command.OutOrStdout(), q)
	}
	return c.watched(command, func(options ...gpuframe.RunOption) (err error) {
		summary, err := q.Describe(ctx, options...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, summary.Release()) }()
		if err := c.write(ctx, command.OutOrStdout(), summary.Query()); err != nil || !c.histogram {
			return err
		}
		return printHistograms(ctx, command.OutOrStdout(), q)
	})
}

// printHistograms draws a line for each column of numbers.
func printHistograms(ctx context.Context, w io.Writer, q gpuframe.Query) error {
	const ranges = 20
	list, err := q.Histograms(ctx, ranges)
	if err != nil {
		return err
	}
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, h := range list {
		if len(h.Rows) > 0 {
			end := h.Begin + h.Step*float64(len(h.Rows))
			fmt.Fprintf(lines, "%s\t%v\tto %v\tby %v\t%v\n", plain(h.Column), short(h.Begin), short(end), short(h.Step), h)
		}
	}
	return lines.Flush()
}

// short formats a number of a histogram with at most six digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
