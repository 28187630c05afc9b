package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

func newSQL() *cobra.Command {
	var options fileCommand
	var tables []string
	command := &cobra.Command{
		Use:   "sql [STATEMENT…]",
		Short: "Run SQL statements on files",
		Long: `SQL runs statements in the dialect of DuckDB and PostgreSQL, and writes their rows as a
table or a file. Statements read files by their paths in quotes, or tables that --table
names. Several statements share views and tables. The statement - is standard input.

Without a statement it reads them from standard input. On a terminal that is a shell: it
completes keywords, tables and columns by the tab key, keeps a history, and .help lists its
commands. Ctrl-C ends the statement that runs.

The documentation of the project lists what is supported in docs/sql.md.`,
		Example: `  gpuframe sql "select origin, count(*) as n from 'flights.parquet' where delay > 15 group by all order by n desc limit 10"
  gpuframe sql --table f=flights.parquet --table a=airports.csv 'select city, avg(delay) from f join a on origin = code group by city'
  gpuframe sql "copy (select * from 'logs/*.csv' where level = 'error') to 'errors.parquet'"
  gpuframe sql < report.sql
  gpuframe sql`,
		RunE: func(command *cobra.Command, texts []string) error {
			return options.runSQL(command, tables, texts)
		},
	}
	options.addTo(command)
	command.Flags().StringArrayVarP(&tables, "table", "t", nil, "a name for files: 'flights=2026/*.parquet'; may be given several times")
	return command
}

// runSQL runs statements in their order in a session.
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
	if len(texts) == 0 {
		in, isFile := command.InOrStdin().(*os.File)
		if isFile && isTerminal(in) && isTerminal(command.OutOrStdout()) {
			return newShell(c, command, session, in).run(command.Context())
		}
		texts = []string{standardInput}
	}
	for _, text := range texts {
		if text == standardInput {
			data, err := io.ReadAll(command.InOrStdin())
			if err != nil {
				return fmt.Errorf("standard input: %w", err)
			}
			text = string(data)
		}
		if err := c.statements(command, session, text); err != nil {
			return err
		}
	}
	return nil
}

// statements runs the statements of a text in their order.
func (c *fileCommand) statements(command *cobra.Command, session *sql.Session, text string) error {
	list, rest, err := parse.Split(text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(rest) != "" {
		list = append(list, rest)
	}
	for _, statement := range list {
		if err := c.statement(command.Context(), command, session, statement); err != nil {
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
func (c *fileCommand) statement(ctx context.Context, command *cobra.Command, session *sql.Session, text string) error {
	hasRows, err := sql.HasRows(text)
	if err != nil {
		return err
	}
	if !hasRows {
		_, err := session.Exec(ctx, text)
		return err
	}
	q, err := session.Query(ctx, text)
	if err != nil {
		return err
	}
	if c.explain != "" {
		return c.printPlan(ctx, command.OutOrStdout(), q)
	}
	return c.watched(command, func(options ...gpuframe.RunOption) error {
		return c.write(ctx, command.OutOrStdout(), q, options...)
	})
}
