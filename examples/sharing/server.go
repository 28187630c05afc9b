// Sharing keeps a table in the memory of a GPU and shares it with other processes: this
// program loads the flights and publishes them, and any number of Python processes
// train on the one copy. No table data is copied between them.
//
// In one terminal:
//
//	go run ./examples/sharing -socket /tmp/flights.sock
//
// In two others, with the Python package of this repository on the path:
//
//	python3 examples/sharing/train.py /tmp/flights.sock delay distance
//	python3 examples/sharing/train.py /tmp/flights.sock delay time
//
// Until it is interrupted, the server prints each client that connects or disconnects,
// including killed processes. With -run it starts the two Python processes itself, and
// ends with them:
//
//	go run ./examples/sharing -run python3
//
// Without a GPU everything works in shared memory of the host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// options are the options of the command line.
type options struct {
	device, socket, python, script string
}

func main() {
	var o options
	flag.StringVar(&o.device, "device", "", `device to use: "cuda:0", "host"; empty for the first GPU, or the host`)
	flag.StringVar(&o.socket, "socket", "", "path of the socket; empty for one in a new folder")
	flag.StringVar(&o.python, "run", "", "Python that is to train twice, at a time; empty to wait for others")
	flag.StringVar(&o.script, "script", "examples/sharing/train.py", "what the Python runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.socket == "" {
		folder, err := os.MkdirTemp("", "sharing")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		o.socket = filepath.Join(folder, "socket")
	}
	dev, err := device.Open(o.device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	server, err := share.Listen(o.socket, share.ServerOptions{}) // for this user only
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := publish(ctx, dev, server); err != nil {
		return err
	}
	fmt.Fprintf(out, "flights are on %s: %v\nconnect to %s\n", dev, server.Stats(), server.Path())
	if o.python == "" {
		return report(ctx, server, out)
	}
	return train(ctx, o, out)
}

// publish loads the flights and gives them to the server, which keeps a copy in memory
// that other processes can open.
func publish(ctx context.Context, dev *device.Device, server *share.Server) (err error) {
	path, err := flights.Find(flights.Small)
	if err != nil {
		return err
	}
	reader, err := flights.Open(path, arrowmemory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	table, err := buffer.FromReader(ctx, mgr, reader, buffer.LoadOptions{Tag: "flights"})
	if err != nil {
		return err
	}
	return errors.Join(server.Publish(ctx, "flights", table), table.Release())
}

// report prints the statistics when they change.
func report(ctx context.Context, server *share.Server, out io.Writer) error {
	last := ""
	for {
		stats, err := server.Wait(ctx, func(s share.Stats) bool { return s.String() != last })
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		last = stats.String()
		fmt.Fprintln(out, last)
	}
}

// train runs two copies of the script at the same time.
func train(ctx context.Context, o options, out io.Writer) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, feature := range []string{"distance", "time"} {
		command := exec.CommandContext(ctx, o.python, o.script, o.socket, "delay", feature)
		output := &lines{to: out, prefix: feature + ": "}
		command.Stdout, command.Stderr = output, output
		group.Go(command.Run)
	}
	return group.Wait()
}
