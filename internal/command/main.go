package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	_ "github.com/gpuframe/gpuframe/compression/brotli" // Parquet files of it
	"github.com/gpuframe/gpuframe/internal/text/apiterms"
	_ "github.com/gpuframe/gpuframe/objectstore/https" // URLs of web servers
)

// Main runs the command line of the process, and ends it.
func Main() {
	ctx, stop := signals()
	defer stop()
	os.Exit(run(ctx, newRoot(), os.Stderr))
}

// signals returns a context that an interrupt ends. A second interrupt ends the process.
func signals() (ctx context.Context, stop func()) {
	// A write to a reader that has gone, such as head, is an error then, and does not end
	// the process before it has released its memory.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Statuses of the process, as shells have them.
const (
	failed      = 1
	interrupted = 130
)

// run runs a command line and returns the status of the process.
func run(ctx context.Context, root *cobra.Command, messages io.Writer) (status int) {
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(messages, "gpuframe: interrupted")
		return interrupted
	}
	fmt.Fprintln(messages, "gpuframe:", message(err))
	return failed
}

// message is the text of an error in the words of the command line, without the places of this
// program's calls.
func message(err error) string { return apiterms.Text(apiterms.CommandLine, plainMessage(err)) }

func plainMessage(err error) string {
	var problems *gpuframe.QueryError
	if errors.As(err, &problems) && err.Error() == problems.Error() { // alone, if joined with others
		lines := make([]string, len(problems.Problems))
		for i, p := range problems.Problems {
			lines[i] = p.Err.Error()
		}
		return strings.Join(lines, "\n\t")
	}
	return err.Error()
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "gpuframe",
		Short:         "Queries on files, and the device memory of this machine",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true, // run prints them
	}
	memory := &cobra.Command{
		Use:   "mem",
		Short: "Device memory",
		Args:  cobra.NoArgs, // so that an unknown command is an error
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	memory.AddCommand(newInfo(), newReplay(), newMemorySnapshot(), newMemoryDiff(), newMemoryLeaks())
	root.AddCommand(newInfo(), newSchema(), newHead(), newDescribe(), newQuery(), newSQL(), newFunctions(), newServe(), newTop(), newVersion(), memory)
	return root
}
