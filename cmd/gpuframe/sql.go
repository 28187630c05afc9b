package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/cmd/gpuframe/internal/pipeline"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

func newSQL() *cobra.Command {
	var options fileCommand
	var tables []string
	command := &cobra.Command{
		Use:   "sql STATEMENT…",
		Short: "Run SQL statements on files",
		Long: `SQL runs statements in the dialect of DuckDB and PostgreSQL, and writes their rows as a
table or a file. Statements read files by their paths in quotes, or tables that --table
names. Several statements share views and tables. The statement - is standard input.

The documentation of the project lists what is supported in docs/sql.md.`,
		Example: `  gpuframe sql "select origin, count(*) as n from 'flights.parquet' where delay > 15 group by all order by n desc limit 10"
  gpuframe sql --table f=flights.parquet --table a=airports.csv 'select city, avg(delay) from f join a on origin = code group by city'
  gpuframe sql "copy (select * from 'logs/*.csv' where level = 'error') to 'errors.parquet'"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, texts []string) error {
			return options.runSQL(command, tables, texts)
		},
	}
	options.addTo(command)
	command.Flags().StringArrayVarP(&tables, "table", "t", nil, "a name for files: 'flights=2026/*.parquet'; may be given several times")
	return command
}

// runSQL runs statements one after another in a session.
func (c *fileCommand) runSQL(command *cobra.Command, tables, texts []string) (err error) {
	if _, _, err := c.output.format(command.OutOrStdout()); err != nil {
		return err
	}
	engine, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	session := sql.New(engine)
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, t := range tables {
		if err := c.register(command.Context(), engine, session, t); err != nil {
			return err
		}
	}
	for _, text := range texts {
		if text == "-" {
			data, err := io.ReadAll(command.InOrStdin())
			if err != nil {
				return err
			}
			text = string(data)
		}
		if err := c.statement(command, session, text); err != nil {
			return err
		}
	}
	return nil
}

// register gives files the name of a flag NAME=FILES.
func (c *fileCommand) register(ctx context.Context, engine *gpuframe.Engine, session *sql.Session, flag string) error {
	name, path, ok := strings.Cut(flag, "=")
	if !ok || name == "" || path == "" {
		return fmt.Errorf("--table %q: expected NAME=FILES", flag)
	}
	source, err := c.source([]string{path})
	if err != nil {
		return err
	}
	q, err := pipeline.Read(ctx, engine, source)
	if err != nil {
		return err
	}
	session.Register(name, q)
	return nil
}

// statement runs a statement, and writes its rows if it yields some.
func (c *fileCommand) statement(command *cobra.Command, session *sql.Session, text string) error {
	statements, err := parse.Statements(text)
	if err != nil {
		return err
	}
	if len(statements) == 1 {
		switch statements[0].(type) {
		case *tree.Create, *tree.Drop, *tree.Copy:
			_, err := session.Exec(command.Context(), text)
			return err
		}
	}
	q, err := session.Query(command.Context(), text)
	if err != nil {
		return err
	}
	if c.explain {
		return c.printPlan(command.Context(), command.OutOrStdout(), q)
	}
	return c.watched(command, func(options ...gpuframe.RunOption) error {
		return c.write(command.Context(), command.OutOrStdout(), q, options...)
	})
}
