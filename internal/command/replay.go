package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/replay"
)

// replayOptions are the flags of mem replay.
type replayOptions struct {
	device, resource, stack string
	concurrent              bool
	speed                   float64
	runs                    int
}

func newReplay() *cobra.Command {
	var options replayOptions
	command := &cobra.Command{
		Use:   "replay FILE.csv",
		Short: "Run a logged trace against a stack of resources",
		Long: `Replay runs a trace, as RMM's logging adaptor or gpuframe's writes it
(Thread,Time,Action,Pointer,Size,Stream), against a resource and the adaptors on
it, and prints the time it took, what was in use and reserved, and what failed.

The requests are made in the order of the log, each by the goroutine that stands
for its thread. "-" reads the trace from standard input.

Adaptors of --stack, each around those before it: ` + listed(layers) + `.
limit, guard (its red zones), aligned take a size, logging a file, fault the
probability with which requests fail.`,
		Example: `  gpuframe mem replay trace.csv --resource pool
  gpuframe mem replay trace.csv --stack limit=8GiB,statistics,guard,logging=out.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.InOrStdin(), command.OutOrStdout(), command.ErrOrStderr(), args[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.device, "device", "", "the device; by default the first GPU, or the host where there is none")
	flags.StringVar(&options.resource, "resource", "caching", "where memory comes from: "+listed(resources))
	flags.StringVar(&options.stack, "stack", "", "adaptors on the resource, with commas between them")
	flags.BoolVar(&options.concurrent, "concurrent", false, "let the threads of the log go on side by side")
	flags.Float64Var(&options.speed, "speed", 0, "pace by the times in the log, 1 being as logged; 0 is as fast as it goes")
	flags.IntVar(&options.runs, "runs", 2, "how often to replay; the resource keeps what it has cached")
	return command
}

func (o *replayOptions) run(ctx context.Context, in io.Reader, out, messages io.Writer, name string) (err error) {
	if o.runs < 1 {
		return fmt.Errorf("--runs is %d, it must be at least 1", o.runs)
	}
	log, err := loadLog(name, in)
	if err != nil {
		return err
	}
	dev, err := device.Open(o.device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	stack, err := newStack(dev, o.resource, o.stack)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.close()) }()
	requests := log.Summary().Allocations + log.Summary().Frees
	shown, done := newProgress(messages, "replaying", "requests"), atomic.Int64{}
	defer shown.end()
	player, err := replay.NewPlayer(log, stack.top, replay.Options{
		Concurrent: o.concurrent, Speed: o.speed, Progress: func(n int) { shown.report(done.Add(int64(n)), int64(requests*o.runs)) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, player.Close()) }()
	report := report{log: log.Summary(), name: name, device: dev.Name(), resource: strings.Join(append([]string{o.resource}, parts(o.stack)...), " < ")}
	for range o.runs {
		result, err := player.Run(ctx)
		if err != nil {
			return err
		}
		report.runs = append(report.runs, result)
	}
	shown.end()
	return report.print(out)
}

func loadLog(name string, in io.Reader) (*replay.Log, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	log, err := replay.Load(trace.Read(bufio.NewReader(in)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return log, nil
}
