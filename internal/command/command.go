package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/objectstore"
)

// fileCommand has the flags of commands that read files and write rows.
type fileCommand struct {
	input
	output
	device, budget, trace string
	cache, cacheSize      string
	profile               bool
	histogram             bool
	explain               string
}

// addTo adds the flags, and their completion, to a command with files as arguments.
func (c *fileCommand) addTo(command *cobra.Command) {
	c.input.addTo(command)
	c.output.addTo(command)
	flags := command.Flags()
	flags.StringVar(&c.device, "device", "", "the device; by default the first GPU, or the host if there is none")
	flags.StringVar(&c.budget, "budget", "", "the most device memory to use at a time, 8GiB for example")
	flags.StringVar(&c.cache, "object-cache", "", "a folder that keeps what is read of object stores, also for later commands; by default $"+objectstore.CacheVariable)
	flags.StringVar(&c.cacheSize, "object-cache-size", "", "the most bytes in that folder, 10GiB by default")
	flags.StringVar(&c.explain, "explain", "", "print the plan and run nothing: as text, or with =mermaid as a flowchart, with =svg as a picture")
	flags.Lookup("explain").NoOptDefVal = "text"
	flags.BoolVar(&c.profile, "profile", false, "print on standard error what each operation did")
	flags.StringVar(&c.trace, "trace", "", "write the run as a trace for ui.perfetto.dev to a file")
	completeFlags(command)
}

// open opens the engine of the flags.
func (c *fileCommand) open() (*gpuframe.Engine, error) {
	var options []gpuframe.Option
	if c.device != "" {
		options = append(options, gpuframe.Device(c.device))
	}
	if c.budget != "" {
		bytes, err := parseSize(c.budget)
		if err != nil {
			return nil, fmt.Errorf("--budget: %w", err)
		}
		options = append(options, gpuframe.Budget(bytes))
	}
	if err := c.setCache(); err != nil {
		return nil, err
	}
	return gpuframe.Open(options...)
}

// setCache sets the cache of object stores of the flags.
func (c *fileCommand) setCache() error {
	if c.cache == "" {
		if c.cacheSize != "" {
			return errors.New("--object-cache-size is given without --object-cache")
		}
		return nil
	}
	var bytes uint64
	if c.cacheSize != "" {
		var err error
		if bytes, err = parseSize(c.cacheSize); err != nil {
			return fmt.Errorf("--object-cache-size: %w", err)
		}
	}
	cache, err := objectstore.NewCache(c.cache, bytes)
	if err != nil {
		return fmt.Errorf("--object-cache: %w", err)
	}
	objectstore.SetCache(cache)
	return nil
}

// run reads the files, applies the verbs, and writes the result.
func (c *fileCommand) run(command *cobra.Command, paths []string, apply func(context.Context, gpuframe.Query) (gpuframe.Query, error)) error {
	return c.withRows(command, paths, func(ctx context.Context, q gpuframe.Query) error {
		q, err := apply(ctx, q)
		if err != nil {
			return err
		}
		if c.explain != "" {
			return c.printPlan(ctx, command.OutOrStdout(), q)
		}
		return c.watched(command, func(options ...gpuframe.RunOption) error {
			return c.write(ctx, command.OutOrStdout(), q, options...)
		})
	})
}

// withRows calls a function with the rows of the files. Nothing is in use on the device
// when it returns, also after a failure: the engine would report it.
func (c *fileCommand) withRows(command *cobra.Command, paths []string, f func(context.Context, gpuframe.Query) error) (err error) {
	if _, _, err := c.output.format(command.OutOrStdout()); err != nil {
		return err
	}
	engine, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	paths, remove, err := c.spooled(command.InOrStdin(), paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	source, err := c.source(paths)
	if err != nil {
		return err
	}
	q, err := pipeline.Read(command.Context(), engine, source)
	if err != nil {
		return err
	}
	return f(command.Context(), q)
}

func (c *fileCommand) printPlan(ctx context.Context, w io.Writer, q gpuframe.Query) error {
	formats := map[string]func(context.Context) (string, error){"text": q.Explain, "mermaid": q.Diagram, "svg": q.DiagramSVG}
	format, ok := formats[c.explain]
	if !ok {
		return fmt.Errorf("--explain=%s: expected text, mermaid or svg", c.explain)
	}
	text, err := format(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// watched runs a query with options that show its progress and record a profile.
func (c *fileCommand) watched(command *cobra.Command, f func(...gpuframe.RunOption) error) error {
	out, messages := command.OutOrStdout(), command.ErrOrStderr()
	var options []gpuframe.RunOption
	shown := newProgress(messages, "reading", "rows")
	// Rows on the same terminal would mix with the line.
	if _, isFile, _ := c.output.format(out); isTerminal(messages) && !(isFile && c.path == "" && isTerminal(out)) {
		options = append(options, gpuframe.Progress(shown.report))
	}
	var profile gpuframe.Profile
	if c.profile || c.trace != "" {
		options = append(options, gpuframe.Profiled(&profile))
	}
	err := f(options...)
	shown.end()
	if err != nil {
		return err
	}
	if c.profile {
		fmt.Fprintln(messages, profile.String())
	}
	if c.trace == "" {
		return nil
	}
	file, err := os.Create(c.trace)
	if err != nil {
		return err
	}
	return errors.Join(profile.WriteTrace(file), file.Close())
}
